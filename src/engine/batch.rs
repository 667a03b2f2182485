//! Rows that were scored: their lines, and what is counted of them.

use assay_verifiers::{FaultKind, Outcome, Scored};
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
    /// Rows that were left out because they could not be read.
    pub skipped: Vec<RowError>,
}

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
        let verdicts = scored.verdicts.as_slice();
        for at in 0..rewards {
            let verdict = verdicts.get(at).map(|verdict| Tallied::from(&verdict.outcome));
            self.outcomes.push(verdict.unwrap_or(Tallied::Missing));
        }
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
