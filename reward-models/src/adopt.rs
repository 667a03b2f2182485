//! Models that lie on disk as ONNX already, as Optimum writes them: a manifest is made from what the
//! folder says, and proved by running the graph.

mod describe;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use assay_verifiers::Message;
use serde::{Deserialize as _, Serialize};
use toml::{Table, Value};

use crate::backend::GraphFile;
use crate::error::ModelError;
use crate::files;
use crate::forward::Forward;
use crate::graph::GraphInfo;
use crate::manifest::{self, Manifest, ModelKind, Precision, Role};
use crate::models::{Models, RunSettings};
use crate::nearness::nearness;
use crate::score::ModelOutput;
use crate::template::{Template, View};
use crate::tokens::{Encoder, Tokens};
pub use describe::AdoptOptions;
use describe::Described;

/// A folder that became a model folder.
#[derive(Clone, Debug, Serialize)]
pub struct Adopted {
    /// The name and the beginning of the digest.
    pub model: String,
    /// What it judges.
    pub kind: ModelKind,
    /// What ran it.
    pub backend: String,
    /// The inputs of the graph.
    pub inputs: Vec<String>,
    /// Its outputs.
    pub outputs: Vec<String>,
    /// The output that is read.
    pub read: String,
    /// The template that was written.
    pub template: String,
    /// The longest text, in tokens.
    pub max_tokens: usize,
    /// How far a value moved between a text alone and the same text in a padded batch.
    pub moved: f64,
    /// The golden pairs: what the graph itself gave.
    pub goldens: usize,
}

/// Texts that are run: of lengths that differ, so that a batch of them is padded.
const TEXTS: [(&str, &str); 3] = [
    ("What is 2 + 3?", "The sum is 5."),
    (
        "Tom has 12 apples. He gives 4 to Ann and eats 2. How many apples are left?",
        "Tom starts with 12 apples. He gives 4 to Ann, so he has 8, and eats 2. The answer is 6.",
    ),
    ("Name the capital of France, and say how you know it.", "Paris – every map shows it."),
];

/// How exact golden pairs are, and how far values may move in a batch.
fn limits(precision: Precision) -> (f64, f64) {
    match precision {
        Precision::Fp32 | Precision::Bf16 => (1e-5, 1e-3),
        Precision::Fp16 | Precision::Int4Blocks | Precision::Int8Blocks => (2e-3, 2e-2),
        // Ranges are found over the whole batch.
        Precision::Int8 => (1e-4, f64::INFINITY),
    }
}

/// Makes a model folder of `folder`, and loads it as any other.
///
/// # Errors
/// A file that is missing, an architecture whose outputs are no scores, a graph that does not run, or one
/// whose values a padded batch moves. Nothing is left in the folder then.
pub fn adopt(
    folder: &Path,
    options: &AdoptOptions,
    models: &Models,
    run: &RunSettings,
) -> Result<Adopted, ModelError> {
    let path = folder.join(manifest::FILE);
    if path.exists() {
        let why =
            "is there already: remove it to have it written anew, or load the folder as it is";
        return Err(ModelError::file(&path, why));
    }
    let graph = graph_file(folder, options.graph.as_deref())?;
    let info = GraphInfo::read(&folder.join(&graph))?;
    let described = Described::of(folder, &info, options)?;
    let mut written = Written::default();
    let adopted = (|| {
        let mut table = described.table(folder, &graph, &info)?;
        if let Some(chat) = &described.chat {
            written.write(&folder.join(describe::CHAT), chat)?;
        }
        let proof = prove(folder, &graph, &info, &described, &table, models, run);
        let proof = proof.map_err(|error| match error {
            ModelError::Run(why) => ModelError::graph(&folder.join(&graph), why),
            error => error,
        })?;
        table.insert("golden".to_owned(), Value::Array(proof.goldens.clone()));
        let text = toml::to_string(&table).map_err(|error| ModelError::file(&path, error))?;
        written.write(&path, &text)?;
        let model = models.load(folder, run)?;
        Ok(Adopted {
            model: model.name(),
            kind: described.kind,
            backend: model.backend.clone(),
            inputs: info.inputs.iter().cloned().collect(),
            outputs: info.outputs.iter().cloned().collect(),
            read: described.output.clone(),
            template: described.template.to_owned(),
            max_tokens: described.max_tokens,
            moved: proof.moved,
            goldens: proof.goldens.len(),
        })
    })();
    if adopted.is_err() {
        written.remove();
    }
    adopted
}

