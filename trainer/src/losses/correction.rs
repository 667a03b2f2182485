//! What is done about rollouts that another policy generated than the one that is trained: weights,
//! and tokens or sequences that are left out.

pub mod importance;
pub mod m2po;
pub mod masking;
pub mod opsm;
pub mod rejection;

use importance::ImportanceSettings;
use m2po::M2poSettings;
use masking::{Rejected, reject};
use opsm::OpsmSettings;
use rejection::RejectionSettings;

use crate::losses::prelude::*;

/// The corrections, in the order in which they are made: what is stale, M2PO, importance weights and
/// what is out of bounds, OPSM, durations.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CorrectionSettings {
    /// Leaves out rollouts that are too many versions behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staleness: Option<StalenessSettings>,
    /// Leaves out the tokens of the greatest second moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m2po: Option<M2poSettings>,
    /// Leaves out what is out of bounds; each of these has to keep a token for it to stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reject: Vec<RejectionSettings>,
    /// Weighs the terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<ImportanceSettings>,
    /// Leaves out sequences of negative advantage that the policy has moved away from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opsm: Option<OpsmSettings>,
    /// Weighs the terms by how long their actions took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<DurationSettings>,
}

/// The bound on how stale a rollout may be (`AReaL`, section 5.1, `max_head_offpolicyness`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StalenessSettings {
    /// The most versions that a rollout may be behind the policy.
    pub max: u64,
    /// What becomes of a rollout that is further behind.
    #[serde(default)]
    pub rejected: Rejected,
}

/// Weights by duration: an action that takes long is sampled less often in the same time, and counts
/// for more. The duration of a token's action over the mean of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct DurationSettings {
    /// The least weight.
    #[default(0.1)]
    pub min: f64,
    /// The greatest weight.
    #[default(10.0)]
    pub max: f64,
}

/// What the corrections had to say.
pub type CorrectionMetrics = Vec<(&'static str, f64)>;

impl CorrectionSettings {
    /// Fails where a setting is out of range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        self.importance.as_ref().map_or(Ok(()), ImportanceSettings::check)?;
        self.m2po.as_ref().map_or(Ok(()), M2poSettings::check)?;
        self.opsm.as_ref().map_or(Ok(()), OpsmSettings::check)?;
        self.reject.iter().try_for_each(RejectionSettings::check)?;
        match self.duration {
            Some(duration) if !(0.0..=duration.max).contains(&duration.min) => {
                let message = format!(
                    "weights are from {} to {}, expected 0 <= min <= max",
                    duration.min, duration.max
                );
                Err(TrainerError::setting("correction.duration", message))
            }
            _ => Ok(()),
        }
    }

    /// Makes the corrections.
    ///
    /// # Errors
    /// Numbers that a correction needs and that the batch does not have.
    pub fn apply(&self, tokens: &mut TrainedTokens<'_>) -> Result<CorrectionMetrics, TrainerError> {
        let mut metrics = CorrectionMetrics::new();
        if let Some(staleness) = &self.staleness {
            let stale = staleness.stale(tokens)?;
            metrics.push(("stale_fraction", reject(tokens, staleness.rejected, &stale)));
        }
        if let Some(m2po) = &self.m2po {
            let dropped = m2po.dropped(tokens)?;
            metrics.push(("m2po_fraction", reject(tokens, m2po.rejected, &dropped)));
        }
        // Both are taken over the tokens that had a term before either.
        let rejected = rejection::dropped(&self.reject, tokens)?;
        if let Some(importance) = &self.importance {
            metrics.extend(importance.apply(tokens)?);
        }
        if !self.reject.is_empty() {
            metrics.push(("rejected_fraction", rejection::apply(tokens, &rejected)));
        }
        if let Some(opsm) = &self.opsm {
            let dropped = opsm.dropped(tokens)?;
            metrics.push(("opsm_fraction", reject(tokens, Rejected::Zero, &dropped)));
        }
        if let Some(duration) = &self.duration {
            duration.apply(tokens)?;
        }
        Ok(metrics)
    }
}

impl StalenessSettings {
    fn stale(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<bool>, TrainerError> {
        let staleness = tokens.batch.staleness.ok_or_else(|| {
            TrainerError::input("staleness", "none", "the versions that each rollout is behind")
        })?;
        let rows = staleness.iter().zip(tokens.mask.lengths());
        Ok(rows
            .flat_map(|(behind, length)| std::iter::repeat_n(*behind > self.max, length))
            .collect())
    }
}

impl DurationSettings {
    /// Multiplies what is kept by the weights, which hold for every objective alike.
    fn apply(&self, tokens: &mut TrainedTokens<'_>) -> Result<(), TrainerError> {
        let durations = tokens.given("durations", tokens.batch.durations)?;
        tokens.finite("durations", durations)?;
        let mean = tokens.mean(|token| at(durations, token.at));
        if mean <= 0.0 && tokens.trained() > 0.0 {
            let have = format!("a mean of {mean}");
            return Err(TrainerError::input("durations", have, "positive durations"));
        }
        let weights =
            tokens.list(1.0, |token| (at(durations, token.at) / mean).clamp(self.min, self.max));
        for (kept, weight) in tokens.kept.iter_mut().zip(weights) {
            *kept *= weight;
        }
        Ok(())
    }
}
