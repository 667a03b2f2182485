//! How the rewards of steps become one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the rewards of steps become the reward of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepTotal {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// That of the last step.
    Last,
    /// Their product.
    Product,
    /// The exponential of the mean of their logarithms; 0 where one is 0 or less.
    GeometricMean,
}

impl StepTotal {
    /// The sum, as a default.
    pub(crate) fn sum() -> Self {
        Self::Sum
    }

    /// The mean, as a default.
    pub(crate) fn mean() -> Self {
        Self::Mean
    }

    /// The reward of these steps. `None` without steps.
    pub(crate) fn of(self, steps: &[f64]) -> Option<f64> {
        let last = *steps.last()?;
        let count = f64::from(u32::try_from(steps.len()).unwrap_or(u32::MAX));
        Some(match self {
            Self::Sum => steps.iter().sum(),
            Self::Mean => steps.iter().sum::<f64>() / count,
            Self::Min => steps.iter().copied().fold(last, f64::min),
            Self::Max => steps.iter().copied().fold(last, f64::max),
            Self::Last => last,
            Self::Product => steps.iter().product(),
            Self::GeometricMean if steps.iter().any(|step| *step <= 0.0) => 0.0,
            Self::GeometricMean => (steps.iter().map(|step| step.ln()).sum::<f64>() / count).exp(),
        })
    }
}
