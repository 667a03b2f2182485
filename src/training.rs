//! Training with the rewards of an engine: tasks as its reader reads them, chat templates, rewards.
//!
//! The loop is [`crate::trainer::training`]; what it asks for is here, made of an
//! [`Engine`](crate::Engine) and its configuration.

mod chat;
mod rewards;
mod tasks;
#[cfg(feature = "sandbox")]
mod tool;

pub use chat::ChatTemplate;
pub use rewards::{EngineRewards, TaskSamples};
pub use tasks::{TaskError, TaskReader, TaskRows};
#[cfg(feature = "sandbox")]
pub use tool::SandboxTool;
