//! The languages of programs that read standard input and write standard output, and how each is run.

#[cfg(feature = "c")]
pub mod c;
mod interpreter;
pub mod javascript;
pub mod module;
mod python;
mod ready;

pub(crate) use interpreter::Interpreter;
pub use interpreter::Written;
pub use ready::Input;
pub(crate) use ready::{Ready, Unready};
