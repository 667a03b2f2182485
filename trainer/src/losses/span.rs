//! A least and a greatest value, each of which may be left out.

use crate::losses::prelude::*;

/// A least and a greatest value. Both count as inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Span {
    /// The least value; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest value; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Span {
    /// From `-width` to `width`.
    pub fn around_zero(width: f64) -> Self {
        Self { min: Some(-width), max: Some(width) }
    }

    /// The value brought inside, and the derivative of doing so: 1 inside, 0 outside.
    pub fn clamp(&self, value: f64) -> (f64, f64) {
        match (self.min, self.max) {
            (_, Some(max)) if value > max => (max, 0.0),
            (Some(min), _) if value < min => (min, 0.0),
            _ => (value, 1.0),
        }
    }

    /// Whether a value is inside.
    pub fn contains(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    /// Fails where the least value is above the greatest, or one is no number.
    ///
    /// # Errors
    /// Names the setting and its bounds.
    pub fn check(&self, setting: &str) -> Result<(), TrainerError> {
        let (min, max) = (self.min.unwrap_or(f64::NEG_INFINITY), self.max.unwrap_or(f64::INFINITY));
        if min <= max {
            return Ok(());
        }
        let message = format!("`{setting}` is from {min} to {max}, expected min <= max");
        Err(TrainerError::setting(setting, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inside() {
        let span = Span::around_zero(2.0);
        let clamped = [-3.0, -2.0, 0.5, 2.0, 3.0].map(|value| span.clamp(value));
        assert_eq!(clamped, [(-2.0, 0.0), (-2.0, 1.0), (0.5, 1.0), (2.0, 1.0), (2.0, 0.0)]);
        assert!(span.contains(2.0) && !span.contains(2.1) && Span::default().contains(1e300));
        let crossed = Span { min: Some(2.0), max: Some(1.0) };
        assert!(crossed.check("clamp").unwrap_err().to_string().contains("from 2 to 1"));
    }
}
