//! Advantages as a request and a reply, in columns: the shape of `/v1/groups` of the daemon, of
//! `assay advantages` and of Python.
//!
//! ```
//! use assay_trainer::request::AdvantageRequest;
//!
//! let request: AdvantageRequest = serde_json::from_str(
//!     r#"{"advantage": {"preset": "trl-1.16"}, "groups": ["a", "a", "b"], "rewards": [1.0, 0.0, null]}"#,
//! )?;
//! let reply = serde_json::to_value(request.answer(None)?)?;
//! assert_eq!(reply["report"]["missing"], 1);
//! assert_eq!(reply["advantages"][2], 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::advantages::{
    AdvantageConfig, AdvantageValues, Advantages, Estimator, EstimatorState, GroupReport,
    PolicyTokens, RewardBatch, RewardPart, StepReward,
};
use crate::prelude::*;

/// A batch of rollouts whose advantages are wanted. Every column has a value for each rollout; what an
/// estimator does not need may be left out.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvantageRequest {
    /// The estimator: `kind`, `preset` and settings. By default the `[advantage]` of the
    /// configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<AdvantageConfig>,
    /// Which rollouts share a prompt.
    pub groups: GroupColumn,
    /// The reward of each rollout; null where it is missing.
    pub rewards: Vec<Option<f64>>,
    /// The rewards that these were combined from, where an estimator normalises them one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartColumn>,
    /// Tokens of each response that are trained on, where `mask` is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Vec<usize>>,
    /// Which tokens of each response are trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<bool>>>")]
    pub mask: Option<Ragged<bool>>,
    /// A reward for each token, such as a penalty for the divergence from the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<f64>>>")]
    pub token_rewards: Option<Ragged<f64>>,
    /// The value that a critic predicts at each token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<f64>>>")]
    pub token_values: Option<Ragged<f64>>,
    /// What the policy says of each token, where a baseline weighs tokens by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyColumns>,
    /// The steps of each response, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<StepReward>>>")]
    pub steps: Option<Ragged<StepReward>>,
    /// A tag for each step, such as the kind of its action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<String>>>")]
    pub step_tags: Option<Ragged<String>>,
    /// The first token of each response that is credited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Vec<usize>>,
    /// The role that each rollout played, such as the player of a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// The id of the prompt of each rollout, where an estimator keeps a state for each prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<String>>,
    /// A value that was predicted for each rollout; null where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Option<f64>>>,
    /// What the estimator kept from the batches before: the `state` of the last reply.
    #[serde(default)]
    pub state: EstimatorState,
}

/// Which rollouts share a prompt.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum GroupColumn {
    /// Groups of one size, one after another.
    Size(usize),
    /// A key for each rollout; equal keys are a group, wherever they stand.
    Numbers(Vec<i64>),
    /// The same, of texts.
    Texts(Vec<String>),
}

/// One reward of several, for each rollout.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartColumn {
    /// Its name.
    pub name: String,
    /// Its weight in the sum.
    #[serde(default = "one")]
    pub weight: f64,
    /// The reward of each rollout; null where it is missing.
    pub rewards: Vec<Option<f64>>,
}

/// What the policy says of each token of each response.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyColumns {
    /// The log-probability of the token, in nats.
    #[schemars(with = "Vec<Vec<f64>>")]
    pub log_probs: Ragged<f64>,
    /// The sum of the squared probabilities of the vocabulary at the token.
    #[schemars(with = "Vec<Vec<f64>>")]
    pub sum_pi_squared: Ragged<f64>,
    /// The importance weight of the token, where the rollouts are of another policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<f64>>>")]
    pub weights: Option<Ragged<f64>>,
}

/// The advantages of a request.
#[derive(Clone, Debug, Serialize)]
pub struct AdvantageReply {
    /// A number for each rollout, or a list of numbers, one for each of its tokens.
    pub advantages: AdvantageValues,
    /// What is to be said of the groups.
    pub report: GroupReport,
    /// What the estimator keeps for the next batch; empty for one without a state.
    pub state: EstimatorState,
}

impl AdvantageRequest {
    /// A request for the rewards of groups, and nothing else.
    pub fn new(groups: GroupColumn, rewards: Vec<Option<f64>>) -> Self {
        Self {
            advantage: None,
            groups,
            rewards,
            parts: Vec::new(),
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
            state: EstimatorState::default(),
        }
    }

    /// The advantages, by the estimator of the request, else that of `config`.
    ///
    /// # Errors
    /// No estimator at all, or settings that it refuses; columns that it needs, or that do not fit
    /// together.
    pub fn answer(&self, config: Option<&AdvantageConfig>) -> Result<AdvantageReply, TrainerError> {
        let Some(config) = self.advantage.as_ref().or(config) else {
            let message = "neither `kind` nor `preset` is given, and the configuration has no \
                           [advantage]";
            return Err(TrainerError::setting("advantage", message));
        };
        self.estimate(&*config.build()?)
    }

