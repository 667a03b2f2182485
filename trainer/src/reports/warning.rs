//! What the monitor tells.

use serde::{Deserialize, Serialize};

use crate::config::Alarm;

/// A warning, with the rollouts that show what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MonitorWarning {
    /// Which alarm.
    pub alarm: Alarm,
    /// The step after which it is told.
    pub step: u64,
    /// What is seen, as a sentence with its numbers and limits.
    pub message: String,
    /// The rollouts of this step, or the tasks of this evaluation, that show it: the worst first.
    pub rollouts: Vec<ShownRollout>,
    /// What is to be done.
    pub action: MonitorAction,
}

/// What is to be done about a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorAction {
    /// Nothing: it is told.
    Warn,
    /// The training stops.
    Stop,
    /// The training goes on from the newest checkpoint that is not after a step.
    RollBack {
        /// The last step before the signal began; 0 is the start.
        to_step: u64,
    },
}

/// A rollout that a warning shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownRollout {
    /// The id of its task.
    pub task: String,
    /// Its completion; of a very long one, its beginning.
    pub completion: String,
    /// Its reward.
    pub reward: Option<f64>,
    /// The rewards that it was combined from, by name.
    pub parts: Vec<(String, Option<f64>)>,
    /// Whether it is right, 0 to 1.
    pub correct: Option<f64>,
    /// Its advantage; `None` of an evaluation.
    pub advantage: Option<f64>,
    /// Its length in tokens; `None` of an evaluation.
    pub tokens: Option<usize>,
    /// What failed.
    pub fault: Option<String>,
}
