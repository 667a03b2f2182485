//! Calls of tools: reading them from completions, comparing them with what is expected, judging
//! them as the Berkeley Function-Calling Leaderboard does, and reading conversations as steps of
//! agents.
//!
//! The crate does no I/O and evaluates nothing that it reads.

mod bare;
pub mod bfcl;
mod body;
mod call;
pub mod compare;
mod cursor;
mod equal;
mod format;
mod json;
mod key;
mod matching;
mod python;
mod reader;
mod refusal;
pub mod schema;
mod shape;
mod syntax;
pub mod trajectory;
mod value;

pub use call::{Call, Calls};
pub use format::{Format, Reading};
pub use json::parse as parse_json;
pub use python::literal as parse_python;
pub use reader::read;
pub use refusal::{Code, Refusal};
pub use shape::in_message;
pub use value::{DEPTH_MAX, Equality, Object, Value};
