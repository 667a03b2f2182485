//! Where libraries differ: which standard deviation, where the epsilon, what of a group of one.

use serde::de::DeserializeOwned;

pub use assay_verifiers::deviation::{EPS, Std, VARIANCE_EPS};

use super::batch::Estimator;
use crate::prelude::*;

/// An estimator is its settings, read by serde. Its doc comment is its manual page.
pub trait EstimatorSettings:
    Estimator + DeserializeOwned + Serialize + JsonSchema + 'static
{
    /// Refuses settings that are out of range.
    ///
    /// # Errors
    /// The setting at fault.
    fn check(&self) -> Result<(), TrainerError> {
        Ok(())
    }
}

/// Where the epsilon enters the divisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpsAt {
    /// `std + eps`.
    #[default]
    Std,
    /// `std + eps` where the deviation is above 0, and no division where it is 0.
    PositiveStd,
    /// `max(std, eps)`.
    StdFloor,
    /// `sqrt(variance + eps)`.
    Variance,
    /// `sqrt(max(variance, eps))`.
    VarianceFloor,
}

/// The advantage of a rollout that has nothing to be compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Singleton {
    /// 0: nothing is learned from it.
    #[default]
    Zero,
    /// Its reward: the baseline is 0, and a standard deviation is 1.
    Raw,
}

/// The least and the greatest advantage: what is beyond is set to them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ClipRange(pub [f64; 2]);

/// What is done with all tokens of a batch together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Whiten {
    /// Their mean is taken off, and they are divided by their standard deviation.
    #[default]
    Tokens,
    /// Their mean is taken off.
    Center,
    /// Nothing.
    None,
}

impl ClipRange {
    /// The advantage, within the range.
    #[inline]
    pub fn clipped(self, advantage: f64) -> f64 {
        let Self([low, high]) = self;
        advantage.max(low).min(high)
    }

    /// Refuses a range without a number in it.
    ///
    /// # Errors
    /// The setting `clip`.
    pub fn check(range: Option<Self>) -> Result<(), TrainerError> {
        match range {
            Some(Self([low, high])) if low.is_nan() || high.is_nan() || low > high => {
                let message =
                    format!("`clip` is [{low}, {high}], expected a lower and an upper bound");
                Err(TrainerError::setting("clip", message))
            }
            _ => Ok(()),
        }
    }
}

impl EpsAt {
    /// What deviations are divided by. It may be 0 or NaN, see [`divided`].
    #[inline]
    pub fn divisor(self, std: f64, eps: f64) -> f64 {
        match self {
            Self::Std => std + eps,
            Self::PositiveStd if std > 0.0 => std + eps,
            Self::PositiveStd => 1.0,
            Self::StdFloor => std.max(eps),
            // The variance may be beyond the range of numbers where the deviation is not.
            Self::Variance if std > 1e100 => std,
            Self::Variance => (std * std + eps).sqrt(),
            Self::VarianceFloor => std.max(eps.sqrt()),
        }
    }
}

/// A deviation by its divisor: 0 where there is nothing to divide by.
#[inline]
pub fn divided(deviation: f64, divisor: f64) -> f64 {
    if divisor > 0.0 { deviation / divisor } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epsilon_enters_where_it_is_said_to() {
        let divisors = |std: f64| {
            [EpsAt::Std, EpsAt::PositiveStd, EpsAt::StdFloor, EpsAt::Variance, EpsAt::VarianceFloor]
                .map(|at| at.divisor(std, 0.25))
                .to_vec()
        };
        assert_eq!(divisors(0.0), [0.25, 1.0, 0.25, 0.5, 0.5]);
        assert_eq!(divisors(2.0), [2.25, 2.25, 2.0, 4.25_f64.sqrt(), 2.0]);
        assert_eq!((divided(1.0, 0.0), divided(1.0, f64::NAN), divided(1.0, 2.0)), (0.0, 0.0, 0.5));
    }
}
