//! Reward hacking: cheats that the fixture file of a verifier lists, and cheats that any dataset is good for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay::Registry;
use assay::verifiers::cases::{self, Case};
use assay::verifiers::{BuildError, Built, Earlier, Files, Lane, Meter, NoFiles, Sample, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};

use super::finding::Finding;
use super::gold;
use super::probe::{Probe, is_full, variant};
use super::read::Row;
use crate::attack::{self, Attack, Values};

/// Rows of which one may need a setting.
const NEEDED_ROWS: usize = 200;
/// Answers in the spam.
const SPAM: usize = 1000;
/// Different answers from which cheats are made.
const ANSWERS_MAX: usize = 64;
/// Characters of a completion that a finding repeats.
const SHOWN_CHARS: usize = 200;

/// What came of the hack cases of a fixture file.
#[derive(Serialize)]
pub(crate) struct FixtureReport {
    pub(crate) tried: u64,
    /// Those that earn full reward by settings of the configuration.
    pub(crate) by_settings: Vec<PaidBySettings>,
}

/// Hack cases that settings of the configuration pay for.
#[derive(Serialize)]
pub(crate) struct PaidBySettings {
    /// The setting that does it; several where none does it alone.
    pub(crate) settings: Vec<String>,
    pub(crate) paid: u64,
    /// The first of the cases, and its cheat.
    pub(crate) case: String,
    pub(crate) hack: String,
}

/// Runs the hack cases of a verifier with the settings of the configuration, where the case asks for
/// nothing else. `None` for verifiers without a file.
pub(crate) fn fixture(
    probe: &Probe<'_>,
    registry: &Registry,
    rows: &[Row],
) -> Option<FixtureReport> {
    let id = &probe.planned.built.spec.id;
    let build = |settings: Value, files: &dyn Files| {
        let unknown = || Err(BuildError::new("", registry.unknown(id)));
        registry.build_alone(id, settings, files).unwrap_or_else(unknown)
    };
    let file = cases::hacks(registry.about(id)?.fixtures).ok()?;
    let mut report = FixtureReport { tried: 0, by_settings: Vec::new() };
    for case in &file.cases {
        let Some(hack) = case.hack.clone() else { continue };
        let name = case.name.clone();
        let case = &with_your_columns(case, probe);
        let Some(verdict) = yours(case, probe) else { continue };
        report.tried += 1;
        if is_full(&verdict) && !is_of_reference(case, probe) {
            let settings = paying(case, probe.settings(), build);
            match report.by_settings.iter_mut().find(|by| by.settings == settings) {
                Some(by) => by.paid += 1,
                None => {
                    report.by_settings.push(PaidBySettings { settings, paid: 1, case: name, hack });
                }
            }
        }
    }
    report.by_settings.retain(|by| !is_needed(&by.settings, probe, registry, rows));
    Some(report)
}

/// The case with what it has of a column under the name by which the configuration calls it.
fn with_your_columns(case: &Case, probe: &Probe<'_>) -> Case {
    let mut own = case.clone();
    for (key, value) in probe.settings().into_iter().flatten() {
        if let (Some(column), Some(value)) = (value.as_str(), case.meta.get(key)) {
            own.meta.entry(column).or_insert_with(|| value.clone());
        }
    }
    own
}

/// Whether a reference of the rows asks for a setting: without it, its right answers are refused.
fn is_needed(settings: &[String], probe: &Probe<'_>, registry: &Registry, rows: &[Row]) -> bool {
    let ([key], false) = (settings, probe.planned.built.slow) else { return false };
    let mut others = probe.settings().cloned().unwrap_or_default();
    others.remove(key);
    let built = registry.build_alone(&probe.planned.built.spec.id, Value::Object(others), &NoFiles);
    let Some(Ok(Built { lane: Lane::Compute(verifier), .. })) = built else { return false };
    let without = |sample: &Sample| {
        verifier.verify(sample, Earlier::default(), &mut Meter::new(probe.planned.fuel))
    };
    rows.iter().take(NEEDED_ROWS).any(|row| {
        gold::is_accepted(probe, row, |sample| probe.alone(sample))
            && !gold::is_accepted(probe, row, without)
    })
}

/// The setting that pays for a case by itself, else all that the case does not have.
fn paying(
    case: &Case,
    settings: Option<&Map<String, Value>>,
    build: impl Fn(Value, &dyn Files) -> Result<Built, BuildError>,
) -> Vec<String> {
    let settings = settings.into_iter().flatten();
    let others = settings.filter(|(key, value)| case.config.get(*key) != Some(value));
    let pays = |key: &str, value: &Value| {
        let mut alone = case.clone();
        alone.config.insert(key.to_owned(), value.clone());
        alone.run(&build).is_ok_and(|verdict| is_full(&verdict))
    };
    let one = others.clone().find(|(key, value)| pays(key, value));
    match one {
        Some((key, _)) => vec![key.clone()],
        None => others.map(|(key, _)| key.clone()).collect(),
    }
}

/// Whether a case is about a reference that the settings of the configuration do not read, as `none` of
/// `contains` alone: then it says nothing of them.
fn is_of_reference(case: &Case, probe: &Probe<'_>) -> bool {
    let sample = case.sample();
    let without = variant(&sample, sample.completion(), Value::Null);
    case.reference.is_some() && is_full(&probe.alone(&without))
}

/// The verdict with the settings of the configuration, where the case asks for no others.
fn yours(case: &Case, probe: &Probe<'_>) -> Option<Verdict> {
    let settings = &probe.planned.built.spec.settings;
    let fits = case.config.iter().all(|(key, value)| settings.get(key) == Some(value));
    let here = matches!(probe.planned.built.lane, Lane::Compute(_));
    (fits && here).then(|| probe.alone(&case.sample()))
}

