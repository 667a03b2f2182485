//! Reading a rubric of our own format, TOML or JSON.

use assay_verifiers::from_value;
use serde_json::Value;

use super::types::{Rubric, RubricError};

impl Rubric {
    /// A rubric of our own format, checked.
    ///
    /// # Errors
    /// A key that is unknown or of another type, and whatever [`Rubric::check`] refuses.
    pub fn from_value(value: &Value) -> Result<Self, RubricError> {
        let rubric: Self = from_value(value).map_err(|error| {
            let place = if error.setting.is_empty() { ".".to_owned() } else { error.setting };
            RubricError::new(place, error.message)
        })?;
        rubric.check()?;
        Ok(rubric)
    }
}
