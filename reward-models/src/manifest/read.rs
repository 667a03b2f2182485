//! Reads a manifest, and refuses what contradicts itself.

use std::borrow::Cow;
use std::path::Path;

use assay_verifiers::{Pattern, from_value};
use serde::Deserialize as _;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{
    FILE, Generate, Golden, Manifest, Mode, ModelKind, Role, Score, Split, Steps, TemplateFile,
    Transform,
};
use crate::error::ModelError;
use crate::files;

/// The key at fault, and what is wrong with it.
type Wrong = (Cow<'static, str>, String);

/// The longest text that any model may claim to take, in tokens.
const TOKENS_MAX: usize = 1 << 20;
/// The most layers, heads, or numbers a head.
const PAST_MAX: usize = 1 << 14;
/// The largest tolerance of a golden pair: rounding to half the digits of a float.
const TOLERANCE_MAX: f64 = 0.05;
const NO_MANIFEST: &str = "missing: `python -m assay.export` makes a model folder of a Hugging Face folder, \
                           `assay model add` of an ONNX model";
/// The longest manifest, in bytes.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;
/// The most texts that vote.
const VOTES_MAX: usize = 1 << 10;

impl Manifest {
    /// Reads and checks the manifest of a folder.
    ///
    /// # Errors
    /// A manifest that is missing, has unknown keys, or contradicts itself.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(FILE);
        if folder.is_dir() && !path.exists() {
            return Err(ModelError::file(&path, NO_MANIFEST));
        }
        Self::parse(&path, &files::text(&path, MANIFEST_BYTES_MAX)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ModelError> {
        let wrong = |(key, why): Wrong| {
            let key = if key.is_empty() { ".".to_owned() } else { key.into_owned() };
            ModelError::Manifest { file: path.display().to_string(), key, why }
        };
        let tree = tree(text).map_err(wrong)?;
        let manifest: Self =
            from_value(&tree).map_err(|error| wrong((error.setting.into(), error.message)))?;
        check(&manifest).map_err(wrong)?;
        Ok(manifest)
    }
}

/// The keys of a text with their values. None is a number that is not finite, as JSON has none.
fn tree(text: &str) -> Result<Value, Wrong> {
    let broken =
        |error: toml::de::Error| (line_of(text, error.span()).into(), error.message().to_owned());
    let table = DeTable::parse(text).map_err(broken)?;
    let odd = table.get_ref().iter().find_map(|(key, value)| {
        let (path, found) = not_finite(value)?;
        Some((format!("{}{path}", key.get_ref()), found))
    });
    if let Some((key, found)) = odd {
        return Err((key.into(), format!("expected a finite number, found {found}")));
    }
    Value::deserialize(toml::Deserializer::from(table)).map_err(broken)
}

/// The path to a number in `value` that is not finite, and how it is written.
fn not_finite(value: &Spanned<DeValue<'_>>) -> Option<(String, String)> {
    match value.get_ref() {
        DeValue::Float(float) => {
            let number: Result<f64, _> = float.as_str().replace('_', "").parse();
            let is_finite = number.is_ok_and(f64::is_finite);
            (!is_finite).then(|| (String::new(), float.as_str().to_owned()))
        }
        DeValue::Array(values) => values.iter().enumerate().find_map(|(at, value)| {
            let (path, found) = not_finite(value)?;
            Some((format!("[{at}]{path}"), found))
        }),
        DeValue::Table(table) => table.iter().find_map(|(key, value)| {
            let (path, found) = not_finite(value)?;
            Some((format!(".{}{path}", key.get_ref()), found))
        }),
        _ => None,
    }
}

fn line_of(text: &str, span: Option<std::ops::Range<usize>>) -> String {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}", before.matches('\n').count() + 1)
}

fn check(manifest: &Manifest) -> Result<(), Wrong> {
    if manifest.version != 1 {
        let version = manifest.version;
        return wrong("version", format!("{version} is not known; this assay reads version 1"));
    }
    if manifest.name.trim().is_empty() {
        return wrong("name", "empty");
    }
    graphs(manifest)?;
    template(&manifest.template)?;
    steps(&manifest.steps)?;
    score(&manifest.score)?;
    if manifest.kind == ModelKind::Generative || manifest.generates() {
        generate(&manifest.generate)?;
    }
    if !(1..=TOKENS_MAX).contains(&manifest.limits.max_tokens) {
        return wrong("limits.max_tokens", format!("expected 1 to {TOKENS_MAX}"));
    }
    goldens(manifest)
}

fn wrong(key: impl Into<Cow<'static, str>>, why: impl Into<String>) -> Result<(), Wrong> {
    Err((key.into(), why.into()))
}

fn graphs(manifest: &Manifest) -> Result<(), Wrong> {
    let count = |role| manifest.graphs.iter().filter(|graph| graph.role == role).count();
    let (models, references) = (count(Role::Model), count(Role::Reference));
    let most = usize::from(manifest.kind == ModelKind::Implicit);
    if models != 1 || references > most {
        let why = format!(
            "needs 1 graph of role model and at most {most} of role reference; has {models} and {references}"
        );
        return wrong("graph", why);
    }
    for (at, graph) in manifest.graphs.iter().enumerate() {
        let sizes = graph.past.map(|past| [past.layers, past.heads, past.head_dim]);
        if !sizes.iter().flatten().all(|size| (1..=PAST_MAX).contains(size)) {
            let why = format!("expected layers, heads and head_dim of 1 to {PAST_MAX}");
            return wrong(format!("graph[{at}].past"), why);
        }
    }
    Ok(())
}

fn template(template: &TemplateFile) -> Result<(), Wrong> {
    match (&template.file, &template.text) {
        (Some(_), Some(_)) => wrong("template", "has both `file` and `text`; one is enough"),
        (None, None) => wrong("template", "needs `file` or `text`"),
        _ => Ok(()),
    }
}

fn steps(steps: &Steps) -> Result<(), Wrong> {
    match steps.split {
        Split::Separator | Split::Regex if steps.pattern.is_empty() => {
            wrong("steps.pattern", "empty; `separator` and `regex` need one")
        }
        Split::Regex => match Pattern::new(&steps.pattern) {
            Ok(_) => Ok(()),
            Err(error) => wrong("steps.pattern", error),
        },
        _ => Ok(()),
    }
}

fn score(score: &Score) -> Result<(), Wrong> {
    match score.transform {
        Transform::TokenSoftmax if score.positive.is_empty() || score.negative.is_empty() => {
            return wrong("score", "`token_softmax` needs `positive` and `negative`");
        }
        Transform::Weighted if score.weights.is_empty() => {
            return wrong("score.weights", "empty; `weighted` needs one a value");
        }
        _ => {}
    }
    let calibration = &score.calibration;
    let numbers = [calibration.shift, calibration.scale];
    if score.weights.iter().chain(&numbers).any(|number| !number.is_finite()) {
        return wrong("score", "a weight, the shift or the scale is not finite");
    }
    range("score.calibration.clip", calibration.clip)?;
    range("score.range", score.range)
}

fn range(key: &'static str, range: Option<[f64; 2]>) -> Result<(), Wrong> {
    match range {
        Some([low, high]) if low.is_nan() || high.is_nan() || low > high => {
            wrong(key, format!("[{low}, {high}] is not a range: the lower end comes first"))
        }
        _ => Ok(()),
    }
}

fn generate(generate: &Generate) -> Result<(), Wrong> {
    if !(0.0..=100.0).contains(&generate.temperature) {
        return wrong("generate.temperature", "expected 0 to 100");
    }
    if !(generate.top_p > 0.0 && generate.top_p <= 1.0) {
        return wrong("generate.top_p", "expected more than 0, at most 1");
    }
    range("generate.parse_range", generate.parse_range)?;
    for (word, worth) in &generate.verdicts {
        if !worth.is_finite() || *word != word.to_lowercase() {
            let key = format!("generate.verdicts.{word}");
            return wrong(key, "expected a word in lower case that is worth a finite number");
        }
    }
    if generate.mode == Mode::Verdict {
        return Ok(());
    }
    if !(1..=VOTES_MAX).contains(&generate.votes) {
        return wrong("generate.votes", format!("expected 1 to {VOTES_MAX}"));
    }
    if !(1..=TOKENS_MAX).contains(&generate.max_new_tokens) {
        return wrong("generate.max_new_tokens", format!("expected 1 to {TOKENS_MAX}"));
    }
    match &generate.parse {
        Some(pattern) if pattern.captures_len() >= 2 => Ok(()),
        _ => wrong("generate.parse", "has no group; the first group is the score"),
    }
}

fn goldens(manifest: &Manifest) -> Result<(), Wrong> {
    if manifest.goldens.is_empty() {
        return wrong(
            "golden",
            "none: without one nothing proves that the model scores as it should",
        );
    }
    for (at, golden) in manifest.goldens.iter().enumerate() {
        let key = |name: &str| format!("golden[{at}].{name}");
        let prompts =
            usize::from(golden.prompt.is_some()) + usize::from(!golden.messages.is_empty());
        if prompts != 1 && !(prompts == 0 && manifest.kind == ModelKind::Embedding) {
            return wrong(key("prompt"), "needs either `prompt` or `messages`");
        }
        if (manifest.kind == ModelKind::Pairwise)
            != (golden.first.is_some() && golden.second.is_some())
        {
            return wrong(
                key("first"),
                "kind \"pairwise\" needs `first` and `second`, no other takes them",
            );
        }
        if golden.token_ids.is_empty() {
            return wrong(key("token_ids"), "empty");
        }
        if !(golden.tolerance.is_finite() && golden.tolerance > 0.0) {
            return wrong(key("tolerance"), "expected a number above 0");
        }
        if golden.tolerance > TOLERANCE_MAX {
            let why =
                format!("{} proves nothing; at most {TOLERANCE_MAX} is allowed", golden.tolerance);
            return wrong(key("tolerance"), why);
        }
        if let Some(name) = demanded(manifest, golden) {
            return wrong(key(name), "missing: this kind of model is proved by it too");
        }
        let rows = golden.raw.iter().chain(&golden.uncertainties).flatten().flatten();
        let scores = golden.scores.iter().flatten().chain(&golden.score);
        if let Some(number) = rows.chain(scores).find(|number| !number.is_finite()) {
            return wrong(key("raw"), format!("a model cannot give {number}"));
        }
    }
    told_apart(manifest)
}

/// What a golden pair lacks. A model whose values are a whole vocabulary is proved by its scores.
fn demanded(manifest: &Manifest, golden: &Golden) -> Option<&'static str> {
    let (score, scores) = (golden.score.is_some(), golden.scores.is_some());
    let (raw, text) = (golden.raw.is_some(), golden.text.is_some());
    let named: &[(&'static str, bool)] = if manifest.generates() {
        &[("text", text), ("score", score)]
    } else if manifest.kind == ModelKind::Embedding {
        // Vectors of tokens have no score of their own.
        let pooled = golden.raw.as_ref().is_none_or(|rows| rows.len() < 2);
        &[("raw", raw), ("score", score || golden.reference.is_none() || !pooled)]
    } else if has_vocabulary(manifest) {
        &[("scores", scores), ("score", score)]
    } else {
        &[("raw", raw), ("scores", scores), ("score", score)]
    };
    named.iter().find(|(_, is_there)| !is_there).map(|(name, _)| *name)
}

/// Whether a position has a value for each token.
fn has_vocabulary(manifest: &Manifest) -> bool {
    let by_token = [Transform::TokenSoftmax, Transform::TokenLogit];
    matches!(manifest.kind, ModelKind::Implicit | ModelKind::Generative)
        || by_token.contains(&manifest.score.transform)
}

/// Where scores alone are the proof, the calibration must leave them something to tell.
fn told_apart(manifest: &Manifest) -> Result<(), Wrong> {
    if !has_vocabulary(manifest) || manifest.generates() {
        return Ok(());
    }
    let calibration = &manifest.score.calibration;
    let tolerance = manifest.goldens.iter().map(|golden| golden.tolerance).fold(0.0, f64::max);
    let least = tolerance / TOLERANCE_MAX;
    if calibration.scale.abs() < least {
        let why = format!("{} is within the tolerance of the golden pairs", calibration.scale);
        return wrong("score.calibration.scale", why);
    }
    if let Some([low, high]) = calibration.clip
        && high - low < least
    {
        let why = format!("[{low}, {high}] is within the tolerance of the golden pairs");
        return wrong("score.calibration.clip", why);
    }
    Ok(())
}
