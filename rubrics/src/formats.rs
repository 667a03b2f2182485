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

/// STUB
pub fn read_text(_: &str, bytes: &[u8]) -> Result<Rubric, RubricError> {
    let value: toml::Value = toml::from_str(&String::from_utf8_lossy(bytes))
        .map_err(|error| RubricError::new("", error.to_string()))?;
    read(serde_json::to_value(value).map_err(|error| RubricError::new("", error.to_string()))?)
}
