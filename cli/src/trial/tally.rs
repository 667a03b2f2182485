//! What came of each reward, and of their combination, on the rows as they are.

use assay::Plan;
use assay::engine::Applicability;
use assay::verifiers::{Fault, FaultKind, Outcome, Reward, Verdict};
use serde::Serialize;

use super::read::Row;
use super::{Trial, Tried};

/// Characters of a reason that are told.
const REASON_CHARS: usize = 300;
/// Reasons of abstentions that are told apart.
const REASONS_MAX: usize = 8;

/// Rows, by what became of them. The keys are part of the command-line contract.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RowsTally {
    pub(crate) rows: u64,
    pub(crate) scored: u64,
    pub(crate) abstained: u64,
    pub(crate) failed: u64,
    /// Its `when` is false.
    pub(crate) not_applicable: u64,
    /// Its `when` gives neither true nor false.
    pub(crate) when_failed: u64,
    /// A gate did not pass.
    pub(crate) behind_gate: u64,
    /// It hangs on a model or a judge, which was not asked.
    pub(crate) not_asked: u64,
    /// The least and the greatest reward.
    #[serde(skip)]
    pub(crate) range: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_abstained: Option<Example>,
    /// Why rows abstained, such as for a package that their programs import, in the order of their first rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    abstained_for: Vec<Abstention>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_failed: Option<Example>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_when_failed: Option<Example>,
}

/// Rows that abstained for one reason.
#[derive(Clone, Debug, Serialize)]
struct Abstention {
    rows: u64,
    #[serde(flatten)]
    first: Example,
}

/// A row, and what is said of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Example {
    pub(crate) id: String,
    pub(crate) row: u64,
    pub(crate) reason: String,
    /// Where a script went wrong.
    #[serde(skip)]
    pub(crate) place: Option<(usize, usize)>,
    /// Its kind, where it is a fault.
    #[serde(skip)]
    pub(crate) kind: Option<FaultKind>,
}

impl Example {
    pub(crate) fn of(row: &Row, reason: impl Into<String>) -> Self {
        let id = row.sample.id().to_owned();
        Self { id, row: row.number, reason: reason.into(), place: None, kind: None }
    }
}

impl RowsTally {
    /// Rows on which there is a verdict.
    pub(crate) fn judged(&self) -> u64 {
        self.scored + self.abstained + self.failed
    }

    /// Rows on which the `when` was tried.
    pub(crate) fn tried(&self) -> u64 {
        self.judged() + self.not_applicable + self.when_failed
    }

    /// The reward that every one of several rows has.
    pub(crate) fn constant(&self) -> Option<f64> {
        let (least, most) = self.range?;
        (self.scored > 1 && least.to_bits() == most.to_bits()).then_some(least)
    }

    pub(crate) fn add(&mut self, row: &Row, outcome: &Outcome) {
        match outcome {
            Outcome::Scored(reward) => {
                self.scored += 1;
                let own = reward.get();
                let (least, most) = self.range.unwrap_or((own, own));
                self.range = Some((least.min(own), most.max(own)));
            }
            Outcome::Abstained(why) => {
                self.abstained += 1;
                note(&mut self.first_abstained, row, why, None);
                self.count(row, why);
            }
            Outcome::Failed(fault) => {
                self.failed += 1;
                note(&mut self.first_failed, row, &fault.to_string(), Some(fault));
            }
        }
    }

    fn count(&mut self, row: &Row, why: &str) {
        let reason: String = why.chars().take(REASON_CHARS).collect();
        if let Some(own) = self.abstained_for.iter_mut().find(|own| own.first.reason == reason) {
            own.rows += 1;
        } else if self.abstained_for.len() < REASONS_MAX {
            self.abstained_for.push(Abstention { rows: 1, first: Example::of(row, reason) });
        }
    }
}

fn note(first: &mut Option<Example>, row: &Row, reason: &str, fault: Option<&Fault>) {
    first.get_or_insert_with(|| Example {
        place: fault.and_then(|fault| fault.place).map(|(line, at)| (line.into(), at.into())),
        kind: fault.map(|fault| fault.kind),
        ..Example::of(row, reason.chars().take(REASON_CHARS).collect::<String>())
    });
}

/// What came of the reward at `at`.
pub(crate) fn of_reward(plan: &Plan, trial: &Trial<'_>, at: usize) -> RowsTally {
    let mut tally = RowsTally { rows: trial.rows.len() as u64, ..RowsTally::default() };
    let Some(hangs) = trial.hangs.get(at) else { return tally };
    for tried in &trial.rows {
        if hangs.when && !tried.asked {
            tally.not_asked += 1;
            continue;
        }
        match tried.applicability(plan, at, trial.training.step) {
            Applicability::BehindGate(_) => tally.behind_gate += 1,
            Applicability::NotApplicable => tally.not_applicable += 1,
            Applicability::Undecided(fault) => {
                tally.when_failed += 1;
                note(&mut tally.first_when_failed, tried.row, &fault.why, Some(&fault));
            }
            Applicability::Runs if hangs.by_verifier() && !tried.asked => tally.not_asked += 1,
            Applicability::Runs => {
                if let Some(verdict) = tried.verdicts.get(at) {
                    tally.add(tried.row, &verdict.outcome);
                }
            }
        }
    }
    tally
}

/// What came of the combination, on rows of which no verdict that counts failed. In the place of answers
/// that were not asked for stand rewards: an expression fails where it fails with each of them.
pub(crate) fn of_combination(plan: &Plan, trial: &Trial<'_>) -> RowsTally {
    let mut tally = RowsTally { rows: trial.rows.len() as u64, ..RowsTally::default() };
    for tried in &trial.rows {
        let outcomes = stand_ins(trial, tried);
        let outcomes = outcomes.iter().filter(|own| plan.combiner.unrewarded(own, 0).is_none());
        let outcomes: Vec<Outcome> = outcomes.map(|own| plan.combiner.combine(own, 0)).collect();
        let is_failed = |outcome: &&Outcome| matches!(outcome, Outcome::Failed(_));
        let told = outcomes.iter().find(|outcome| !is_failed(outcome)).or(outcomes.first());
        if let Some(outcome) = told {
            tally.add(tried.row, outcome);
        }
    }
    tally
}

/// The verdicts of a row, with each reward in the place of what was not asked.
fn stand_ins(trial: &Trial<'_>, tried: &Tried<'_>) -> Vec<Vec<Verdict>> {
    let is_open = |at: usize| !tried.asked && trial.hangs(at);
    if !(0..tried.verdicts.len()).any(is_open) {
        return vec![tried.verdicts.clone()];
    }
    let with = |reward: f64| {
        let stand_in = Reward::new(reward).map(Verdict::scored);
        let one = |(at, verdict): (usize, &Verdict)| {
            stand_in.clone().filter(|_| is_open(at)).unwrap_or_else(|| verdict.clone())
        };
        tried.verdicts.iter().enumerate().map(one).collect()
    };
    [1.0, 0.5, 0.0].map(with).to_vec()
}