/// Different right answers of the rows to which a verifier applies, in their order.
pub(crate) fn answers(probe: &Probe<'_>, rows: &[&Row]) -> Vec<String> {
    let first = |row: &&Row| Some(gold::answers(probe, row).first()?.clone().into_owned());
    let mut seen = BTreeSet::new();
    let different = rows.iter().filter_map(first).filter(|own| seen.insert(own.clone()));
    different.take(ANSWERS_MAX).collect()
}

/// The attacks of `assay audit` that any dataset is good for, by what they are called as cheats.
static CHEATS: LazyLock<Vec<(String, Attack)>> = LazyLock::new(|| {
    let attacks = attack::families(&[], &[]).into_iter().flatten().flat_map(|own| own.attacks);
    attacks.filter_map(|own| Some((own.cheat.clone()?, own))).collect()
});

/// A cheat on a row.
struct Cheat {
    name: &'static str,
    /// Its text, in every order in which it can be played.
    orders: Vec<String>,
    /// Answers in it that are meant to be wrong: those that a verifier may take for its answer.
    wrong: Vec<String>,
}

impl Cheat {
    /// What it earns where each order earns full reward. One that does not is a guess; and where an answer
    /// that was meant to be wrong is right, as within an interval, nobody cheats.
    fn paid(&self, probe: &Probe<'_>, row: &Row) -> Option<Verdict> {
        let reference = row.sample.reference();
        let judge = |text: &String| probe.verdict(&row.sample, text, reference);
        let verdicts: Vec<Verdict> = self.orders.iter().map(judge).take_while(is_full).collect();
        let is_paid = verdicts.len() == self.orders.len()
            && !self.wrong.iter().any(|answer| is_full(&judge(answer)));
        verdicts.into_iter().next().filter(|_| is_paid)
    }
}

/// Tries every cheat on a row.
pub(crate) fn verify(probe: &Probe<'_>, row: &Row, answers: &[String]) -> (u64, Vec<Finding>) {
    if row.sample.reference().is_none() {
        return (0, Vec::new());
    }
    let mut tried = 0;
    let paid = cheats(row, &gold::answers(probe, row), answers).into_iter().filter_map(|cheat| {
        if probe.is_over() {
            return None;
        }
        tried += 1;
        let verdict = cheat.paid(probe, row)?;
        let completion = cheat.orders.first()?.chars().take(SHOWN_CHARS).collect();
        Some(Finding::of(row, Some(cheat.name), completion, &verdict))
    });
    let paid = paid.collect();
    (tried, paid)
}

/// Every cheat that can be made of a row.
fn cheats(row: &Row, gold: &[Cow<'_, str>], answers: &[String]) -> Vec<Cheat> {
    let (prompt, right) = (row.sample.prompt(), gold.first().map(AsRef::as_ref));
    // A prompt that gives the answer away is no cheat of the completion.
    let is_right = right.is_some_and(|right: &str| right.trim() == prompt.trim());
    let echo = Some(prompt).filter(|_| !prompt.is_empty() && !is_right);
    let (mut options, mut letters, mut many) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(right) = right {
        options = self::options(row.sample.meta());
        letters = ('A'..='Z').take(options.len().max(10)).map(String::from).collect();
        // Another row's letter need not be an option of this one, and then it is no answer at all.
        let is_letter = options.len() > 1 && letters.iter().any(|own| own == right);
        let of_row = letters.iter().take(options.len()).cloned().collect();
        let answers: Vec<String> = if is_letter { of_row } else { answers.to_vec() };
        let wrong = wrong(right, &answers, |answer| gold.iter().any(|have| have == answer));
        many = wrong.iter().cycle().take(SPAM).cloned().collect();
    }
    let [one, last] = [many.first(), many.last()].map(Option::<&String>::cloned);
    many.insert(many.len() / 2, right.unwrap_or_default().to_owned());
    let values = [("prompt", echo), ("right", right), ("wrong", one.as_deref())];
    let values = Values(values.map(|(name, own)| (name, own.map(str::to_owned))).to_vec());
    let values = values.with_lists(&many, &letters, &options);
    let cheat = |(name, attack): &'static (String, Attack)| {
        let is_of = |what: &str| attack.texts.iter().any(|text| text.contains(what));
        let wrong = [&one, &last].map(Option::as_ref).into_iter().flatten().cloned();
        let wrong = wrong.take(if is_of("{many") { 2 } else { is_of("{wrong}").into() }).collect();
        Some(Cheat { name, orders: attack.texts(&values, 0)?, wrong })
    };
    CHEATS.iter().filter_map(cheat).collect()
}

/// Wrong answers that could pass for right ones: numbers for a number, else what other rows want.
pub(crate) fn wrong(
    right: &str,
    answers: &[String],
    is_right: impl Fn(&str) -> bool,
) -> Vec<String> {
    if right.trim().parse::<f64>().is_ok() {
        let numbers = (0..SPAM).map(|number| number.to_string());
        return numbers.filter(|number| !is_right(number) && number != right.trim()).collect();
    }
    answers.iter().filter(|answer| !is_right(answer.as_str())).cloned().collect()
}

/// The texts of the options, where the row lists them.
pub(crate) fn options(meta: &serde_json::Map<String, Value>) -> Vec<String> {
    let listed = ["options", "choices"].iter().find_map(|name| meta.get(*name)?.as_array());
    let texts = listed.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    texts.unwrap_or_default()
}
