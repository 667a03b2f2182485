//! Why a training ended before its last step.

use crate::error::TrainerError;
use crate::policy::PolicyError;

/// Why a training ended before its last step.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// A setting of the training, or of its advantages, loss or selection; numbers that do not fit.
    #[error(transparent)]
    Numbers(#[from] TrainerError),
    /// The policy, its tokenizer or a file of theirs.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// There are no rewards.
    #[error("rewards of step {step}: {message}")]
    Rewards {
        /// The step that asked for them.
        step: u64,
        /// Why.
        message: String,
    },
    /// A tool that could not answer a call, which is not at fault.
    #[error("tool: {0}")]
    Tool(String),
    /// Whoever watches the training could not keep what it was told.
    #[error("what the training reports: {0}")]
    Report(std::io::Error),
}
