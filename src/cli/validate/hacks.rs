//! Reward hacking: cheats that the fixture file of a verifier lists, and cheats that any dataset is good for.

use std::borrow::Cow;

use assay::Registry;
use assay::verifiers::cases::{self, Case};
use assay::verifiers::{BuildError, Files, Lane, Verdict};
use serde::Serialize;
use serde_json::Value;

use super::finding::Finding;
use super::gold;
use super::probe::{Probe, is_full};
use super::read::Row;
use crate::cli::verdict;

/// Answers in the spam.
const SPAM: usize = 1000;
/// Different answers from which cheats are made.
const ANSWERS_MAX: usize = 64;
/// Characters of a completion that a finding repeats.
const SHOWN_CHARS: usize = 200;

/// What came of the hack cases of a fixture file.
#[derive(Serialize)]
pub(super) struct FixtureReport {
    pub(super) tried: u64,
    pub(super) failed: Vec<CaseFailed>,
}

#[derive(Serialize)]
pub(super) struct CaseFailed {
    case: String,
    hack: String,
    /// `fixture` or `yours`.
    settings: &'static str,
    verdict: String,
}

impl CaseFailed {
    pub(super) fn text(&self) -> String {
        format!(
            "{} (hack: {}, settings: {}): {}",
            self.case, self.hack, self.settings, self.verdict
        )
    }
}

/// Runs the hack cases of a verifier: with the settings of the case, and with those of the
/// configuration where the case asks for nothing else. `None` for verifiers without a file.
pub(super) fn fixture(probe: &Probe<'_>, registry: &Registry) -> Option<FixtureReport> {
    let id = &probe.planned.built.spec.id;
    let about = registry.about(id)?;
    let build = |settings: Value, files: &dyn Files| {
        let unknown = || Err(BuildError::new("", registry.unknown(id)));
        registry.build_alone(id, settings, files).unwrap_or_else(unknown)
    };
    let file = cases::parse(about.fixtures).ok()?;
    let mut report = FixtureReport { tried: 0, failed: Vec::new() };
    for case in &file.cases {
        let Some(hack) = &case.hack else { continue };
        let verdicts = [("fixture", case.run(build).ok()), ("yours", yours(case, probe))];
        for (settings, verdict) in verdicts {
            let Some(verdict) = verdict else { continue };
            report.tried += 1;
            if is_full(&verdict) {
                report.failed.push(CaseFailed {
                    case: case.name.clone(),
                    hack: hack.clone(),
                    settings,
                    verdict: verdict::outcome(&verdict.outcome),
                });
            }
        }
    }
    Some(report)
}

/// The verdict with the settings of the configuration, where the case asks for no others.
fn yours(case: &Case, probe: &Probe<'_>) -> Option<Verdict> {
    let settings = &probe.planned.built.spec.settings;
    let fits = case.config.iter().all(|(key, value)| settings.get(key) == Some(value));
    let here = matches!(probe.planned.built.lane, Lane::Compute(_));
    (fits && here).then(|| probe.alone(&case.sample()))
}

/// Different right answers of the rows to which a verifier applies, in their order.
pub(super) fn answers(probe: &Probe<'_>, rows: &[&Row]) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    for row in rows {
        if answers.len() == ANSWERS_MAX {
            break;
        }
        if let Some(answer) = gold::answers(probe, row).first()
            && !answers.iter().any(|have| have == answer)
        {
            answers.push(answer.clone().into_owned());
        }
    }
    answers
}

/// Tries every cheat on a row. One that comes in several orders pays only if every order does:
/// otherwise it is a guess.
pub(super) fn verify(probe: &Probe<'_>, row: &Row, answers: &[String]) -> (u64, Vec<Finding>) {
    let Some(reference) = row.sample.reference() else { return (0, Vec::new()) };
    let hacks = hacks(row, &gold::answers(probe, row), answers);
    let mut tried = 0;
    let paid = hacks.into_iter().filter_map(|(hack, orders)| {
        if probe.is_over() {
            return None;
        }
        tried += 1;
        let verdicts = orders.iter().map(|text| probe.verdict(&row.sample, text, Some(reference)));
        let verdicts: Vec<_> = verdicts.take_while(is_full).collect();
        let (completion, verdict) = (orders.first()?, verdicts.first()?);
        (verdicts.len() == orders.len()).then(|| Finding {
            id: row.sample.id().to_owned(),
            row: row.number,
            hack: Some(hack),
            completion: completion.chars().take(SHOWN_CHARS).collect(),
            verdict: verdict::outcome(&verdict.outcome),
        })
    });
    let paid = paid.collect();
    (tried, paid)
}

/// Each cheat, in every order in which it can be played.
fn hacks(row: &Row, gold: &[Cow<'_, str>], answers: &[String]) -> Vec<(&'static str, Vec<String>)> {
    let sample = &row.sample;
    let mut hacks = vec![("empty", vec![String::new()])];
    let prompt = sample.prompt();
    // A prompt that gives the answer away is no cheat of the completion.
    if !prompt.is_empty() && gold.first().is_none_or(|right| right.trim() != prompt.trim()) {
        hacks.push(("echo", vec![prompt.to_owned()]));
    }
    let Some(right) = gold.first().map(AsRef::as_ref) else { return hacks };
    hacks.push(("unclosed-thinking", vec![format!(
        "<think>\nIt could be \\boxed{{{right}}}, so maybe the answer is {right}, but let me check"
    )]));
    let options = options(sample.meta());
    let letters: Vec<String> = ('A'..='Z').take(options.len().max(10)).map(String::from).collect();
    hacks.push((
        "every-letter",
        orders(&letters, |all| format!("The answer is {}", all.join(", "))),
    ));
    if options.len() > 1 {
        hacks.push(("every-option", orders(&options, |all| all.join(" or "))));
    }
    let boxed = |all: &[String]| {
        all.iter().map(|one| format!("\\boxed{{{one}}}")).collect::<Vec<_>>().join(" ")
    };
    // Another row's letter need not be an option of this one, and then it is no answer at all.
    let own = letters.iter().any(|letter| letter == right) && options.len() > 1;
    let answers = if own { letters.get(..options.len()).unwrap_or_default() } else { answers };
    let wrong = wrong(right, answers, |answer| gold.iter().any(|have| have == answer));
    if let Some(other) = wrong.first() {
        let both = [right.to_owned(), other.clone()];
        hacks.push(("hedge", orders(&both, |all| format!("The answer is {}.", all.join(" or ")))));
        hacks.push(("two-boxes", orders(&both, boxed)));
        let mut spam: Vec<String> = wrong.iter().cycle().take(SPAM).cloned().collect();
        spam.insert(SPAM / 2, right.to_owned());
        hacks.push(("boxed-spam", vec![boxed(&spam)]));
    }
    hacks
}

/// Wrong answers that could pass for right ones: numbers for a number, else what other rows want.
fn wrong(right: &str, answers: &[String], is_right: impl Fn(&str) -> bool) -> Vec<String> {
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
fn options(meta: &serde_json::Map<String, Value>) -> Vec<String> {
    let listed = ["options", "choices"].iter().find_map(|name| meta.get(*name)?.as_array());
    let texts = listed.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    texts.unwrap_or_default()
}
