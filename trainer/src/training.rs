//! Training: a policy learns from rewards.
//!
//! The settings ([`TrainConfig`](crate::config::TrainConfig)), what is asked of whoever pays rewards ([`RewardSource`]) and what is
//! reported ([`StepReport`], [`EvaluationReport`]) are plain data.

mod batch;
pub mod checkpoint;
mod collect;
mod error;
mod evaluation;
mod grpo;
#[cfg(test)]
mod loop_tests;
pub mod metrics;
pub mod optimizer;
pub mod rewards;
mod sampling;
mod seeds;
mod state;
mod step_metrics;
mod supervised;
#[cfg(test)]
mod testing;
mod tool;
#[cfg(test)]
mod tool_tests;
mod update;

pub use error::TrainingError;
pub use grpo::{GrpoTrainer, TrainingSetup};
pub use optimizer::{AdamW, AdamWState, UpdateReport};
pub use rewards::{
    PendingRewards, RewardReply, RewardSource, Rollout, RolloutReward, Task, TaskSet,
};
pub use state::TrainerState;
pub use supervised::{Demonstration, Warmup, WarmupReport};
pub use tool::{Tool, ToolReply};

pub use crate::reports::{
    EvaluationReport, RolloutReport, StepReport, TaskEvaluation, TrainingObserver,
};
