//! `grpo`: the reward of a rollout relative to its group.

use super::batch::GroupReport;
use super::conventions::{ClipRange, Singleton};
use super::per_group::{GroupRule, ScoredGroup, per_group, scored_rows};
use crate::advantages::prelude::*;
use crate::statistics::Deviations;

/// Group relative policy optimization: `A = (r - mean) / (std + eps)` over the rollouts of a prompt.
/// A group whose rewards are equal has advantages of exactly 0.
///
/// Source: "`DeepSeekMath`: Pushing the Limits of Mathematical Reasoning in Open Language Models",
/// section 4.1.2. The conventions of libraries are settings: TRL 1.16.0 `GRPOTrainer`, verl 0.9.1
/// `compute_grpo_outcome_advantage`, `OpenRLHF` 0.11.2 `group_norm` and `flash_reinforce`, `AReaL`
/// 1.0.4
/// `Normalization`, NeMo-RL `calculate_baseline_and_std_per_prompt`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Grpo {
    /// What the mean is taken over.
    pub center: NormLevel,
    /// Whether a rollout is part of the mean that it is compared with.
    pub baseline: MeanBaseline,
    /// What the standard deviation is taken over, `none` for no division.
    pub scale: NormLevel,
    /// Which standard deviation.
    #[default(Std::default().into())]
    pub std: RewardStd,
    /// Keeps the divisor above 0.
    #[default(EPS)]
    pub eps: f64,
    /// Where it enters the divisor.
    pub eps_at: EpsAt,
    /// The advantage of a rollout that is alone in its group.
    pub singleton: Singleton,
    /// The least and the greatest advantage.
    pub clip: Option<ClipRange>,
}

/// What a statistic is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NormLevel {
    /// The rollouts of a prompt.
    #[default]
    Group,
    /// All rollouts of the batch.
    Batch,
    /// Nothing: the statistic is left out.
    None,
}

/// Whether a rollout is part of the mean that it is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeanBaseline {
    /// It is.
    #[default]
    Mean,
    /// The mean is that of the others.
    LeaveOneOut,
}

/// Which standard deviation of rewards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RewardStd {
    /// The squares divided by one less than the count, as `torch.std` has it.
    Unbiased,
    /// The squares divided by the count, as `numpy.std` has it.
    Biased,
    /// The unbiased deviation of the other rollouts of the group; 0 where there is one other.
    LeaveOneOut,
    /// As `unbiased`, with deviations from the baseline in place of the mean.
    AboutBaseline,
}

impl From<Std> for RewardStd {
    fn from(std: Std) -> Self {
        match std {
            Std::Unbiased => Self::Unbiased,
            Std::Biased => Self::Biased,
        }
    }
}

impl EstimatorSettings for Grpo {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps", self.eps, 0.0..)?;
        if self.std == RewardStd::LeaveOneOut && self.scale == NormLevel::Batch {
            let message = "`std` is \"leave_one_out\", which has no meaning over a batch";
            return Err(TrainerError::setting("std", message));
        }
        ClipRange::check(self.clip)
    }
}

impl Estimator for Grpo {
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
        let std = match (self.center, self.baseline, self.scale, self.std) {
            (NormLevel::Group, MeanBaseline::Mean, NormLevel::Group, RewardStd::Unbiased) => {
                Std::Unbiased
            }
            (NormLevel::Group, MeanBaseline::Mean, NormLevel::Group, RewardStd::Biased) => {
                Std::Biased
            }
            _ => return self.general(batch, out),
        };
        per_group(batch, &[], out, &Standardized { grpo: self, std })
    }
}

/// The usual convention: mean and standard deviation of the group.
struct Standardized<'a> {
    grpo: &'a Grpo,
    std: Std,
}

impl GroupRule for Standardized<'_> {
    #[inline]
    fn quick(&self, rewards: &[f64], out: &mut [f64]) -> bool {
        Deviations::of(rewards).is_some_and(|deviations| self.write(&deviations, rewards, out))
    }

    #[inline]
    fn quick_groups<const SIZE: usize>(
        &self,
        rewards: &[[f64; SIZE]],
        out: &mut [[f64; SIZE]],
    ) -> u32 {
        let groups = Deviations::of_groups(rewards).zip(rewards).zip(out).enumerate();
        groups.fold(0, |written, (at, ((deviations, rewards), out))| {
            let write = |deviations| self.write(&deviations, rewards, out);
            written | (u32::from(deviations.is_some_and(write)) << at)
        })
    }

    fn advantages(&self, group: ScoredGroup<'_>, out: &mut [f64]) {
        if group.is_one() || group.is_constant {
            return out.fill(self.grpo.without_spread(&group));
        }
        let moments = group.moments();
        let divisor = self.grpo.eps_at.divisor(moments.std(self.std), self.grpo.eps);
        group.write(out, |reward| self.grpo.clipped(divided(reward - moments.mean, divisor)));
    }
}

