//! What a training keeps from step to step, beside weights and the moments of the optimiser.

use std::collections::BTreeMap;

use assay_verifiers::TrainingState;
use serde::{Deserialize, Serialize};

use super::sampling::SampledRollout;
use crate::advantages::EstimatorState;
use crate::losses::EntropyState;
use crate::monitor::MonitorMemory;
use crate::not_finite::Numbers;
use crate::reports::TaskEvaluation;
use crate::selection::SelectionState;

/// What a training keeps from step to step, beside weights and the moments of the optimiser: with
/// those, it goes on as if it had never stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainerState {
    /// Steps that were made.
    pub step: u64,
    /// Tasks that were drawn, over all passes through them.
    pub tasks_drawn: u64,
    /// Tokens of all sequences that were sampled, prompts included.
    pub tokens: u64,
    /// What rewards know of the training.
    pub training: TrainingState,
    /// How often the training went back to a checkpoint: each time it draws anew from there.
    pub roll_backs: u64,
    /// What the estimator of advantages keeps.
    #[serde(with = "crate::not_finite")]
    pub estimator: EstimatorState,
    /// What the selection keeps.
    pub selection: SelectionState,
    /// What an adaptive entropy coefficient keeps.
    pub entropy: Option<EntropyState>,
    /// How often tasks are sampled, relative to one another, where a selection says so: by their id.
    pub task_weights: BTreeMap<String, f64>,
    /// The share of right answers to tasks at each of their visits, the first one first, by their id;
    /// kept where the selection reads them.
    #[serde(with = "crate::not_finite", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub visits: BTreeMap<String, Vec<f64>>,
    /// The tasks that are held out, as they stood before the first step.
    pub baseline: Vec<TaskEvaluation>,
    /// What the hack monitor keeps.
    pub monitor: MonitorMemory,
    /// Rollouts that a selection holds or stores, by their names.
    pub(super) stored: BTreeMap<String, SampledRollout>,
}

impl Numbers for EstimatorState {
    type Form = <BTreeMap<String, Vec<f64>> as Numbers>::Form;

    fn form(&self) -> Self::Form {
        self.0.form()
    }

    fn of(form: Self::Form) -> Self {
        Self(Numbers::of(form))
    }
}
