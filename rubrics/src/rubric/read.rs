//! Reading a rubric of our own format, TOML or JSON.

use serde_json::Value;

use super::types::{Rubric, RubricError};

impl Rubric {
    /// A rubric of our own format, checked.
    ///
    /// # Errors
    /// A key that is unknown or of another type, and whatever [`Rubric::check`] refuses.
    pub fn from_value(value: Value) -> Result<Self, RubricError> {
        let rubric: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            RubricError::new(error.path().to_string(), error.inner().to_string())
        })?;
        rubric.check()?;
        Ok(rubric)
    }
}