/// Files that are taken away again where the model does not come up.
#[derive(Default)]
struct Written(Vec<PathBuf>);

impl Written {
    /// Writes a file, which may be there with this text already: one that was killed leaves it.
    fn write(&mut self, path: &Path, text: &str) -> Result<(), ModelError> {
        if path.exists() {
            let is_same = fs::read(path).is_ok_and(|found| found == text.as_bytes());
            let why = "is there already, with another text: move it away";
            return if is_same { Ok(()) } else { Err(ModelError::file(path, why)) };
        }
        let part = path.with_extension("part");
        self.0.extend([part.clone(), path.to_owned()]);
        let written = File::create(&part).and_then(|mut file| file.write_all(text.as_bytes()));
        let renamed = written.and_then(|()| fs::rename(&part, path));
        renamed.map_err(|error| ModelError::file(path, error))
    }

    fn remove(&self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// The graph of the folder.
fn graph_file(folder: &Path, named: Option<&str>) -> Result<String, ModelError> {
    let candidates = named.map_or(vec!["model.onnx", "onnx/model.onnx"], |named| vec![named]);
    let found = candidates.iter().find(|name| folder.join(name).is_file());
    if let Some(found) = found {
        return Ok((*found).to_owned());
    }
    let others: Vec<String> = [folder.to_owned(), folder.join("onnx")]
        .iter()
        .filter_map(|place| fs::read_dir(place).ok())
        .flat_map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())))
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .filter_map(|path| Some(path.strip_prefix(folder).ok()?.display().to_string()))
        .collect();
    let why = if others.is_empty() {
        "missing: a checkpoint of PyTorch is exported by `python -m assay.export`".to_owned()
    } else {
        format!("missing; there is {}: choose one with --graph", others.join(", "))
    };
    let name = candidates.first().copied().unwrap_or_default();
    Err(ModelError::file(&folder.join(name), why))
}

/// What running the graph showed.
struct Proof {
    goldens: Vec<Value>,
    moved: f64,
}

fn prove(
    folder: &Path,
    graph: &str,
    info: &GraphInfo,
    described: &Described,
    table: &Table,
    models: &Models,
    run: &RunSettings,
) -> Result<Proof, ModelError> {
    let path = folder.join(graph);
    let refuse = |why: String| ModelError::graph(&path, why);
    let manifest = Manifest::deserialize(Value::Table(table.clone()))
        .map_err(|error| refuse(error.to_string()))?;
    let Some(about) = manifest.graph(Role::Model) else {
        return Err(refuse("no graph of role model".to_owned()));
    };
    info.check(&path, &manifest, about)?;
    let backend = models.backend(run)?;
    let file = GraphFile::new(path.clone(), 1, info);
    let mut session = backend.load(&file, 1)?.pop().ok_or(ModelError::Stopped)?;
    let forward = Forward::new(&manifest, about, info, &backend.identity());
    let reader = Reader::of(folder, &manifest, described)?;
    let mut texts = Vec::new();
    for (prompt, completion) in TEXTS {
        let tokens = reader.tokens(prompt, completion)?;
        if tokens.ids.len() <= described.max_tokens {
            texts.push(((prompt, completion), tokens));
        }
    }
    if texts.len() < 2 {
        let most = described.max_tokens;
        return Err(refuse(format!("takes {most} tokens: too few for two texts to prove it by")));
    }
    let tokens: Vec<&Tokens> = texts.iter().map(|(_, tokens)| tokens).collect();
    let mut alone = Vec::new();
    for text in &tokens {
        alone.extend(forward.run(&mut *session, &[*text], None)?);
    }
    if let (Some(labels), Some(rows)) = (described.labels, alone.first())
        && rows.values != labels
    {
        let found = rows.values;
        return Err(refuse(format!(
            "gives {found} values a text, and config.json names {labels} labels (`id2label`)"
        )));
    }
    let together = forward.run(&mut *session, &tokens, None)?;
    let moved =
        alone.iter().zip(&together).map(|(one, other)| apart(one, other)).fold(0.0, f64::max);
    let (tolerance, most) = limits(about.precision);
    if moved.is_nan() || moved > most {
        return Err(refuse(format!(
            "a value moves by {moved:.1e} where the same text is in a padded batch: the graph reads its \
             padding; `python -m assay.export` makes one that does not"
        )));
    }
    let last = texts.last().map(|((_, completion), _)| *completion).zip(alone.last());
    let mut goldens = Vec::new();
    for ((text, tokens), rows) in texts.iter().zip(&alone) {
        goldens.push(golden(&manifest, *text, tokens, rows, last, tolerance)?);
    }
    Ok(Proof { goldens, moved })
}

