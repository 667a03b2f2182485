//! The tables of a configuration that trainers read, as values: `[advantage]`, `[select]`, `[loss]` and
//! `[train]`.
//!
//! They are read, written and described without what they configure: that is compiled with the features
//! `groups` and `train`.

mod advantage;
mod check;
mod generation;
mod loss;
mod monitor;
mod select;
mod tool;
mod train;

pub use advantage::AdvantageConfig;
pub use generation::GenerationConfig;
pub use loss::LossTable;
pub use monitor::{Alarm, MonitorConfig, OnWarning};
pub use select::SelectConfig;
pub use tool::{ToolConfig, ToolLanguage};
pub use train::{
    CheckpointConfig, EvaluationConfig, LoraConfig, LrScheduler, ModelConfig, NewModelConfig,
    OptimizerConfig, TrainConfig, WarmupConfig,
};
