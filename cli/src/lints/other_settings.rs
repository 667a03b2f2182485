//! Rows that earn nothing are right with another setting, another verifier, or a reference that is written otherwise.
//!
//! Looks at rows that earn nothing from a reward, of which a quarter at least must be right then, and at rows that are
//! paid, which must stay so. The settings are the `[[alternative]]` tables of the verifier's cases, the first one that does
//! it; the ways to write references are those of `forms.toml`. Fix: what is named, if such answers are right.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use assay::built_in;
use assay::engine::{JudgedTurn, Planned};
use assay::verifiers::cases::{self, Alternative};
use assay::verifiers::{
    Aspect, Built, Earlier, FaultKind, Lane, Meter, NoFiles, Outcome, Pattern, Sample, Verifier,
};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::look::{Finding, Tested};
use crate::trial::probe::{is_full, variant};
use crate::trial::read::Row;

/// Rows on which other settings are tried, and those on which programs are run.
const ROWS_MAX: usize = 300;
const PROGRAMS_MAX: usize = 12;
/// One row in so many that earns nothing has the reason at least; fewer may be slips of the policy.
const SHARE: usize = 4;
/// The most lines of a reference that is written anew.
const LINES_MAX: usize = 4;

/// A way to write references anew.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    what: String,
    help: String,
    #[serde(default)]
    both: bool,
    /// It is for JSON, and for nothing else.
    #[serde(default)]
    json: bool,
    #[serde(default)]
    replace: Vec<(Pattern, String)>,
    /// What stands between answers in one text, each tried by itself.
    #[serde(default)]
    split: Vec<String>,
}

/// The forms, under the one key of the file.
static FORMS: LazyLock<BTreeMap<String, Vec<Form>>> =
    LazyLock::new(|| built_in::table(include_str!("forms.toml")));

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let found = tested.look.rewards().filter_map(|(at, planned, config)| {
        let paid = Paid::of(tested, at, planned)?;
        if config.turn != JudgedTurn::default() {
            let rows = paid.many(|row| paid.is_right(paid.verifier, &row.sample))?;
            let found = Finding::new((at, ""), "turn").with("rows", rows.len());
            return Some(found.with("row", rows.first()?.number));
        }
        paid.other_form(at).or_else(|| paid.alternative(tested, at, &config.config))
    });
    found.collect()
}

/// Rows by what a reward gave.
struct Paid<'a> {
    planned: &'a Planned,
    verifier: &'a dyn Verifier,
    full: Vec<&'a Row>,
    /// Those that earn nothing, or have a reference that cannot be read: as many as are tried, and all.
    none: Vec<&'a Row>,
    all: usize,
}

impl<'a> Paid<'a> {
    fn of(tested: Tested<'a>, at: usize, planned: &'a Planned) -> Option<Self> {
        let verifier = tested.look.verifier(at)?;
        let (mut full, mut none) = (Vec::new(), Vec::new());
        for tried in &tested.trial.rows {
            match tried.judged.get(at)?.as_ref().map(|verdict| &verdict.outcome) {
                Some(Outcome::Scored(own)) if own.get() <= 0.0 => none.push(tried.row),
                Some(Outcome::Failed(own)) if own.kind == FaultKind::BadReference => {
                    none.push(tried.row);
                }
                Some(Outcome::Scored(own)) if own.get() >= 1.0 => full.push(tried.row),
                _ => {}
            }
        }
        let (all, most) = (none.len(), if planned.built.slow { PROGRAMS_MAX } else { ROWS_MAX });
        none.truncate(most);
        full.truncate(most);
        (all > 0).then_some(Self { planned, verifier, full, none, all })
    }

    /// Whether a verifier gives a sample full reward, for the fuel that the planned one has.
    fn is_right(&self, verifier: &dyn Verifier, sample: &Sample) -> bool {
        is_full(&verifier.verify(sample, Earlier::default(), &mut Meter::new(self.planned.fuel)))
    }

