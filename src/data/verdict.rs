//! A row of verdicts, as columns hold it.

/// One row of the verdicts of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRow {
    /// The id of the sample.
    pub id: String,
    /// `scored`, `abstained` or `failed`.
    pub outcome: String,
    /// The reward of the sample, where it was scored.
    pub reward: Option<f64>,
    /// The fault that left the sample without a reward.
    pub fault: Option<String>,
    /// Why the sample has no reward.
    pub why: Option<String>,
    /// The reward that each verifier gave, in the order of the names.
    pub rewards: Vec<Option<f64>>,
    /// The verdicts, as JSON text.
    pub verdicts: String,
}
