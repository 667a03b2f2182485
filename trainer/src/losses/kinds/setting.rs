//! Ranges of numbers that settings have.

use crate::error::TrainerError;

/// Fails where a setting is not above a bound, or not finite.
///
/// # Errors
/// Names the setting, what it is and what was expected.
pub fn above(bound: f64, name: &str, value: f64) -> Result<(), TrainerError> {
    if value.is_finite() && value > bound {
        return Ok(());
    }
    let message = format!("`{name}` is {value}, expected a number above {bound}");
    Err(TrainerError::setting(name, message))
}

/// Fails where a setting is negative, or not finite.
///
/// # Errors
/// Names the setting and what it is.
pub fn not_negative(name: &str, value: f64) -> Result<(), TrainerError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    let message = format!("`{name}` is {value}, expected a finite number of 0 or more");
    Err(TrainerError::setting(name, message))
}
