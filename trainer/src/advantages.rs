//! Advantages: what a rollout earned, relative to the other rollouts of its batch.

pub mod statistics;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::TrainerError;
use crate::groups::Groups;
use crate::ragged::Ragged;

/// The rewards of a batch, and what estimators need beside them. Only `groups` and `rewards` must be
/// given; an estimator that needs more says so in its error.
///
/// A reward that is missing is NaN: it takes part in no statistic, and its advantage is 0.
#[derive(Clone, Copy, Debug)]
pub struct RewardBatch<'a> {
    /// Which rollouts share a prompt.
    pub groups: &'a Groups,
    /// The reward of each rollout.
    pub rewards: &'a [f64],
    /// The parts that the rewards were combined from, where they are normalised one by one.
    pub parts: &'a [RewardPart<'a>],
    /// Tokens of each response that are trained on, where `mask` is not given.
    pub lengths: Option<&'a [usize]>,
    /// Which tokens of each response are trained on.
    pub mask: Option<&'a Ragged<bool>>,
    /// A reward for each token, such as a penalty for the divergence from the reference; the rewards
    /// of the rollouts are not added to them.
    pub token_rewards: Option<&'a Ragged<f64>>,
    /// The steps of each response, in their order.
    pub steps: Option<&'a Ragged<StepReward>>,
    /// The role that each rollout played, such as the player of a game.
    pub roles: Option<&'a [String]>,
    /// A value that was predicted for each rollout, where an estimator takes one as its baseline.
    pub values: Option<&'a [f64]>,
    /// What the estimator kept from the batches before; none at first.
    pub state: Option<&'a EstimatorState>,
}

/// One reward of several, for each rollout.
#[derive(Clone, Copy, Debug)]
pub struct RewardPart<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its weight in the sum.
    pub weight: f64,
    /// The reward of each rollout; NaN where it is missing.
    pub rewards: &'a [f64],
}

/// The reward of one step of a response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReward {
    /// The token behind the last one of the step.
    pub end: usize,
    /// Its reward; NaN where it is missing.
    pub reward: f64,
}

/// What an estimator keeps from batch to batch, by name. It is an input and an output, so that a call
/// stays a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EstimatorState(pub BTreeMap<String, Vec<f64>>);

/// The advantages of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Advantages {
    /// The advantages.
    pub values: AdvantageValues,
    /// What is to be said of the groups.
    pub report: GroupReport,
    /// What the estimator keeps for the next batch; empty for one without a state.
    pub state: EstimatorState,
}

/// Advantages for rollouts, or for tokens.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AdvantageValues {
    /// One for each rollout: all of its tokens share it.
    Rollouts(Vec<f64>),
    /// One for each token.
    Tokens(Ragged<f64>),
}

/// What is to be said of the groups of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupReport {
    /// Groups.
    pub groups: usize,
    /// Groups in which one rollout alone has a reward: nothing to compare it with.
    pub of_one: usize,
    /// Groups of more, all of whose rewards are equal: nothing is learned from them.
    pub without_variance: usize,
    /// Groups in which no rollout has a reward.
    pub without_reward: usize,
    /// Rollouts without a reward.
    pub missing: usize,
}

/// How rewards become advantages.
pub trait Estimator: Send + Sync {
    /// The advantages of a batch.
    ///
    /// # Errors
    /// Numbers that the estimator needs and that are missing, or do not fit together.
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError>;
}

impl<'a> RewardBatch<'a> {
    /// The rewards of groups, and nothing else.
    ///
    /// # Errors
    /// Not one reward for each row of the groups.
    pub fn new(groups: &'a Groups, rewards: &'a [f64]) -> Result<Self, TrainerError> {
        groups.along("rewards", rewards.len())?;
        Ok(Self {
            groups,
            rewards,
            parts: &[],
            lengths: None,
            mask: None,
            token_rewards: None,
            steps: None,
            roles: None,
            values: None,
            state: None,
        })
    }
}
