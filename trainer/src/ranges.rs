//! Ranges of numbers that settings have.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::RangeBounds;

use crate::error::TrainerError;

/// Refuses a number that is out of the range, or not finite.
pub(crate) fn within(
    setting: &str,
    value: f64,
    range: impl RangeBounds<f64>,
) -> Result<(), TrainerError> {
    if value.is_finite() && range.contains(&value) {
        return Ok(());
    }
    let expected = match (range.start_bound(), range.end_bound()) {
        (Included(min), Unbounded) => format!("{min} or more"),
        (Excluded(min), Unbounded) => format!("more than {min}"),
        (Included(min), Included(max)) => format!("{min} to {max}"),
        (Included(min), Excluded(max)) => format!("{min} to below {max}"),
        (Excluded(min), Included(max)) => format!("above {min} to {max}"),
        _ => "a finite number".to_owned(),
    };
    Err(TrainerError::setting(setting, format!("`{setting}` is {value}, expected {expected}")))
}

/// Refuses a number that is not above the bound.
pub(crate) fn above(setting: &str, value: f64, bound: f64) -> Result<(), TrainerError> {
    within(setting, value, (Excluded(bound), Unbounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_range_is_named() {
        for (error, text) in [
            (within("eps", -1.0, 0.0..), "`eps` is -1, expected 0 or more"),
            (above("tau", 0.0, 0.0), "`tau` is 0, expected more than 0"),
            (within("gamma", 2.0, 0.0..=1.0), "`gamma` is 2, expected 0 to 1"),
            (within("decay", 1.0, 0.0..1.0), "`decay` is 1, expected 0 to below 1"),
            (within("perfect", f64::INFINITY, ..), "`perfect` is inf, expected a finite number"),
        ] {
            assert_eq!(error.unwrap_err().to_string(), text);
        }
        assert_eq!(within("eps", 0.0, 0.0..), Ok(()));
    }
}