    /// The rows that earn nothing and are so, where they are more than slips of the policy.
    fn many(&self, is_so: impl Fn(&Row) -> bool + Sync) -> Option<Vec<&'a Row>> {
        let rows: Vec<&Row> = self.none.par_iter().copied().filter(|row| is_so(row)).collect();
        let is_only = rows.len() == 1 && self.none.len() == 1 && self.full.is_empty();
        (rows.len() * SHARE >= self.none.len() && (rows.len() > 1 || is_only)).then_some(rows)
    }

    /// References, and answers, that say the same in another form.
    fn other_form(&self, at: usize) -> Option<Finding> {
        if self.planned.built.slow {
            return None;
        }
        let is_right = |form: &Form, sign: Option<&str>, row: &Row| {
            let (reference, completion) = (row.sample.reference()?, row.sample.completion());
            let lines = row.sample.reference_text()?.lines().count();
            let new = form.value(reference, sign).filter(|_| (1..=LINES_MAX).contains(&lines))?;
            let answer = if form.both { form.text(completion) } else { completion.to_owned() };
            let is_other = new != *reference || answer != completion;
            let sample = variant(&row.sample, &answer, new);
            Some(is_other && self.is_right(self.verifier, &sample))
        };
        FORMS.values().flatten().find_map(|form| {
            let signs = form.split.iter().map(|sign| Some(sign.as_str()));
            let mut ways = signs.chain(form.split.is_empty().then_some(None));
            let rows =
                ways.find_map(|sign| self.many(|row| is_right(form, sign, row) == Some(true)))?;
            Some(Finding::of_rows((at, ""), &rows, &form.what)?.help(form.help.as_str()))
        })
    }

    /// The first settings, or verifier, by which many of the rows are right, and which take nothing from those that are paid.
    fn alternative(
        &self,
        tested: Tested<'_>,
        at: usize,
        settings: &Map<String, Value>,
    ) -> Option<Finding> {
        let own = self.planned.built.spec.id.as_ref();
        let file = cases::head(tested.registry.about(own)?.fixtures).ok()?;
        // What judges form reads no reference, and is no answer to one.
        let is_form = self.verifier.aspect() == Aspect::Form;
        let (right, typed) = file.alternatives.iter().find_map(|alternative| {
            let id = alternative.verifier.as_deref().unwrap_or(own);
            let all = changed(alternative, id == own, settings)?;
            if id == own && all == *settings || id != own && is_form {
                return None;
            }
            let Ok(built) = tested.registry.build_alone(id, Value::Object(all), &NoFiles)? else {
                return None;
            };
            let Built { lane: Lane::Compute(verifier), slow, .. } = built else { return None };
            let is_right = |row: &Row| self.is_right(&*verifier, &row.sample);
            let rows = self.many(|row| says_the_same(alternative, row) && is_right(row))?;
            let lost = self.full.par_iter().filter(|row| !is_right(row)).count();
            let is_one = lost * SHARE <= rows.len() && (!slow || self.planned.built.slow);
            is_one.then(|| (rows.len(), typed(alternative, settings)))
        })?;
        let found = Finding::new((at, ""), "alternative").with("tried", self.none.len());
        let found = found.with("rows", self.all).with("row", self.none.first()?.number);
        Some(found.with("right", right).with("by", typed))
    }
}

impl Form {
    fn text(&self, text: &str) -> String {
        let replaced = |text: String, (pattern, new): &(Pattern, String)| {
            pattern.replace_all(&text, new.as_str()).into_owned()
        };
        self.replace.iter().fold(text.to_owned(), replaced)
    }

    /// A reference in this form, parted by a sign where it is such a form.
    fn value(&self, value: &Value, sign: Option<&str>) -> Option<Value> {
        match value {
            _ if sign.is_some() => parts(value, sign?),
            _ if self.json => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let new = serde_json::from_str(&self.text(&text)).ok();
                new.filter(|_| text.starts_with(['{', '[']))
            }
            Value::String(text) => Some(self.text(text).into()),
            Value::Bool(own) => Some(self.text(&own.to_string()).into()),
            Value::Array(all) => all.iter().map(|own| self.value(own, None)).collect(),
            _ => None,
        }
    }
}