impl Standardized<'_> {
    /// Writes the advantages of rewards with these deviations; false where they need more care.
    #[inline]
    fn write(&self, deviations: &Deviations, rewards: &[f64], out: &mut [f64]) -> bool {
        let std = match self.std {
            Std::Unbiased => deviations.std_unbiased(),
            Std::Biased => deviations.std_biased(),
        };
        let factor = 1.0 / self.grpo.eps_at.divisor(std, self.grpo.eps);
        if self.grpo.clip.is_some() || factor.is_infinite() {
            return false;
        }
        deviations.write(rewards, out, factor);
        true
    }
}

impl Grpo {
    /// What deviations of other rewards, such as those of steps, are divided by with these settings:
    /// 1 where nothing is.
    pub fn divisor(&self, moments: &Moments) -> f64 {
        let std = match self.std {
            RewardStd::Biased => moments.std_biased(),
            _ => moments.std_unbiased(),
        };
        match self.scale {
            NormLevel::None => 1.0,
            _ => self.eps_at.divisor(std, self.eps),
        }
    }

    /// Any convention: first the deviations, then the division.
    fn general(
        &self,
        batch: &RewardBatch<'_>,
        out: &mut [f64],
    ) -> Result<GroupReport, TrainerError> {
        let is_batch = self.center == NormLevel::Batch || self.scale == NormLevel::Batch;
        let whole = is_batch.then(|| Moments::of_rows(&scored_rows(batch, batch.rewards)));
        let report = per_group(batch, &[], out, &|group: ScoredGroup<'_>, out: &mut [f64]| {
            self.deviations(&group, whole.as_ref(), out);
            if self.scale == NormLevel::Group {
                self.divide(&group, out);
            }
        })?;
        if let (NormLevel::Batch, Some(whole)) = (self.scale, whole) {
            let std = match self.std {
                RewardStd::Biased => whole.std_biased(),
                RewardStd::AboutBaseline => {
                    Moments::of_rows_about(&scored_rows(batch, out), 0.0).std_unbiased()
                }
                _ => whole.std_unbiased(),
            };
            let divisor = self.eps_at.divisor(std, self.eps);
            rewrite(batch, out, |deviation| divided(deviation, divisor))?;
        }
        rewrite(batch, out, |advantage| self.clipped(advantage))?;
        Ok(report)
    }

    fn deviations(&self, group: &ScoredGroup<'_>, whole: Option<&Moments>, out: &mut [f64]) {
        let (mean, count) = match (self.center, whole) {
            (NormLevel::None, _) => return out.copy_from_slice(group.rewards),
            (NormLevel::Batch, Some(whole)) => (whole.mean, whole.count),
            _ if group.is_one() => return out.fill(self.singleton_deviation(group)),
            _ => (group.mean(), group.rewards.len()),
        };
        // r - mean of the others = (r - mean) n / (n - 1)
        let factor = match self.baseline {
            MeanBaseline::LeaveOneOut if count > 1 => float(count) / float(count - 1),
            _ => 1.0,
        };
        group.write(out, |reward| (reward - mean) * factor);
    }

    fn divide(&self, group: &ScoredGroup<'_>, out: &mut [f64]) {
        let moments = group.moments();
        let std = match self.std {
            _ if group.is_one() => match self.singleton {
                Singleton::Zero => 0.0,
                Singleton::Raw => 1.0,
            },
            RewardStd::LeaveOneOut => return self.divide_by_others(group, out),
            RewardStd::Unbiased => moments.std_unbiased(),
            RewardStd::Biased => moments.std_biased(),
            RewardStd::AboutBaseline => {
                Moments::of_rows_about(&[out.to_vec()].into_iter().collect(), 0.0).std_unbiased()
            }
        };
        let divisor = self.eps_at.divisor(std, self.eps);
        for out in out {
            *out = divided(*out, divisor);
        }
    }

    /// Each deviation by the standard deviation of the other rollouts. It is computed from these, not
    /// as a difference: what is left of equal rewards must be exactly 0.
    fn divide_by_others(&self, group: &ScoredGroup<'_>, out: &mut [f64]) {
        let mut others = Vec::with_capacity(group.rewards.len());
        for (at, out) in out.iter_mut().enumerate() {
            others.clear();
            let other = |(other, reward): (usize, &f64)| (other != at).then_some(*reward);
            others.extend(group.rewards.iter().enumerate().filter_map(other));
            let std = Moments::of(&others).std_unbiased();
            let std = if std.is_nan() { 0.0 } else { std };
            *out = divided(*out, self.eps_at.divisor(std, self.eps));
        }
    }

    /// The advantage of a group of one, or of equal rewards.
    fn without_spread(&self, group: &ScoredGroup<'_>) -> f64 {
        if !group.is_one() {
            return 0.0;
        }
        let divisor = self.eps_at.divisor(1.0, self.eps);
        self.clipped(divided(self.singleton_deviation(group), divisor))
    }

    fn singleton_deviation(&self, group: &ScoredGroup<'_>) -> f64 {
        match self.singleton {
            Singleton::Zero => 0.0,
            Singleton::Raw => group.mean(),
        }
    }

    #[inline]
    fn clipped(&self, advantage: f64) -> f64 {
        self.clip.map_or(advantage, |clip| clip.clipped(advantage))
    }
}