    fn estimate(&self, estimator: &dyn Estimator) -> Result<AdvantageReply, TrainerError> {
        let groups = self.groups.groups(self.rewards.len())?;
        let rewards = numbers(&self.rewards);
        let columns: Vec<Vec<f64>> = self.parts.iter().map(|part| numbers(&part.rewards)).collect();
        for (at, part) in self.parts.iter().enumerate() {
            groups.along(&format!("rewards of part {at}"), part.rewards.len())?;
        }
        let parts: Vec<RewardPart<'_>> = self
            .parts
            .iter()
            .zip(&columns)
            .map(|(part, rewards)| RewardPart { name: &part.name, weight: part.weight, rewards })
            .collect();
        let values = self.values.as_deref().map(numbers);
        let policy = self.policy.as_ref().map(|policy| PolicyTokens {
            log_probs: &policy.log_probs,
            sum_pi_squared: &policy.sum_pi_squared,
            weights: policy.weights.as_ref(),
        });
        let batch = RewardBatch {
            parts: &parts,
            lengths: self.lengths.as_deref(),
            mask: self.mask.as_ref(),
            token_rewards: self.token_rewards.as_ref(),
            token_values: self.token_values.as_ref(),
            policy,
            steps: self.steps.as_ref(),
            step_tags: self.step_tags.as_ref(),
            starts: self.starts.as_deref(),
            roles: self.roles.as_deref(),
            prompts: self.prompts.as_deref(),
            values: values.as_deref(),
            state: Some(&self.state),
            ..RewardBatch::new(&groups, &rewards)?
        };
        let Advantages { values: advantages, report, state } = estimator.estimate(&batch)?;
        Ok(AdvantageReply { advantages, report, state })
    }
}

impl GroupColumn {
    /// The groups of `rows` rollouts.
    ///
    /// # Errors
    /// A size that does not divide the rollouts, or not a key for each of them.
    pub fn groups(&self, rows: usize) -> Result<Groups, TrainerError> {
        let groups = match self {
            Self::Size(size) => return Groups::of_size(rows, *size),
            Self::Numbers(keys) => Groups::by_key(keys),
            Self::Texts(keys) => Groups::by_key(keys),
        };
        if groups.rows() == rows {
            return Ok(groups);
        }
        let have = format!("{} keys for {rows} rewards", groups.rows());
        Err(TrainerError::input("groups", have, "a key for each reward"))
    }
}

fn one() -> f64 {
    1.0
}

/// Numbers, NaN where one is missing.
fn numbers(given: &[Option<f64>]) -> Vec<f64> {
    given.iter().map(|number| number.unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answered(request: Value) -> Result<Value, String> {
        let request: AdvantageRequest =
            serde_json::from_value(request).map_err(|error| error.to_string())?;
        let config: AdvantageConfig = serde_json::from_value(json!({ "kind": "dr_grpo" })).unwrap();
        let reply = request.answer(Some(&config)).map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(reply).unwrap())
    }

    #[test]
    fn columns_become_advantages() {
        let reply = answered(json!({ "groups": 2, "rewards": [1, 0, null, 3] })).unwrap();
        assert_eq!(reply["advantages"], json!([0.5, -0.5, 0.0, 0.0]));
        assert_eq!(reply["report"]["missing"], 1);
        for groups in [json!([7, 8, 7]), json!(["b", "a", "b"])] {
            let reply = answered(json!({ "groups": groups, "rewards": [1, 5, 0] })).unwrap();
            assert_eq!(reply["advantages"], json!([0.5, 0.0, -0.5]));
        }
        let own = json!({ "advantage": { "kind": "rloo" }, "groups": 2, "rewards": [1, 0] });
        assert_eq!(answered(own).unwrap()["advantages"], json!([1.0, -1.0]));
    }

    #[derive(Deserialize)]
    struct Worked {
        #[serde(rename = "case")]
        cases: Vec<WorkedCase>,
    }

    #[derive(Deserialize)]
    struct WorkedCase {
        name: String,
        request: AdvantageRequest,
        advantages: Option<Value>,
        refused: Option<String>,
    }

    #[test]
    fn advantages_are_those_worked_out_by_hand() {
        let text = include_str!("../../fixtures/advantages/worked.toml");
        for case in toml::from_str::<Worked>(text).unwrap().cases {
            let WorkedCase { name, request, advantages, refused } = case;
            match (request.answer(None), refused) {
                (Ok(reply), None) => {
                    let found = serde_json::to_value(reply.advantages).unwrap();
                    let (found, expected) = (flat(&found), flat(&advantages.unwrap()));
                    let apart = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-12;
                    let differs = found.iter().zip(&expected).any(apart);
                    assert!(!differs && found.len() == expected.len(), "{name}: {found:?}");
                }
                (found, refused) => {
                    let why = found.unwrap_err().to_string();
                    assert!(why.contains(&refused.unwrap()), "{name}: {why}");
                }
            }
        }
    }

    /// The numbers of a list, or of its lists.
    fn flat(value: &Value) -> Vec<f64> {
        let lists = value.as_array().into_iter().flatten();
        lists
            .flat_map(|one| one.as_f64().map_or_else(|| flat(one), |number| vec![number]))
            .collect()
    }

    #[test]
    fn columns_that_do_not_fit_are_named() {
        for (request, why) in [
            (json!({ "groups": 2, "rewards": [1] }), "a divisor of the rewards"),
            (json!({ "groups": [1], "rewards": [1, 2] }), "1 keys for 2 rewards"),
            (json!({ "groups": 1, "rewards": [1], "reward": [1] }), "unknown field `reward`"),
            (
                json!({ "groups": 1, "rewards": [1], "roles": [] , "advantage": {"kind": "none"}}),
                "no advantage is called",
            ),
            (
                json!({ "groups": 1, "rewards": [1], "parts": [{ "name": "a", "rewards": [] }] }),
                "rewards of part 0",
            ),
        ] {
            let error = answered(request).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let request = AdvantageRequest::new(GroupColumn::Size(1), vec![Some(1.0)]);
        assert!(request.answer(None).unwrap_err().to_string().contains("no [advantage]"));
    }
}
