//! Reward hacking: cheats that the fixture file of a verifier lists, and cheats that any dataset is good for.

use std::borrow::Cow;
use std::collections::BTreeSet;

use assay::Registry;
use assay::verifiers::cases::{self, Case};
use assay::verifiers::{BuildError, Built, Earlier, Files, Lane, Meter, NoFiles, Sample, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};

use super::finding::{ECHO, Finding};
use super::gold;
use super::probe::{Probe, is_full, variant};
use super::read::Row;
use crate::verdict;

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
    /// Those that earned full reward with the settings of the case.
    pub(crate) failed: Vec<CaseFailed>,
    /// Those that earn it by settings of the configuration.
    pub(crate) by_settings: Vec<PaidBySettings>,
}

#[derive(Serialize)]
pub(crate) struct CaseFailed {
    case: String,
    hack: String,
    verdict: String,
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

/// Runs the hack cases of a verifier: with the settings of the case, and with those of the
/// configuration where the case asks for nothing else. `None` for verifiers without a file.
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
    let file = cases::parse(registry.about(id)?.fixtures).ok()?;
    let mut report = FixtureReport { tried: 0, failed: Vec::new(), by_settings: Vec::new() };
    for case in &file.cases {
        let Some(hack) = case.hack.clone() else { continue };
        let name = case.name.clone();
        if let Ok(verdict) = case.run(build) {
            report.tried += 1;
            if is_full(&verdict) {
                let verdict = verdict::outcome(&verdict.outcome);
                report.failed.push(CaseFailed { case: name, hack, verdict });
                continue;
            }
        }
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

/// A cheat on a row.
struct Cheat {
    name: &'static str,
    /// Its text, in every order in which it can be played.
    orders: Vec<String>,
    /// Answers in it that are meant to be wrong: those that a verifier may take for its answer.
    wrong: Vec<String>,
}

impl Cheat {
    fn plain(name: &'static str, orders: Vec<String>) -> Self {
        Self { name, orders, wrong: Vec::new() }
    }

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
    let sample = &row.sample;
    let mut cheats = vec![Cheat::plain("empty", vec![String::new()])];
    let prompt = sample.prompt();
    // A prompt that gives the answer away is no cheat of the completion.
    if !prompt.is_empty() && gold.first().is_none_or(|right| right.trim() != prompt.trim()) {
        cheats.push(Cheat::plain(ECHO, vec![prompt.to_owned()]));
    }
    let Some(right) = gold.first().map(AsRef::as_ref) else { return cheats };
    cheats.push(Cheat::plain("unclosed-thinking", vec![format!(
        "<think>\nIt could be \\boxed{{{right}}}, so maybe the answer is {right}, but let me check"
    )]));
    let options = options(sample.meta());
    let letters: Vec<String> = ('A'..='Z').take(options.len().max(10)).map(String::from).collect();
    let every_letter = orders(&letters, |all| format!("The answer is {}", all.join(", ")));
    cheats.push(Cheat::plain("every-letter", every_letter));
    if options.len() > 1 {
        cheats.push(Cheat::plain("every-option", orders(&options, |all| all.join(" or "))));
    }
    let boxed = |all: &[String]| {
        all.iter().map(|one| format!("\\boxed{{{one}}}")).collect::<Vec<_>>().join(" ")
    };
    // Another row's letter need not be an option of this one, and then it is no answer at all.
    let own = letters.iter().any(|letter| letter == right) && options.len() > 1;
    let answers = if own { letters.split_at(options.len().min(letters.len())).0 } else { answers };
    let wrong = wrong(right, answers, |answer| gold.iter().any(|have| have == answer));
    if let Some(other) = wrong.first() {
        let both = [right.to_owned(), other.clone()];
        let hedge = orders(&both, |all| format!("The answer is {}.", all.join(" or ")));
        let of_one = |name, orders| Cheat { name, orders, wrong: vec![other.clone()] };
        cheats.extend([of_one("hedge", hedge), of_one("two-boxes", orders(&both, boxed))]);
        let mut spam: Vec<String> = wrong.iter().cycle().take(SPAM).cloned().collect();
        let ends = [spam.first(), spam.last()].into_iter().flatten().cloned().collect();
        spam.insert(SPAM / 2, right.to_owned());
        cheats.push(Cheat { name: "boxed-spam", orders: vec![boxed(&spam)], wrong: ends });
    }
    cheats
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

/// The text forwards and backwards.
fn orders(all: &[String], text: impl Fn(&[String]) -> String) -> Vec<String> {
    let backwards: Vec<String> = all.iter().rev().cloned().collect();
    vec![text(all), text(&backwards)]
}

/// The texts of the options, where the row lists them.
pub(crate) fn options(meta: &serde_json::Map<String, Value>) -> Vec<String> {
    let listed = ["options", "choices"].iter().find_map(|name| meta.get(*name)?.as_array());
    let texts = listed.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    texts.unwrap_or_default()
}
