//! One line of `verdicts.jsonl` as the index reads it: of the evidence, its reason and fuel alone.

use std::borrow::Cow;

use assay_verifiers::OrderedMap;
use serde::Deserialize;
use serde_json::Value;

/// A row of the run.
#[derive(Deserialize)]
pub(crate) struct RowLine<'a> {
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    pub(crate) group: Option<String>,
    pub(crate) outcome: OutcomeWord,
    pub(crate) reward: Option<f64>,
    pub(crate) fault: Option<String>,
    #[serde(default)]
    pub(crate) verdicts: OrderedMap<PartLine>,
}

/// The verdict of one reward on a row.
#[derive(PartialEq, Deserialize)]
pub(crate) struct PartLine {
    pub(crate) outcome: OutcomeWord,
    pub(crate) reward: Option<f64>,
    pub(crate) fault: Option<String>,
    #[serde(default)]
    pub(crate) evidence: Glance,
    #[serde(default)]
    pub(crate) usage: Spent,
}

/// What is counted of the evidence. Its values are of any type.
#[derive(Default, PartialEq, Deserialize)]
pub(crate) struct Glance {
    pub(crate) reason: Option<Value>,
    pub(crate) fuel: Option<Value>,
}

/// What a verdict cost of models.
#[derive(Default, PartialEq, Deserialize)]
pub(crate) struct Spent {
    pub(crate) tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutcomeWord {
    Scored,
    Abstained,
    Failed,
}

/// A line of `timings.jsonl`.
#[derive(Deserialize)]
pub(crate) struct TimingLine {
    /// The number of the row over the whole input, from 0.
    pub(crate) row: u64,
    /// What each verdict took, in microseconds.
    #[serde(default)]
    pub(crate) us: OrderedMap<u64>,
}