/// What makes tokens of a text.
struct Reader {
    encoder: Encoder,
    template: Template,
    kind: ModelKind,
}

impl Reader {
    fn of(folder: &Path, manifest: &Manifest, described: &Described) -> Result<Self, ModelError> {
        let path = folder.join(describe::TOKENIZER);
        let bytes = files::read(&path, 512 << 20)?;
        let wrong = |why| ModelError::file(&path, why);
        let encoder = Encoder::new(&bytes, &manifest.tokenizer).map_err(wrong)?;
        let tokens = manifest.tokenizer.tokens.clone();
        let special = encoder.special().map_err(wrong)?;
        let chat = described.chat.as_deref();
        let template = Template::new(described.template, chat, "", tokens, special)?;
        Ok(Self { encoder, template, kind: manifest.kind })
    }

    fn tokens(&self, prompt: &str, completion: &str) -> Result<Tokens, ModelError> {
        let view = View {
            messages: vec![Message::new("user", prompt)],
            completion: completion.to_owned(),
            ..View::default()
        };
        let tokens = self.encoder.tokens(&self.template.text(&view)?)?;
        if self.kind != ModelKind::Embedding {
            return Ok(tokens);
        }
        Ok(Tokens { positions: (0..tokens.ids.len()).collect(), ..tokens })
    }
}

/// How far values are from each other, above 1 by their size; infinitely where there are not as many.
fn apart(one: &ModelOutput, other: &ModelOutput) -> f64 {
    if one.data.len() != other.data.len() {
        return f64::INFINITY;
    }
    let pairs = one.data.iter().zip(&other.data);
    let apart =
        pairs.map(|(one, other)| f64::from((one - other).abs()) / f64::from(one.abs().max(1.0)));
    apart.fold(0.0, |most, apart| if apart.is_nan() { f64::INFINITY } else { most.max(apart) })
}

/// A golden pair of what the graph gave.
fn golden(
    manifest: &Manifest,
    (prompt, completion): (&str, &str),
    tokens: &Tokens,
    rows: &ModelOutput,
    reference: Option<(&str, &ModelOutput)>,
    tolerance: f64,
) -> Result<Value, ModelError> {
    let numbers = |values: &[f64]| Value::Array(values.iter().copied().map(Value::Float).collect());
    let ids = tokens.ids.iter().map(|id| Value::Integer(i64::from(*id))).collect();
    let wide =
        |row: &[f32]| numbers(&row.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
    let raw = Value::Array(rows.iter().map(wide).collect());
    let mut golden = Table::new();
    let mut put = |key: &str, value: Value| golden.insert(key.to_owned(), value);
    if manifest.kind == ModelKind::Embedding {
        put("completion", completion.into());
        // Vectors of tokens are proved by themselves.
        if let (1, Some((text, reference))) = (rows.iter().len(), reference) {
            put("reference", text.into());
            put("score", nearness(rows, reference).unwrap_or_default().into());
        }
    } else {
        put("prompt", prompt.into());
        put("completion", completion.into());
        let scores = manifest.score.of(rows)?;
        put("score", manifest.score.aggregate.of(&scores).unwrap_or_default().into());
        put("scores", numbers(&scores));
    }
    put("token_ids", Value::Array(ids));
    put("raw", raw);
    put("tolerance", tolerance.into());
    Ok(Value::Table(golden))
}
