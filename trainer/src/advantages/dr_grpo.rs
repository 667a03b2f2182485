//! `dr_grpo`: the reward of a rollout less the mean of its group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, GroupReport, RewardBatch};
use super::conventions::{ClipRange, EstimatorSettings, Singleton};
use super::per_group::{GroupRule, ScoredGroup, per_group};
use crate::statistics::Deviations;
use crate::error::TrainerError;

/// Dr. GRPO: `A = r - mean` over the rollouts of a prompt, without a division by the standard
/// deviation, which would weigh prompts by how hard they are.
///
/// Source: "Understanding R1-Zero-Like Training: A Critical Perspective"; TRL 1.16.0
/// `scale_rewards="none"`, verl 0.9.1 `norm_adv_by_std_in_grpo=False`, `OpenRLHF` 0.11.2 `dr_grpo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrGrpo {
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
    /// The least and the greatest advantage.
    pub clip: Option<ClipRange>,
}

impl EstimatorSettings for DrGrpo {
    fn check(&self) -> Result<(), TrainerError> {
        ClipRange::check(self.clip)
    }
}

impl Estimator for DrGrpo {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let mut out = vec![0.0; batch.rewards.len()];
        let report = self.estimate_into(batch, &mut out)?;
        Ok(Advantages::of_rollouts(out, report))
    }

    fn estimate_into(
        &self,
        batch: &RewardBatch<'_>,
        out: &mut [f64],
    ) -> Result<GroupReport, TrainerError> {
        per_group(batch, &[], out, self)
    }
}

impl GroupRule for DrGrpo {
    #[inline]
    fn quick(&self, rewards: &[f64], out: &mut [f64]) -> bool {
        let deviations = Deviations::of(rewards).filter(|_| self.clip.is_none());
        let Some(deviations) = deviations else { return false };
        deviations.write(rewards, out, 1.0);
        true
    }

    fn advantages(&self, group: ScoredGroup<'_>, out: &mut [f64]) {
        let mean = match self.singleton {
            Singleton::Raw if group.is_one() => 0.0,
            _ => group.mean(),
        };
        let clipped = |advantage| self.clip.map_or(advantage, |clip| clip.clipped(advantage));
        group.write(out, |reward| clipped(reward - mean));
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::testing::{estimated, rollouts};

    #[test]
    fn the_mean_is_taken_off() {
        let rewards = [1.0, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1];
        let expected = [0.75, -0.25, -0.25, -0.25, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(rollouts(r#"kind = "dr_grpo""#, &rewards, 4), expected);
        assert_eq!(rollouts(r#"kind = "dr_grpo""#, &[3.0], 1), [0.0]);
        let raw = "kind = \"dr_grpo\"\nsingleton = \"raw\"\nclip = [0, 2.5]";
        assert_eq!(rollouts(raw, &[3.0, f64::NAN], 2), [2.5, 0.0]);
        let report = estimated(raw, &[3.0, f64::NAN, 1.0, 1.0], 2).report;
        assert_eq!((report.groups, report.of_one, report.without_variance), (2, 1, 1));
        assert_eq!((report.missing, report.without_reward), (1, 0));
    }
}
