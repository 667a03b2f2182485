//! Rows that were scored: their lines, and what is counted of them.

use assay_verifiers::{FaultKind, Outcome, Scored, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::RowError;

/// Some rows, done: the bytes to append, and what to count.
#[derive(Debug, Default)]
pub struct Batch {
    /// Lines for `verdicts.jsonl`.
    pub verdicts: Vec<u8>,
    /// Lines for `timings.jsonl`.
    pub timings: Vec<u8>,
    /// Rows of the output.
    pub rows: usize,
    /// Those of them that were scored now, and not by an earlier session.
    pub scored: usize,
    /// What each row came to: its own outcome, then those of its rewards; one row after the other.
    pub outcomes: Vec<Tallied>,
    /// The label of each row, where the configuration names a column of labels.
    pub labels: Vec<RowLabel>,
    /// The group of each row: rows of one group have the same number. 0 is a row without a group.
    pub groups: Vec<u64>,
    /// The first of these rows that has no reward for a reason of its kind.
    pub reasons: Vec<Reason>,
    /// Rows that earn although a reward abstained because they have no reference.
    pub unreferenced: u64,
    /// The rows that took longest, the slowest first.
    pub slowest: Vec<SlowRow>,
    /// Rows that were left out because they could not be read.
    pub skipped: Vec<RowError>,
}

/// Why a row has no reward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The reward, counted from 1 in the order of the configuration; 0 is that of the row.
    pub reward: usize,
    /// The fault; without one the verifier abstained.
    pub fault: Option<FaultKind>,
    /// The row, and the reason in words.
    pub example: RowReason,
}

/// A row, and what was said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowReason {
    /// The id of the sample.
    pub id: String,
    /// Why it has no reward.
    pub reason: String,
}

/// How long a row took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowRow {
    /// The number of the row over the whole input, from 0.
    pub row: u64,
    /// The id of the sample.
    pub id: String,
    /// All of its verdicts together, in nanoseconds.
    pub spent_ns: u64,
    /// The reward that took most of it.
    pub reward: usize,
}

/// How many of the slowest rows are told.
const SLOWEST: usize = 5;
/// The most characters of a reason that is told.
const REASON_CHARS: usize = 300;

/// What a row is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLabel {
    /// The number of the row over the whole input, from 0.
    pub row: u64,
    /// The id of the sample.
    pub id: String,
    /// The label, where the row has one.
    pub label: Option<Value>,
}

impl Batch {
    /// Counts a row of a run with `rewards` rewards.
    pub(super) fn count(&mut self, scored: &Scored, rewards: usize) {
        self.rows += 1;
        self.outcomes.push(Tallied::from(&scored.outcome));
        self.note(0, &scored.outcome, &scored.id);
        let verdicts = scored.verdicts.as_slice();
        let mut lacks_reference = false;
        for at in 0..rewards {
            let outcome = verdicts.get(at).map(|verdict| &verdict.outcome);
            self.outcomes.push(outcome.map_or(Tallied::Missing, Tallied::from));
            if let Some(outcome) = outcome {
                self.note(at + 1, outcome, &scored.id);
                lacks_reference |=
                    matches!(outcome, Outcome::Abstained(why) if why == Verdict::NO_REFERENCE);
            }
        }
        let earns = scored.outcome.reward().is_some_and(|reward| reward.get() > 0.0);
        self.unreferenced += u64::from(earns && lacks_reference);
    }

    /// Keeps the reason of an outcome that is not a reward, where it is the first of its kind.
    fn note(&mut self, reward: usize, outcome: &Outcome, id: &str) {
        let (fault, why) = match outcome {
            Outcome::Scored(_) => return,
            Outcome::Abstained(why) => (None, &**why),
            Outcome::Failed(fault) => (Some(fault.kind), &*fault.why),
        };
        if !self.reasons.iter().any(|own| own.reward == reward && own.fault == fault) {
            let reason = why.chars().take(REASON_CHARS).collect();
            let example = RowReason { id: id.to_owned(), reason };
            self.reasons.push(Reason { reward, fault, example });
        }
    }

    /// Keeps a row that was judged now, where it is one of the slowest.
    pub(super) fn note_time(&mut self, scored: &Scored, row: u64) {
        let spent_ns: u64 = scored.spent_ns.iter().sum();
        let at = self.slowest.partition_point(|slow| slow.spent_ns >= spent_ns);
        if at < SLOWEST && spent_ns > 0 {
            let most = scored.spent_ns.iter().enumerate().max_by_key(|(_, ns)| **ns);
            let (id, reward) = (scored.id.clone(), most.map_or(0, |(reward, _)| reward));
            self.slowest.insert(at, SlowRow { row, id, spent_ns, reward });
            self.slowest.truncate(SLOWEST);
        }
    }
}

impl SlowRow {
    /// Puts the slowest rows of two batches together.
    pub fn merge(all: &mut Vec<Self>, others: &[Self]) {
        all.extend_from_slice(others);
        all.sort_by(|one, other| other.spent_ns.cmp(&one.spent_ns).then(one.row.cmp(&other.row)));
        all.truncate(SLOWEST);
    }
}

/// An outcome, as summaries count it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tallied {
    /// With its reward.
    Scored(f64),
    /// Without a reward.
    Abstained,
    /// Without a reward, for a fault.
    Failed(FaultKind),
    /// There is no verdict, because the row could not be read.
    Missing,
}

impl From<&Outcome> for Tallied {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Scored(reward) => Self::Scored(reward.get()),
            Outcome::Abstained(_) => Self::Abstained,
            Outcome::Failed(fault) => Self::Failed(fault.kind),
        }
    }
}
