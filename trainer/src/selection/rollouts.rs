//! The rollouts of a batch, as a selection policy is given them.

use std::borrow::Cow;

use crate::groups::{Groups, Members};
use crate::prelude::*;

/// The rollouts of a batch, and what policies need beside their rewards. Only `groups` and `rewards`
/// must be given; a policy that needs more says so in its error.
///
/// A reward that is missing is NaN. Its rollout is never kept: no policy can tell what it is worth.
#[derive(Clone, Copy, Debug)]
pub struct RolloutBatch<'a> {
    /// Which rollouts share a prompt.
    pub groups: &'a Groups,
    /// The reward of each rollout.
    pub rewards: &'a [f64],
    /// What each rollout is called in what is stored for later. Without it a rollout is called by its
    /// batch and its row, such as `3:17`.
    pub ids: Option<&'a [String]>,
    /// What the prompt of each group is called. Without it a prompt is called by its batch and its
    /// group, such as `3:2`.
    pub prompts: Option<&'a [String]>,
    /// The advantage of each rollout; 0 where its reward is missing.
    pub advantages: Option<&'a [f64]>,
    /// Tokens of each response.
    pub lengths: Option<&'a [usize]>,
    /// Which responses were cut at the length limit.
    pub truncated: Option<&'a [bool]>,
    /// The mean of the step rewards of each rollout; NaN where it is missing.
    pub step_means: Option<&'a [f64]>,
    /// How many steps each rollout has.
    pub step_counts: Option<&'a [usize]>,
    /// The share of right answers to the prompt of each group, from 0 to 1, where it is known from
    /// elsewhere; NaN where it is missing.
    pub pass_rates: Option<&'a [f64]>,
    /// The accuracy on the prompt of each group after each epoch; NaN where it is missing.
    pub curves: Option<&'a Ragged<f64>>,
    /// Which rollouts were asked for in addition to those of a first pass.
    pub extra: Option<&'a [bool]>,
    /// Which try each rollout was.
    pub attempts: Option<&'a [Attempt]>,
    /// The version of the policy that made the oldest token of each rollout.
    pub versions: Option<&'a [u64]>,
    /// The version of the policy that is trained.
    pub version: Option<u64>,
}

/// A first try, or a retry of one after a reflection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Attempt {
    /// The row of the first try; none for a first try.
    pub retry_of: Option<usize>,
    /// The token of this rollout at which the retry leaves the first try; 0 for a first try.
    pub pivot: usize,
    /// The token of the first try at which the retry leaves it; 0 for a first try.
    pub pivot_of_first: usize,
    /// Whether the reflection judged the first try to be perfect.
    pub judged_perfect: bool,
}

impl<'a> RolloutBatch<'a> {
    /// The rollouts of groups and their rewards, and nothing else.
    ///
    /// # Errors
    /// Not one reward for each row of the groups, or a reward that is infinite.
    pub fn new(groups: &'a Groups, rewards: &'a [f64]) -> Result<Self, TrainerError> {
        groups.along("rewards", rewards.len())?;
        if let Some(reward) = rewards.iter().find(|reward| reward.is_infinite()) {
            let expected = "finite numbers, or NaN where a reward is missing";
            return Err(TrainerError::input("rewards", reward.to_string(), expected));
        }
        Ok(Self {
            groups,
            rewards,
            ids: None,
            prompts: None,
            advantages: None,
            lengths: None,
            truncated: None,
            step_means: None,
            step_counts: None,
            pass_rates: None,
            curves: None,
            extra: None,
            attempts: None,
            versions: None,
            version: None,
        })
    }

    /// How many rollouts there are.
    pub fn rows(&self) -> usize {
        self.rewards.len()
    }

    /// Fails where a column that is given does not have one value for each row, or each group.
    ///
    /// # Errors
    /// The column and its length.
    pub fn check(&self) -> Result<(), TrainerError> {
        let along_rows = [
            ("rewards", Some(self.rewards.len())),
            ("ids", self.ids.map(<[_]>::len)),
            ("advantages", self.advantages.map(<[_]>::len)),
            ("lengths", self.lengths.map(<[_]>::len)),
            ("truncated", self.truncated.map(<[_]>::len)),
            ("step_means", self.step_means.map(<[_]>::len)),
            ("step_counts", self.step_counts.map(<[_]>::len)),
            ("extra", self.extra.map(<[_]>::len)),
            ("attempts", self.attempts.map(<[_]>::len)),
            ("versions", self.versions.map(<[_]>::len)),
        ];
        for (what, len) in along_rows {
            len.map_or(Ok(()), |len| self.groups.along(what, len))?;
        }
        let along_groups = [
            ("prompts", self.prompts.map(<[_]>::len)),
            ("pass_rates", self.pass_rates.map(<[_]>::len)),
            ("curves", self.curves.map(Ragged::rows)),
        ];
        for (what, len) in along_groups {
            if let Some(len) = len.filter(|len| *len != self.groups.len()) {
                let expected = format!("{}: one for each group", self.groups.len());
                return Err(TrainerError::input(what, format!("{len} values"), expected));
            }
        }
        let advantages = self.advantages.unwrap_or_default();
        if let Some(wrong) = advantages.iter().find(|advantage| !advantage.is_finite()) {
            let expected = "finite numbers, 0 where the reward is missing";
            return Err(TrainerError::input("advantages", wrong.to_string(), expected));
        }
        Ok(())
    }

    /// A column that the policy cannot do without.
    ///
    /// # Errors
    /// It is not given.
    pub fn need<T>(&self, what: &str, column: Option<T>) -> Result<T, TrainerError> {
        column
            .ok_or_else(|| TrainerError::input(what, "not given", "one for each rollout or group"))
    }

    /// The reward of a row; none where it is missing.
    pub fn reward(&self, row: usize) -> Option<f64> {
        self.rewards.get(row).copied().filter(|reward| !reward.is_nan())
    }

    /// The rows of a group that have a reward, with their rewards.
    pub fn scored(&self, members: &Members<'_>) -> Vec<(usize, f64)> {
        members.rows().filter_map(|row| Some((row, self.reward(row)?))).collect()
    }

    /// Whether a rollout was asked for in addition to those of a first pass.
    pub fn is_extra(&self, row: usize) -> bool {
        self.extra.and_then(|extra| extra.get(row)).copied().unwrap_or_default()
    }

    /// What a rollout is called in the batch that is number `batch`.
    pub fn id(&self, row: usize, batch: u64) -> Cow<'a, str> {
        let given = self.ids.and_then(|ids| ids.get(row));
        given.map_or_else(|| Cow::Owned(format!("{batch}:{row}")), |id| Cow::Borrowed(id.as_str()))
    }

    /// What the prompt of a group is called in the batch that is number `batch`.
    pub fn prompt(&self, group: usize, batch: u64) -> Cow<'a, str> {
        let given = self.prompts.and_then(|prompts| prompts.get(group));
        given
            .map_or_else(|| Cow::Owned(format!("{batch}:{group}")), |id| Cow::Borrowed(id.as_str()))
    }
}

/// One value of a column; the default where there is none.
pub(crate) fn at<T: Copy + Default>(column: &[T], row: usize) -> T {
    column.get(row).copied().unwrap_or_default()
}
