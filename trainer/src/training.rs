//! Training: a policy learns from rewards.
//!
//! The settings ([`TrainConfig`]), what is asked of whoever pays rewards ([`RewardSource`]) and what is
//! reported ([`StepReport`], [`EvaluationReport`]) are plain data.

pub mod checkpoint;
pub mod config;
pub mod metrics;
pub mod optimizer;
pub mod report;
pub mod rewards;

pub use config::TrainConfig;
pub use optimizer::{AdamW, AdamWState, UpdateReport};
pub use report::{EvaluationReport, RolloutReport, StepReport, TaskEvaluation, TrainingObserver};
pub use rewards::{
    PendingRewards, RewardReply, RewardSource, Rollout, RolloutReward, Task, TaskSet,
};
