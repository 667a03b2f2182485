//! What fails on every row that it applies to, and what fails on some.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assay::engine::{Applicability, Document, Planned};
use assay::verifiers::{Outcome, Verdict};
use assay::{Engine, Plan, Registry};
use serde_json::Value;

use super::advice::{advice, misspelt_keyword};
use super::paths::{self, paths};
use super::problem::{Problem, listed};
use super::read::Row;
use super::report::RewardReport;
use super::sources::{Role, Source};
use super::tally::{Example, RowsTally, reason};
use super::trial::{EXHAUSTED_MAX, Trial, Tried};
use super::unpaid::{self, Unpaid};
use super::words::words;
use crate::output::count;

/// Rows on which a reward is tried that no gate lets through.
const BEHIND_GATE_ROWS: usize = 5;
/// A lower deadline was hardly meant: in less time nothing slow answers.
pub(super) const DEADLINE_MS_LOW: u64 = 100;
/// Values of a column that are named.
const VALUES_MAX: usize = 5;

/// Columns that hold references in the data of others.
const REFERENCES: [&str; 17] = [
    "answer",
    "ground_truth",
    "solution",
    "gold",
    "target",
    "final_answer",
    "expected",
    "expected_output",
    "answers",
    "label",
    "gts",
    "test_list",
    "tests",
    "test_cases",
    "unit_tests",
    "verification_info",
    "input_output",
];

/// Errors, and what is worth knowing.
#[derive(Default)]
pub(super) struct Found {
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// One of them tells that right answers earn less than wrong ones.
    pub(super) is_inverted: bool,
}

/// What the trial of a plan is told by.
pub(super) struct Faults<'a> {
    pub(super) engine: &'a Engine,
    pub(super) document: &'a Document,
    pub(super) sources: &'a [Source],
    pub(super) trial: &'a Trial<'a>,
    /// The configuration, as a command names it.
    pub(super) config: &'a Path,
    /// The data, in the same way.
    pub(super) data: &'a [PathBuf],
    /// There are rows behind those that were read.
    pub(super) is_partial: bool,
    pub(super) registry: &'a Registry,
}

/// A reward, and what came of it.
struct Judged<'a> {
    at: usize,
    planned: &'a Planned,
    tally: &'a RowsTally,
    /// Why rows earn nothing, where that is known.
    unpaid: Option<Unpaid>,
}

