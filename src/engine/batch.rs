//! Rows that were scored: their lines, and what is counted of them.

use assay_verifiers::{FaultKind, Outcome};
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
    /// The id and the label of each row, where the configuration names a column of labels.
    pub labels: Vec<(String, Option<Value>)>,
    /// Rows that were left out because they could not be read.
    pub skipped: Vec<RowError>,
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
