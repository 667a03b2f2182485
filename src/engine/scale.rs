//! What `normalise` does, and by what it divides.

use assay_trainer::statistics::Moments;
use assay_verifiers::Std;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether rewards are normalised over the samples of their prompt: `(reward - mean) / (std + eps)`.
/// What failed or abstained is in no mean. A sample that has nothing to be compared with earns 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Normalise {
    /// They are not.
    #[default]
    None,
    /// Rewards become one, bounded by `clamp`, which is then normalised ("sum then normalise").
    SumThen,
    /// Each reward is normalised, and then they become one ("normalise then sum"; GDPO: Group
    /// reward-Decoupled Normalization Policy Optimization, section "Method").
    ThenSum,
}

impl Normalise {
    /// Whether nothing is normalised.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The standard deviation by which a reward is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deviation {
    /// The squares divided by one less than the count.
    Unbiased,
    /// The squares divided by the count.
    Biased,
    /// None: the mean is taken off, and nothing is divided.
    None,
}

impl Default for Deviation {
    fn default() -> Self {
        match Std::default() {
            Std::Unbiased => Self::Unbiased,
            Std::Biased => Self::Biased,
        }
    }
}

/// By what rewards are divided once their mean is taken off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) std: Deviation,
    pub(super) eps: f64,
}

impl Scale {
    /// Rewards without the mean of their group, over its standard deviation. NaN is a reward that is
    /// missing, and stays NaN.
    pub(super) fn normalised(self, rewards: &[f64]) -> Vec<f64> {
        let there: Vec<f64> = rewards.iter().copied().filter(|reward| !reward.is_nan()).collect();
        let moments = Moments::of(&there);
        let divisor = match self.std {
            _ if moments.is_constant => 1.0,
            Deviation::Unbiased => moments.std_unbiased() + self.eps,
            Deviation::Biased => moments.std_biased() + self.eps,
            Deviation::None => 1.0,
        };
        rewards.iter().map(|reward| (reward - moments.mean) / divisor).collect()
    }
}