impl Faults<'_> {
    pub(super) fn plan(&self) -> &Plan {
        self.engine.plan()
    }

    /// What is wrong with a reward; `named` says of which scripts the names are wrong already.
    pub(super) fn of_reward(
        &self,
        (at, planned): (usize, &Planned),
        tally: &RowsTally,
        named: &[Role],
        found: &mut Found,
    ) {
        let settings = self.plan().config.rewards.get(at);
        let unpaid = settings
            .and_then(|reward| unpaid::why(&self.trial.rows, (at, planned), reward, self.registry));
        let judged = Judged { at, planned, tally, unpaid };
        if planned.when.is_some() && !named.contains(&Role::When(at)) {
            self.when(&judged, found);
        }
        if !named.contains(&Role::Reward(at)) {
            self.verdicts(&judged, found);
        }
        if tally.rows > 0 && tally.behind_gate == tally.rows {
            self.behind_gate(&judged, found);
        }
        if !self.constant(&judged, found)
            && tally.failed == 0
            && let Some(Unpaid { message, help }) = &judged.unpaid
        {
            let help = Some(help.clone());
            found.warnings.push(self.at_reward(&judged, None, message.clone(), help));
        }
        self.shapes(&judged, found);
        if self.trial.exhausted == Some(at) {
            let (tried, name) = (count(tally.rows), &planned.name);
            let message = format!(
                "the trial ended after {tried} rows: {EXHAUSTED_MAX} verdicts of \"{name}\" ran out of \
                 fuel, memory or time"
            );
            let deadline_ms = self.plan().config.limits.deadline_ms;
            let help = if deadline_ms < DEADLINE_MS_LOW {
                format!("raise limits.deadline_ms: a row has {deadline_ms} ms")
            } else {
                "lower its limits or limits.deadline_ms to try more rows".to_owned()
            };
            found.warnings.push(self.at_reward(&judged, None, message, Some(help)));
        }
    }

    fn when(&self, judged: &Judged<'_>, found: &mut Found) {
        let Judged { at, planned, tally, .. } = *judged;
        let (tried, failed) = (tally.tried(), tally.when_failed);
        let Some(source) = self.source(Role::When(at)) else { return };
        if let Some(first) = &tally.first_when_failed {
            let part = source.place_in(&first.reason);
            let message = failing("`when`", failed, tried, first);
            let problem = source.problem(self.document, part, message, Some(self.look(first)));
            let all = if failed == tried { &mut found.errors } else { &mut found.warnings };
            all.push(problem);
        }
        let ran = tally.judged() + tally.not_asked;
        if ran == 0 && tally.not_applicable > 0 {
            let rows = rows(tally.not_applicable);
            let reads_step =
                planned.when.as_ref().is_some_and(|when| when.script().mentions("step"));
            if reads_step {
                let step = self.trial.training.step;
                let message = format!("`when` does not hold at step {step}: it is false on {rows}");
                let help = "`--step N` tries the rows at another step of the training".to_owned();
                found.warnings.push(source.problem(self.document, None, message, Some(help)));
            } else {
                let mut message = format!("`when` never holds: it is false on {rows}");
                let help = self.values(source);
                if self.is_partial {
                    message.push_str(", the first ones; `--limit N` reads more");
                }
                let problem = source.problem(self.document, None, message, help);
                let told = if self.is_partial { &mut found.warnings } else { &mut found.errors };
                told.push(problem);
            }
        }
    }

    fn verdicts(&self, judged: &Judged<'_>, found: &mut Found) {
        let tally = judged.tally;
        let all = tally.judged();
        if let Some(first) = &tally.first_failed {
            let message = failing("the verifier", tally.failed, all, first);
            let problem = self.at_reward(
                judged,
                Some(&first.reason),
                message,
                Some(self.typed(judged, first)),
            );
            let told = if tally.failed == all { &mut found.errors } else { &mut found.warnings };
            told.push(problem);
        }
        let Some(first) = tally.first_abstained.as_ref().filter(|_| tally.scored == 0) else {
            return;
        };
        let message = if tally.failed == 0 {
            format!("the verifier abstains on {}: {}", rows(all), first.reason)
        } else {
            let (abstained, failed) = (rows(tally.abstained), rows(tally.failed));
            let why = &first.reason;
            format!("no row has a reward: it abstains on {abstained} and fails on {failed}: {why}")
        };
        let help = if first.reason == Verdict::NO_REFERENCE {
            let column = self.column_of_references().unwrap_or_else(|| "...".to_owned());
            format!("write the column that holds it: [data] reference = \"{column}\"")
        } else {
            self.typed(judged, first)
        };
        found.errors.push(self.at_reward(judged, None, message, Some(help)));
    }

    /// A reward that is the same on rows whose completions differ; whether there was one.
    fn constant(&self, judged: &Judged<'_>, found: &mut Found) -> bool {
        let is_penalty = self.is_penalty(judged.at);
        let is_format = |reward: f64| reward >= 1.0 && self.others_differ(judged.at);
        let constant = judged.tally.constant().filter(|reward| {
            !(is_penalty && *reward == 0.0) && (!is_format(*reward) || judged.unpaid.is_some())
        });
        let Some(reward) = constant.filter(|_| self.completions_differ()) else { return false };
        let rows = count(judged.tally.scored);
        let mut message =
            format!("it gives {reward} on each of {rows} rows, and tells none of them apart");
        let first = self.trial.rows.first().map(|tried| Example::of(tried.row, ""));
        let mut help = first.map(|first| self.look(&first));
        let Judged { at, planned, .. } = *judged;
        if planned.shapes.is_empty() || !self.differs_unshaped(at) {
            if let Some(unpaid) = &judged.unpaid {
                message = format!("{message}; {}", unpaid.message);
                help = Some(unpaid.help.clone());
            }
            found.warnings.push(self.at_reward(judged, None, message, help));
            return true;
        }
        let message = format!("{message}, though the verifier does");
        let error = self.document.error(&format!("reward[{at}].shape"), message).help(help);
        found.warnings.push(Problem::new(format!("reward.{}.shape", planned.name), error));
        true
    }

    /// Whether another reward tells rows apart: then one that all of them earn is no slip.
    fn others_differ(&self, at: usize) -> bool {
        let reward = |tried: &Tried<'_>, other: usize| tried.verdicts.get(other)?.outcome.reward();
        (0..self.plan().rewards.len()).filter(|other| *other != at).any(|other| {
            let mut rewards = self.trial.rows.iter().filter_map(|tried| reward(tried, other));
            rewards.next().is_some_and(|first| rewards.any(|own| own != first))
        })
    }

    /// Whether a reward is a penalty, which good rows do not have.
    fn is_penalty(&self, at: usize) -> bool {
        let reward = self.plan().config.rewards.get(at);
        reward.is_some_and(|own| own.config.contains_key("soft_overlong"))
    }

    /// Whether rows have other rewards before they are shaped.
    fn differs_unshaped(&self, at: usize) -> bool {
        let judged = |tried: &Tried<'_>| tried.judged.get(at)?.as_ref()?.outcome.reward();
        let mut rewards = self.trial.rows.iter().filter_map(judged);
        rewards.next().is_some_and(|first| rewards.any(|other| other != first))
    }

    /// Shapes that leave every row as it is, as no row has what they ask for.
    fn shapes(&self, judged: &Judged<'_>, found: &mut Found) {
        let Judged { at, planned, .. } = *judged;
        for (place, shape) in planned.shapes.iter().enumerate() {
            let told = |tried: &Tried<'_>| {
                let notes = tried.verdicts.get(at)?.evidence.get("shaping")?.get(place)?;
                let skipped = notes.get("skipped").and_then(Value::as_str).map(str::to_owned);
                Some(skipped.or_else(|| idle(shape.kind, notes)))
            };
            let notes: Vec<Option<String>> = self.trial.rows.iter().filter_map(told).collect();
            let Some(Some(first)) = notes.first().filter(|_| notes.iter().all(Option::is_some))
            else {
                continue;
            };
            let (kind, count) = (shape.kind, rows(notes.len() as u64));
            let message = format!("the shape `{kind}` does nothing on {count}: {first}");
            let path = format!("reward[{at}].shape[{place}].kind");
            let help = format!("`assay show shape.{kind}` says what it asks of a row");
            let error = self.document.error(&path, message).help(Some(help));
            let key = format!("reward.{}.shape[{place}]", planned.name);
            found.warnings.push(Problem::new(key, error));
        }
    }

    pub(super) fn completions_differ(&self) -> bool {
        let mut texts = self.trial.rows.iter().map(|tried| tried.row.sample.completion());
        texts.next().is_some_and(|first| texts.any(|text| text != first))
    }

    /// The column that most likely holds the references.
    fn column_of_references(&self) -> Option<String> {
        let meta = self.trial.rows.first()?.row.sample.meta();
        let own = &self.plan().config.data.reference;
        let alike = meta.keys().find(|key| key.trim().eq_ignore_ascii_case(own.trim()));
        let known = || {
            REFERENCES.iter().find(|name| meta.contains_key(**name)).map(|name| (*name).to_owned())
        };
        let nested = || {
            let holds = |(key, value): (&String, &Value)| {
                value.get("ground_truth").map(|_| format!("{key}.ground_truth"))
            };
            meta.iter().find_map(holds)
        };
        alike.cloned().or_else(known).or_else(nested)
    }

    /// A reward that no gate lets through is tried beside its gates.
    fn behind_gate(&self, judged: &Judged<'_>, found: &mut Found) {
        let Judged { at, planned, .. } = *judged;
        let plan = self.plan();
        let gates: Vec<&str> =
            plan.gates.iter().filter_map(|gate| Some(plan.names.get(*gate)?.as_str())).collect();
        let message =
            format!("no row gets here: the gate {} passes on none of them", listed(gates));
        let mut verdicts: Vec<(&Row, Verdict)> = Vec::new();
        for tried in self.trial.rows.iter().take(BEHIND_GATE_ROWS) {
            let shut = |(other, verdict): (usize, &Option<Verdict>)| {
                verdict.clone().filter(|_| !plan.gates.contains(&other))
            };
            let open: Vec<_> = tried.judged.iter().enumerate().map(shut).collect();
            let (sample, step) = (&tried.row.sample, self.trial.training.step);
            let applicability = plan.applicability(at, planned, sample, &open, step);
            let verdict = self.engine.verify_ruled_out(at, sample, &tried.judged);
            if let (Applicability::Runs, Some(verdict)) = (applicability, verdict) {
                verdicts.push((tried.row, verdict));
            }
        }
        let failed = |(row, verdict): &(&Row, Verdict)| match &verdict.outcome {
            Outcome::Failed(fault) => Some(Example::of(row, reason(fault))),
            _ => None,
        };
        let failures: Vec<Example> = verdicts.iter().filter_map(failed).collect();
        let help = Some(format!(
            "add rows whose completions pass, or lower [combine] pass = {}",
            plan.config.combine.pass
        ));
        match failures.first().filter(|_| failures.len() == verdicts.len()) {
            Some(first) => {
                let tried = failures.len() as u64;
                let fails = failing("the verifier", tried, tried, first);
                let message = format!("{message}; tried beside it, {fails}");
                found.errors.push(self.at_reward(judged, Some(&first.reason), message, help));
            }
            None => found.warnings.push(self.at_reward(judged, None, message, help)),
        }
    }

    /// That no row has a reward, where nothing else says why.
    pub(super) fn of_rows(&self, found: &mut Found) {
        let has_reward = |tried: &Tried<'_>| matches!(tried.outcome, Outcome::Scored(_));
        let is_whole = |at: usize| !self.trial.depends.any(at);
        let rewards = self.plan().rewards.len();
        if !found.errors.is_empty()
            || !(0..rewards).all(is_whole)
            || self.trial.rows.iter().any(has_reward)
        {
            return;
        }
        let Some(first) = self.trial.rows.first() else { return };
        let outcome = crate::verdict::outcome(&first.outcome);
        let all = rows(self.trial.rows.len() as u64);
        let message = format!("no row has a reward: of {all}, row {} {outcome}", first.row.number);
        let example = Example::of(first.row, outcome);
        let error = self.document.error("combine", message).help(Some(self.look(&example)));
        found.errors.push(Problem::new("combine", error));
    }

    /// Settings that pay for cheats.
    pub(super) fn of_hacks(&self, rewards: &[RewardReport], found: &mut Found) {
        for (at, reward) in rewards.iter().enumerate() {
            let Some(cases) = &reward.cases else { continue };
            for by in &cases.by_settings {
                let Some(first) = by.settings.first() else { continue };
                let (settings, paid, tried) =
                    (by.settings.join(", "), count(by.paid), count(cases.tried));
                let message = format!(
                    "`{settings}` pays for {paid} of {tried} cheats that are known of {}, such as \"{}\" ({})",
                    reward.verifier, by.case, by.hack
                );
                let help = format!(
                    "`assay show {} --cases` shows them; leave the setting out unless such answers are right",
                    reward.verifier
                );
                let path = format!("reward[{at}].config.{first}");
                let error = self.document.error(&path, message).help(Some(help));
                let key = format!("reward.{}.config.{first}", reward.name);
                found.warnings.push(Problem::new(key, error));
            }
        }
    }

    /// A problem at the script of a reward, where it has one, else at the reward.
    fn at_reward(
        &self,
        judged: &Judged<'_>,
        reason: Option<&str>,
        message: String,
        help: Option<String>,
    ) -> Problem {
        let (at, name) = (judged.at, &judged.planned.name);
        if let Some(source) = self.source(Role::Reward(at)) {
            let part = reason.and_then(|reason| source.place_in(reason));
            return source.problem(self.document, part, message, help);
        }
        let error = self.document.error(&format!("reward[{at}].verifier"), message).help(help);
        Problem::new(format!("reward.{name}"), error)
    }

    pub(super) fn source(&self, role: Role) -> Option<&Source> {
        self.sources.iter().find(|source| source.role == role)
    }

    /// What to type where a verifier gives no reward, else the command that shows a row.
    fn typed(&self, judged: &Judged<'_>, first: &Example) -> String {
        if let Some(unpaid) = &judged.unpaid {
            return unpaid.help.clone();
        }
        let id = judged.planned.built.spec.id.as_ref();
        if let Some(help) = self.keyword(id, first) {
            return help;
        }
        let known = advice(id, &first.reason);
        known.map_or_else(|| self.look(first), str::to_owned)
    }

    /// A word of SQL that a gold query has misspelt.
    fn keyword(&self, id: &str, first: &Example) -> Option<String> {
        if id != "sql" || !first.reason.contains("syntax error") {
            return None;
        }
        let is_first = |tried: &&Tried<'_>| tried.row.number == first.row;
        let reference = self.trial.rows.iter().find(is_first)?.row.sample.reference()?;
        let query = reference.get("query").unwrap_or(reference).as_str()?;
        let (word, meant) = misspelt_keyword(query)?;
        Some(format!("did you mean {meant}? the gold query has `{word}`"))
    }

    /// The command that shows a row.
    pub(super) fn look(&self, first: &Example) -> String {
        let typed = |path: &PathBuf| path.display().to_string();
        let is_again = |path: &&PathBuf| path.as_os_str() != "-";
        let data: Vec<String> = self.data.iter().filter(is_again).map(typed).collect();
        let data = if data.is_empty() { "DATA".to_owned() } else { data.join(" ") };
        let config = self.config.display();
        format!("`assay explain {config} {data} --row {}` shows the row", first.row)
    }

    /// The values that the rows have where a `when` looks.
    fn values(&self, source: &Source) -> Option<String> {
        let tokens = words(&source.text, source.language);
        let roots = ["meta", "reference"];
        let mut told = Vec::new();
        for path in paths(&tokens, source.language, &roots, "") {
            let mut values = BTreeSet::new();
            for tried in &self.trial.rows {
                let start = paths::column(&path, &tried.row.sample);
                let value = start.and_then(|(value, rest)| {
                    rest.iter().try_fold(value?, |at, step| at.get(&step.name))
                });
                if let Some(value) = value.filter(|value| !value.is_object() && !value.is_array()) {
                    values.insert(value.to_string().chars().take(40).collect::<String>());
                }
                if values.len() > VALUES_MAX {
                    break;
                }
            }
            let names: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
            let more = if values.len() > VALUES_MAX { ", ..." } else { "" };
            let values = listed(values.iter().take(VALUES_MAX).map(String::as_str));
            if !values.is_empty() {
                told.push(format!("{} is {values}{more} in the rows", names.join(".")));
            }
        }
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// Shapes that only move what has turns or calls: what they note where there is none of these.
const IDLE: [(&str, &str, f64, &str); 4] = [
    ("tool_calls", "calls", 0.0, "there are no calls of tools"),
    ("search_penalty", "calls", 0.0, "there are no searches"),
    ("search_bonus", "searched", 0.0, "there are no searches"),
    ("turn_thrift", "turns", 1.0, "the completion is one turn"),
];

/// Why a shape moves nothing, by what it notes.
fn idle(kind: &str, notes: &Value) -> Option<String> {
    let (_, key, idle, why) = IDLE.iter().find(|(of, ..)| *of == kind)?;
    let found = match notes.get(key)? {
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        value => value.as_f64()?,
    };
    found.total_cmp(idle).is_eq().then(|| (*why).to_owned())
}

/// What fails on how many rows, and why on the first.
pub(super) fn failing(what: &str, failed: u64, of: u64, first: &Example) -> String {
    let Example { id, row, reason } = first;
    if failed == of {
        let rows = rows(of);
        format!("{what} fails on {rows}, first on row {row} ({id}): {reason}")
    } else {
        let (failed, of) = (count(failed), count(of));
        format!("{what} fails on {failed} of {of} rows, first on row {row} ({id}): {reason}")
    }
}

fn rows(all: u64) -> String {
    match all {
        1 => "the only row it was tried on".to_owned(),
        all => format!("each of the {} rows it was tried on", count(all)),
    }
}
