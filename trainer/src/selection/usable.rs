//! Of which groups something is learned.

use assay_verifiers::Reward;

use crate::selection::prelude::*;

/// Which groups are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupTest {
    pub(crate) by: KeepBy,
    pub(crate) std_above: f64,
    pub(crate) std: Std,
    pub(crate) between: (f64, f64),
    pub(crate) pass_at: f64,
    pub(crate) singles: Singles,
}

/// By what a group is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeepBy {
    /// The standard deviation of its rewards.
    #[default]
    Std,
    /// The mean of its rewards.
    Mean,
    /// Its share of right answers.
    PassRate,
}

/// What becomes of a group in which one rollout alone has a reward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Singles {
    /// It is dropped: there is nothing to compare the rollout with.
    #[default]
    Drop,
    /// It is kept.
    Keep,
    /// It is judged as a group of more is.
    Judge,
}

/// The default of `between`.
pub(crate) fn zero_to_one() -> (f64, f64) {
    (0.0, 1.0)
}

/// The default of `pass_at`.
pub(crate) fn right() -> f64 {
    Reward::RIGHT
}

impl GroupTest {
    pub(crate) fn check(&self) -> Result<(), TrainerError> {
        if self.between.0.partial_cmp(&self.between.1) != Some(std::cmp::Ordering::Less) {
            let message = format!("`between` is {:?}, expected a lower one first", self.between);
            return Err(TrainerError::setting("between", message));
        }
        within("std_above", self.std_above, 0.0..)
    }

    /// Whether a group is kept; where it is not, its rollouts are dropped.
    pub(crate) fn keep(&self, batch: &RolloutBatch<'_>, group: usize, fates: &mut Fates) -> bool {
        let members = batch.groups.members(group);
        let rewards: Vec<f64> = batch.scored(&members).into_iter().map(|(_, r)| r).collect();
        match self.judge(batch, group, &rewards) {
            Ok(()) => true,
            Err(reason) => {
                fates.drop_all(members.rows(), reason);
                false
            }
        }
    }

    fn judge(
        &self,
        batch: &RolloutBatch<'_>,
        group: usize,
        rewards: &[f64],
    ) -> Result<(), DropReason> {
        match (rewards.len(), self.singles) {
            (0, _) => return Err(DropReason::MissingReward),
            (1, Singles::Drop) => return Err(DropReason::Single),
            (1, Singles::Keep) => return Ok(()),
            _ => {}
        }
        let value = match (self.by, batch.pass_rates) {
            (KeepBy::Std, _) if stats::std(rewards, self.std) > self.std_above => return Ok(()),
            (KeepBy::Std, _) => return Err(DropReason::LowVariance),
            (KeepBy::Mean, _) => stats::mean(rewards),
            (KeepBy::PassRate, None) => stats::pass_rate(rewards, self.pass_at),
            (KeepBy::PassRate, Some(rates)) => rates.get(group).copied().unwrap_or(f64::NAN),
        };
        match value {
            value if value.is_nan() => Err(DropReason::MissingMeasure),
            value if value <= self.between.0 => Err(DropReason::BelowBand),
            value if value >= self.between.1 => Err(DropReason::AboveBand),
            _ => Ok(()),
        }
    }
}