#[cfg(test)]
mod tests {
    use assay_verifiers::code::Code;

    use super::TrainerError;
    use crate::advantages::testing::{assert_close, rollouts, try_built};

    /// Mean 0.25, squares 0.75: unbiased variance 0.25, biased variance 0.1875.
    const ONE_OF_FOUR: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

    #[test]
    fn the_deviation_is_divided_by_the_standard_deviation() {
        for (settings, divisor) in [
            ("eps = 0", 0.5),
            ("eps = 0.5", 1.0),
            ("std = \"biased\"\neps = 0", 0.1875_f64.sqrt()),
            ("eps = 0.75\neps_at = \"variance\"", 1.0),
            ("eps = 4\neps_at = \"std_floor\"", 4.0),
            ("eps = 4\neps_at = \"variance_floor\"", 2.0),
            ("scale = \"none\"", 1.0),
            ("scale = \"batch\"\neps = 0", 0.5),
            ("std = \"about_baseline\"\neps = 0", 0.5),
        ] {
            let config = format!("kind = \"grpo\"\n{settings}");
            let expected = [0.75, -0.25, -0.25, -0.25].map(|deviation| deviation / divisor);
            assert_close(&rollouts(&config, &ONE_OF_FOUR, 4), &expected);
        }
    }

    #[test]
    fn equal_rewards_and_missing_ones_have_no_advantage() {
        let rewards = [0.1, 0.1, 0.1, f64::NAN, 2.0, f64::NAN, f64::NAN, f64::NAN];
        assert_eq!(rollouts("kind = \"grpo\"\neps = 0", &rewards, 4), [0.0; 8]);
        let raw = "kind = \"grpo\"\neps = 1\nsingleton = \"raw\"";
        assert_eq!(rollouts(raw, &rewards, 4), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let raw = format!("{raw}\nscale = \"none\"\nclip = [-1, 1.5]");
        assert_eq!(rollouts(&raw, &rewards, 4), [0.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn the_batch_is_a_level_too() {
        // Batch: mean 3.5, squares 2.25 + 0.25 + 6.25 + 12.25 = 21.
        let rewards = [5.0, 3.0, 6.0, 0.0];
        let batch = |settings: &str| {
            rollouts(
                &format!("kind = \"grpo\"\neps = 0\nscale = \"batch\"\n{settings}"),
                &rewards,
                2,
            )
        };
        let std = 7.0_f64.sqrt();
        let deviations = rewards.map(|reward| (reward - 3.5) / std);
        assert_close(&batch("center = \"batch\""), &deviations);
        let own = [1.0, -1.0, 3.0, -3.0];
        assert_close(&batch(""), &own.map(|deviation| deviation / std));
        assert_close(&batch("std = \"about_baseline\""), &own.map(|d| d / (20.0_f64 / 3.0).sqrt()));
        assert_close(&batch("center = \"none\""), &rewards.map(|reward| reward / std));
    }

    #[test]
    fn the_others_are_a_baseline_and_a_deviation() {
        // NeMo-RL: others of the first are equal, so it is not divided; others of the second are
        // 1, 0, 0 with mean 1/3 and unbiased variance 1/3.
        let config = "kind = \"grpo\"\nbaseline = \"leave_one_out\"\nstd = \"leave_one_out\"\n\
                      eps = 0\neps_at = \"positive_std\"";
        let rest = -(1.0 / 3.0) / (1.0_f64 / 3.0).sqrt();
        assert_close(&rollouts(config, &ONE_OF_FOUR, 4), &[1.0, rest, rest, rest]);
        assert_close(&rollouts(config, &[1.0, 0.0], 2), &[1.0, -1.0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (settings, named) in [
            ("eps = -1", "`eps` is -1"),
            ("clip = [1, 0]", "`clip` is [1, 0]"),
            ("epsilon = 1", "epsilon"),
            ("std = \"leave_one_out\"\nscale = \"batch\"", "no meaning over a batch"),
        ] {
            let error = try_built(&format!("kind = \"grpo\"\n{settings}")).err().unwrap();
            assert!(error.to_string().contains(named), "{error}");
        }
        let TrainerError::Setting(error) = try_built("kind = \"gpro\"").err().unwrap() else {
            panic!("no setting is at fault")
        };
        assert_eq!((error.code, &*error.setting), (Code::UnknownWord, "kind"));
        assert!(error.expected.iter().any(|kind| kind == "grpo"), "{:?}", error.expected);
    }
}
