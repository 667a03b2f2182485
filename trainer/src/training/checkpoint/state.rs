//! The small part of a checkpoint.

use assay_verifiers::TrainingState;
use serde::{Deserialize, Serialize};

use super::numbers::{from_json, to_json};
use crate::advantages::EstimatorState;
use crate::losses::EntropyState;
use crate::selection::SelectionState;
use crate::training::report::TaskEvaluation;

/// What the GRPO loop keeps from step to step, besides weights and moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointState {
    /// Steps that were made.
    pub step: u64,
    /// From which everything random is drawn.
    pub seed: u64,
    /// The position in the data: how many tasks were drawn.
    pub tasks_drawn: u64,
    /// What whoever pays rewards is told, and their running moments.
    pub training: TrainingState,
    /// What the estimator of advantages keeps.
    pub advantages: EstimatorState,
    /// What the selection keeps.
    pub selection: SelectionState,
    /// What an adaptive entropy coefficient keeps.
    pub entropy: Option<EntropyState>,
    /// The samples before the first step, which support shrinkage is measured from.
    pub baseline: Vec<TaskEvaluation>,
}

impl CheckpointState {
    /// The state as JSON. Numbers that are not finite are `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// A value that JSON has no form for.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        to_json(self)
    }

    /// Reads what [`Self::to_json`] gave: the same state, but for the sign and payload of NaN.
    ///
    /// # Errors
    /// A field that is unknown, missing or of another type.
    pub fn from_json(value: serde_json::Value) -> Result<Self, serde_json::Error> {
        from_json(value)
    }
}
