//! The tests of a task, from every shape in which people have them.

mod bounded;
mod cases;
mod error;
mod inputs;
mod json;
mod kind;
mod limits;
mod node;
mod operations;
mod program;
mod rows;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::answer::Asked;
pub use error::SuiteError;
pub use kind::{Assertions, CallCase, CallTarget, Calls, Kind, StdioCase, Suite};
pub use limits::{BYTES_MAX, CASES_MAX, DEPTH_MAX, DIGITS_MAX, VALUES_MAX};
use node::Node;

impl Suite {
    /// Reads a suite from an object, from JSON text (which may itself hold JSON text), or from the
    /// program of the tests.
    ///
    /// # Errors
    /// The key at fault, what was expected there and what was found.
    pub fn from_value(value: &Value) -> Result<Self, SuiteError> {
        let data = match value {
            Value::String(text) => match json::nested(text, "") {
                Err(SuiteError::NotJson { .. }) if program::is_program(text) => {
                    return program::suite(text);
                }
                read => read?,
            },
            value => cases::with_nulls(bounded::from_value(value)?),
        };
        rows::suite(&Node::root(&rows::opened(data)?), None)
    }

    /// The function that the tests are about, where they name one.
    pub fn entry_point(&self) -> Option<&str> {
        match &self.kind {
            Kind::Assertions(tests) => tests.entry_point.as_deref(),
            Kind::Calls(calls) => Some(&calls.entry_point),
            Kind::Stdio { .. } | Kind::Grader { .. } => None,
        }
    }

    /// What a program is asked for: the function that the tests are about, or what they call.
    pub fn asked(&self) -> Asked<'_> {
        let tests = match &self.kind {
            Kind::Assertions(tests) => Some(tests.test.as_str()),
            Kind::Calls(_) | Kind::Stdio { .. } | Kind::Grader { .. } => None,
        };
        Asked { entry_point: self.entry_point(), tests }
    }
}
