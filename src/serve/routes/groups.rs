//! `POST /v1/groups`: the samples of prompts together, and what each earned relative to the others; or
//! advantages of rewards that are there already.

use std::num::NonZeroU64;

use assay_trainer::TrainerError;
use assay_trainer::advantages::{AdvantageConfig, AdvantageValues, EstimatorState, GroupReport};
use assay_trainer::request::{AdvantageRequest, GroupColumn, PartColumn};
use assay_verifiers::Reward;
use assay_verifiers::code::Code;
use axum::http::Uri;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::super::payload::{JsonBytes, parse};
use super::query::VerifyQuery;
use super::verify;
use crate::engine::Plan;
use crate::serve::prelude::*;

/// Samples whose groups are judged together.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupsRequest<'a> {
    /// Rows, in the columns that `[data]` of the profile names.
    #[serde(borrow)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    samples: Vec<&'a RawValue>,
    /// Which samples share a prompt: a size, or a key for each. By default the group of the row, else
    /// its prompt. Group verifiers see the groups of the rows.
    #[serde(default)]
    groups: Option<GroupColumn>,
    /// The estimator: `kind`, `preset` and settings. By default the `[advantage]` of the profile, else
    /// `grpo`.
    #[serde(default)]
    advantage: Option<AdvantageConfig>,
    /// What the estimator kept from the batches before: the `state` of the last reply.
    #[serde(default)]
    state: Option<EstimatorState>,
    /// The profile; by default that of the path, else the first.
    #[serde(default)]
    profile: Option<String>,
    /// How long the answer may take.
    #[serde(default)]
    deadline_ms: Option<NonZeroU64>,
    /// The training step.
    #[serde(default)]
    step: Option<u64>,
}

/// What the field with the estimator is called.
const ADVANTAGE: &str = "advantage";

/// Which of the two is asked for.
#[derive(Deserialize)]
struct Kind {
    samples: Option<IgnoredAny>,
    rewards: Option<IgnoredAny>,
}

/// What each sample came to, and its advantage.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GroupsReply {
    /// A number for each sample, or a list of numbers, one for each of its tokens.
    #[schemars(with = "Vec<Value>")]
    advantages: AdvantageValues,
    /// What is to be said of the groups.
    #[schemars(with = "Value")]
    report: GroupReport,
    /// What the estimator keeps for the next batch.
    #[schemars(with = "Value")]
    state: EstimatorState,
}

pub(super) async fn groups(
    mut asked: Asked,
    uri: Uri,
    JsonBytes(bytes): JsonBytes,
) -> Result<Response, ApiError> {
    let query = VerifyQuery::of(&uri)?;
    let kind: Kind = parse(&bytes)?;
    if kind.samples.is_none() && kind.rewards.is_some() {
        return advantages_alone(&asked, &bytes);
    }
    let request: GroupsRequest<'_> = parse(&bytes).map_err(typed)?;
    asked.check_count(request.samples.len())?;
    asked.shorten(query.deadline_ms);
    asked.shorten(request.deadline_ms);
    let profile = asked.profile(query.profile(request.profile.as_deref())?)?;
    let plan = profile.engine.plan();
    let _permits = asked.enter(request.samples.len()).await?;
    let rows = verify::rows(&profile.engine, &request.samples);
    let keys: Vec<String> = rows
        .group_keys()
        .enumerate()
        // A row that cannot be read is nobody's sibling.
        .map(|(at, key)| key.map_or_else(|| format!("\0row-{at}"), str::to_owned))
        .collect();
    let step = request.step.or(query.step).unwrap_or_default();
    let scored = asked.judge(&profile, rows, step).await;
    let groups = request.groups.unwrap_or(GroupColumn::Texts(keys));
    let config = request.advantage.unwrap_or_else(|| configured(plan));
    let request = AdvantageRequest {
        parts: parts(plan, &scored, step),
        state: request.state.unwrap_or_default(),
        ..AdvantageRequest::new(groups, scored.iter().map(Scored::reward).collect())
    };
    let reply = request.answer(Some(&config)).map_err(refused)?;
    let reply =
        GroupsReply { advantages: reply.advantages, report: reply.report, state: reply.state };
    let mut body = verify::results_open(&scored);
    let written =
        serde_json::to_vec(&reply).map_err(|error| ApiError::bad_request(error.to_string()))?;
    body.push(b',');
    // The members of the reply after the results.
    body.extend_from_slice(written.split_at(1).1);
    Ok(verify::json(body))
}

/// Rewards in columns, of whoever judged them.
fn advantages_alone(asked: &Asked, bytes: &[u8]) -> Result<Response, ApiError> {
    let request: AdvantageRequest = parse(bytes).map_err(typed)?;
    let profile = asked.profile(None)?;
    let config = configured(profile.engine.plan());
    let reply = request.answer(Some(&config)).map_err(refused)?;
    let body =
        serde_json::to_vec(&reply).map_err(|error| ApiError::bad_request(error.to_string()))?;
    Ok(verify::json(body))
}

/// Names the types of the one member that has several.
fn typed(error: ApiError) -> ApiError {
    if error.field.as_deref() != Some("groups") {
        return error;
    }
    let message = "expected the size of every group, or a list with the key of each sample";
    ApiError::unreadable(Code::WrongType, message).at("groups")
}

#[expect(clippy::needless_pass_by_value, reason = "it is mapped over errors")]
fn refused(error: TrainerError) -> ApiError {
    match &error {
        TrainerError::Setting(error) => {
            let field = match error.setting.as_str() {
                "" | ADVANTAGE => ADVANTAGE.to_owned(),
                setting => format!("{ADVANTAGE}.{setting}"),
            };
            ApiError::of_setting(error, field)
        }
        TrainerError::Input { what, .. } if what.starts_with("group") => {
            ApiError::bad_request(error.to_string()).at("groups")
        }
        TrainerError::Input { .. } => ApiError::bad_request(error.to_string()),
    }
}

/// The estimator of a profile.
fn configured(plan: &Plan) -> AdvantageConfig {
    let grpo = || AdvantageConfig { kind: Some("grpo".to_owned()), ..AdvantageConfig::default() };
    plan.config.advantage.clone().unwrap_or_else(grpo)
}

/// The rewards that were combined, for estimators that normalise them one by one.
fn parts(plan: &Plan, scored: &[Scored], step: u64) -> Vec<PartColumn> {
    let part = |reward: &crate::engine::Planned| PartColumn {
        name: reward.name.clone(),
        weight: reward.weight.at(step),
        rewards: scored
            .iter()
            .map(|one| one.verdict(&reward.name)?.outcome.reward().map(Reward::get))
            .collect(),
    };
    let weighted = plan.rewards.iter().filter(|reward| reward.weight.at(step) != 0.0);
    weighted.map(part).collect()
}
