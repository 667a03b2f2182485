//! Rubrics of others, read as they are.

use serde_json::Value;

use crate::rubric::{Rubric, RubricError};

/// A rubric of any known format.
///
/// # Errors
/// A value of no known format, or what is wrong with it.
pub fn read(value: Value) -> Result<Rubric, RubricError> {
    Rubric::from_value(value)
}