/// The answers of a text in which a sign parts them, or of a list of lists.
fn parts(reference: &Value, sign: &str) -> Option<Value> {
    let lists = reference.as_array().into_iter().flatten().filter_map(Value::as_array);
    let all: Vec<Value> = match reference.as_str() {
        // The comma of a number parts nothing.
        Some(text) if text.replace(',', "").trim().parse::<f64>().is_ok() => Vec::new(),
        Some(text) => {
            let parts = text.split(sign).map(str::trim).filter(|part| !part.is_empty());
            parts.map(Value::from).collect()
        }
        None => lists.flatten().cloned().collect(),
    };
    (all.len() > usize::from(reference.is_string())).then(|| all.into())
}

/// The settings of an alternative; `None` where the change cannot be made.
fn changed(
    alternative: &Alternative,
    is_own: bool,
    settings: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut all = if is_own { settings.clone() } else { Map::new() };
    if let Some(key) = &alternative.without {
        all.remove(key)?;
    }
    let added: toml::Table =
        toml::from_str(&format!("config = {{ {} }}", alternative.config)).ok()?;
    for (key, value) in added.get("config")?.as_table()? {
        let value = serde_json::to_value(value).ok()?;
        let own = settings.get(key).and_then(Value::as_str);
        match (all.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
            // The setting that there is, in the place of its name in braces.
            (_, Value::String(text)) if text.contains(&format!("{{{key}}}")) => {
                all.insert(key.clone(), text.replace(&format!("{{{key}}}"), own?).into());
            }
            (_, value) => {
                all.insert(key.clone(), value);
            }
        }
    }
    Some(all)
}

/// What is typed in the configuration.
fn typed(alternative: &Alternative, settings: &Map<String, Value>) -> String {
    if let Some(key) = &alternative.without {
        return format!("`{key}` left out");
    }
    let texts =
        settings.iter().filter_map(|(key, value)| Some((format!("{{{key}}}"), value.as_str()?)));
    let config =
        texts.fold(alternative.config.trim().to_owned(), |all, (key, own)| all.replace(&key, own));
    let verifier = alternative.verifier.as_ref().map(|id| format!("verifier = \"{id}\""));
    let config = (!config.is_empty()).then(|| format!("config = {{ {config} }}"));
    verifier.into_iter().chain(config).collect::<Vec<_>>().join(", ")
}

/// Whether an answer that an alternative takes says what the reference says.
fn says_the_same(alternative: &Alternative, row: &Row) -> bool {
    let Some(reference) = row.sample.reference_text() else { return true };
    let completion = row.sample.completion().to_lowercase();
    let matches = |pattern: &Option<Pattern>, text: &str| {
        pattern.as_ref().is_none_or(|own| own.is_match(text))
    };
    let is_either =
        matches(&alternative.either, &reference) || matches(&alternative.either, &completion);
    let mut words = reference.split(|char: char| !(char.is_alphabetic() || char == '\\'));
    let has = |word: &str| word.starts_with('\\') || completion.contains(&word.to_lowercase());
    matches(&alternative.reference, &reference)
        && is_either
        && (!alternative.rounded || is_rounded(reference.trim(), &completion))
        && (!alternative.same_words || words.all(has))
}

/// Whether one of two numbers is the other one, rounded.
fn is_rounded(reference: &str, completion: &str) -> bool {
    let digits = |number: &str| number.split_once('.').map_or(0, |(_, behind)| behind.len());
    // Without decimals on either side the numbers are whole, and not the same.
    let is_rounded = |(more, fewer): (&str, &str)| {
        let rounded = more.parse::<f64>().map(|more| format!("{more:.*}", digits(fewer)));
        digits(more) > digits(fewer) && rounded.is_ok_and(|own| own == fewer)
    };
    let mut numbers =
        completion.split(|char: char| !(char.is_ascii_digit() || ".,-".contains(char)));
    numbers.any(|own| {
        let own = own.trim_end_matches(['.', '-', ',']).replace(',', "");
        is_rounded((&own, reference)) || is_rounded((reference, &own))
    })
}
