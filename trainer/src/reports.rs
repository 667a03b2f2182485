//! What a training reports: after each step, after each evaluation.

mod warning;

use std::collections::BTreeMap;
use std::io;

use assay_verifiers::Message;
use serde::{Deserialize, Serialize};

pub use warning::{MonitorAction, MonitorWarning, ShownRollout};

use crate::diagnostics::SupportDynamics;

/// A step of the training.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StepReport {
    /// The step, counted from 1: how many updates of the sampler there were.
    pub step: u64,
    /// Its measurements, by TRL's names: `reward`, `reward_std`, `frac_reward_zero_std`,
    /// `rewards/NAME/mean`, `completions/mean_length`, `completions/clipped_ratio`, `entropy`, `kl`,
    /// `clip_ratio/region_mean`, `loss`, `grad_norm`, `learning_rate`, `step_time`, and, by names of
    /// our own, `accuracy`, `reward_faults` and `time/sampling`, `time/rewards`, `time/training`
    /// (seconds; `time/rewards` is time spent waiting for them).
    pub metrics: BTreeMap<String, f64>,
    /// The names of the parts of [`RolloutReport::parts`].
    pub parts: Vec<String>,
    /// What was sampled, group after group.
    pub rollouts: Vec<RolloutReport>,
    /// What the hack monitor warns of.
    pub warnings: Vec<MonitorWarning>,
}

/// A completion of a step, and what it earned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RolloutReport {
    /// The id of its task.
    pub task: String,
    /// The prompt as the policy saw it.
    pub prompt: String,
    /// Which group of the step.
    pub group: u64,
    /// The completion as text.
    pub completion: String,
    /// The same as messages, where there is a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Its length in tokens, without results of a tool.
    pub tokens: usize,
    /// Whether it was cut at a limit.
    pub truncated: bool,
    /// The reward; `None` where there is none.
    pub reward: Option<f64>,
    /// The rewards that it was combined from, in the order of [`StepReport::parts`].
    pub parts: Vec<Option<f64>>,
    /// Whether the answer is right, from 0 to 1, where a reward says so.
    pub correct: Option<f64>,
    /// What failed, where something did.
    pub fault: Option<String>,
    /// The advantage: the mean over the tokens where each has its own.
    pub advantage: f64,
    /// The mean entropy of its tokens, in nats.
    pub entropy: f64,
}

/// An evaluation on the tasks that are held out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EvaluationReport {
    /// The step after which it was done; 0 is before the first.
    pub step: u64,
    /// The share of tasks whose greedy completion is right.
    pub accuracy: f64,
    /// The mean reward of the greedy completions; `None` where none has one.
    pub reward: Option<f64>,
    /// The mean length of the greedy completions, in tokens.
    pub mean_length: f64,
    /// Pass@k of the sampled completions, for each k; empty where none were sampled.
    pub pass_at_k: Vec<(usize, f64)>,
    /// What became of the tasks that could be solved before the training: support shrinkage; `None`
    /// where nothing was sampled.
    pub support: Option<SupportDynamics>,
    /// Each task.
    pub tasks: Vec<TaskEvaluation>,
    /// What the hack monitor warns of.
    pub warnings: Vec<MonitorWarning>,
}

/// A task of an evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskEvaluation {
    /// Its id.
    pub id: String,
    /// Its greedy completion.
    pub completion: String,
    /// What that earned.
    pub reward: Option<f64>,
    /// Whether it is right, from 0 to 1.
    pub correct: Option<f64>,
    /// How many completions were sampled.
    pub samples: usize,
    /// How many of them are right.
    pub samples_correct: usize,
}

/// Whoever watches a training.
pub trait TrainingObserver {
    /// After each step.
    ///
    /// # Errors
    /// What cannot be written. The training stops with it: it is not to run for hours unseen.
    fn on_step(&mut self, report: &StepReport) -> io::Result<()>;

    /// After each evaluation.
    ///
    /// # Errors
    /// As for [`Self::on_step`].
    fn on_evaluation(&mut self, report: &EvaluationReport) -> io::Result<()>;
}
