//! What an estimator reads, and what it returns.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::groups::Groups;
use crate::prelude::*;

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
    /// A reward for each token, such as a penalty for the divergence from the reference. It does not
    /// hold the reward of the rollout: an estimator of token returns adds that one at the last token
    /// that is trained on.
    pub token_rewards: Option<&'a Ragged<f64>>,
    /// The value that a critic predicts at each token.
    pub token_values: Option<&'a Ragged<f64>>,
    /// What the policy says of each token, where a baseline weighs tokens by it.
    pub policy: Option<PolicyTokens<'a>>,
    /// The steps of each response, in their order.
    pub steps: Option<&'a Ragged<StepReward>>,
    /// A tag for each step, such as the kind of its action.
    pub step_tags: Option<&'a Ragged<String>>,
    /// The first token of each response that is credited: what stands before it was not written anew,
    /// such as the prefix of a retry.
    pub starts: Option<&'a [usize]>,
    /// The role that each rollout played, such as the player of a game.
    pub roles: Option<&'a [String]>,
    /// The id of the prompt of each rollout, where an estimator keeps a state for each prompt.
    pub prompts: Option<&'a [String]>,
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

/// What the policy says of each token of a response.
#[derive(Clone, Copy, Debug)]
pub struct PolicyTokens<'a> {
    /// The log-probability of the token, in nats.
    pub log_probs: &'a Ragged<f64>,
    /// The sum of the squared probabilities of the vocabulary at the token.
    pub sum_pi_squared: &'a Ragged<f64>,
    /// The importance weight of the token, where the rollouts are of another policy.
    pub weights: Option<&'a Ragged<f64>>,
}

/// The reward of one step of a response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReward {
    /// Its first token; that behind the step before where it is not given. Tokens between two steps
    /// belong to neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// The token behind the last one of the step.
    pub end: usize,
    /// Its reward; NaN where it is missing.
    pub reward: f64,
}

impl StepReward {
    /// A step that begins where the one before ends.
    pub fn new(end: usize, reward: f64) -> Self {
        Self { start: None, end, reward }
    }

    /// The tokens of each step, of which none is in two.
    pub fn spans(steps: &[Self]) -> impl Iterator<Item = Range<usize>> {
        steps.iter().scan(0, |behind, step| {
            let start = step.start.unwrap_or(*behind).clamp(*behind, step.end.max(*behind));
            *behind = step.end.max(*behind);
            Some(start..*behind)
        })
    }
}

/// What an estimator keeps from batch to batch, by name. It is an input and an output, so that a call
/// stays a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
    /// Numbers that the estimator needs and that are missing, or do not fit together; rewards that are
    /// infinite, or so large that an advantage is.
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError>;

    /// The same, written to `out`, one number for each rollout. It is for large batches: estimators
    /// that look at one group at a time allocate nothing here.
    ///
    /// # Errors
    /// Those of [`Estimator::estimate`]; an estimator that has a state or an advantage for each token;
    /// another number of rollouts than `out` has room for.
    fn estimate_into(
        &self,
        batch: &RewardBatch<'_>,
        out: &mut [f64],
    ) -> Result<GroupReport, TrainerError> {
        let Advantages { values, report, state } = self.estimate(batch)?;
        match values {
            AdvantageValues::Rollouts(values) if state.0.is_empty() => {
                batch.groups.along("room for advantages", out.len())?;
                out.copy_from_slice(&values);
                Ok(report)
            }
            _ => Err(TrainerError::input(
                "advantages",
                "advantages of tokens, or a state",
                "one number for each rollout",
            )),
        }
    }
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
            token_values: None,
            policy: None,
            steps: None,
            step_tags: None,
            starts: None,
            roles: None,
            prompts: None,
            values: None,
            state: None,
        })
    }

    /// What the estimator `kind` needs for each rollout, such as `roles`.
    ///
    /// # Errors
    /// It is not given, or not for each rollout.
    pub fn needed<'v, T>(
        &self,
        kind: &str,
        what: &str,
        given: Option<&'v [T]>,
    ) -> Result<&'v [T], TrainerError> {
        let given = given.ok_or_else(|| missing(kind, what))?;
        self.groups.along(what, given.len())?;
        Ok(given)
    }

    /// What the estimator `kind` needs for each token or step of each rollout, such as `steps`.
    ///
    /// # Errors
    /// It is not given, or has not a row for each rollout.
    pub fn needed_rows<'v, T>(
        &self,
        kind: &str,
        what: &str,
        given: Option<&'v Ragged<T>>,
    ) -> Result<&'v Ragged<T>, TrainerError> {
        let given = given.ok_or_else(|| missing(kind, what))?;
        self.groups.along(what, given.rows())?;
        Ok(given)
    }
}

impl Advantages {
    /// Advantages of rollouts, by an estimator without a state.
    pub fn of_rollouts(values: Vec<f64>, report: GroupReport) -> Self {
        let values = AdvantageValues::Rollouts(values);
        Self { values, report, state: EstimatorState::default() }
    }

    /// Advantages of tokens, by an estimator without a state.
    pub fn of_tokens(values: Ragged<f64>, report: GroupReport) -> Self {
        let values = AdvantageValues::Tokens(values);
        Self { values, report, state: EstimatorState::default() }
    }
}

impl GroupReport {
    /// Takes up one group: how many of its rollouts have a reward, how many have none, and whether
    /// the rewards are all equal.
    pub fn group(&mut self, scored: usize, missing: usize, is_constant: bool) {
        self.groups += 1;
        self.missing += missing;
        match scored {
            0 => self.without_reward += 1,
            1 => self.of_one += 1,
            _ => self.without_variance += usize::from(is_constant),
        }
    }

    /// The report of both: that of `other` are other groups.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            groups: self.groups + other.groups,
            of_one: self.of_one + other.of_one,
            without_variance: self.without_variance + other.without_variance,
            without_reward: self.without_reward + other.without_reward,
            missing: self.missing + other.missing,
        }
    }
}

fn missing(kind: &str, what: &str) -> TrainerError {
    TrainerError::input(what, "not given", format!("what the estimator \"{kind}\" needs"))
}
