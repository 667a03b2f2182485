//! `OpenRLHF`: `POST /get_reward`, as its `--reward.remote_url` asks for it.
//!
//! A query is the prompt and the response; the response is what follows the prompt.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_verifiers::{Reward, Sample, Scored};
use axum::routing::post;
use axum::{Json, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::error::ApiError;
use super::super::openapi::{Operation, schema};
use super::super::payload::Payload;
use super::super::shared::{Asked, Shared};

/// What `OpenRLHF` sends.
#[derive(Deserialize, JsonSchema)]
struct RewardRequest {
    /// Prompt and response of each sample.
    query: Vec<String>,
    /// The prompt of each.
    #[serde(default)]
    prompts: Vec<String>,
    /// The reference of each; an empty text is none.
    #[serde(default)]
    labels: Option<Vec<Value>>,
}

/// What it gets.
#[derive(Serialize, JsonSchema)]
struct RewardReply {
    /// The reward of each sample.
    rewards: Vec<f64>,
    /// The same: what `OpenRLHF` filters groups by.
    scores: Vec<f64>,
    /// Metrics, one value a sample.
    extra_logs: BTreeMap<String, Vec<Option<f64>>>,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/get_reward", post(get_reward))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation {
        path: "/get_reward",
        method: "post",
        summary: "OpenRLHF: rewards of queries",
        request: Some(schema::<RewardRequest>),
        reply: (schema::<RewardReply>, "application/json"),
        is_judged: true,
    }]
}

async fn get_reward(
    asked: Asked,
    Payload(request): Payload<RewardRequest>,
) -> Result<Json<RewardReply>, ApiError> {
    let samples = samples(request)?;
    let scored = asked.score(samples).await?;
    let rewards: Vec<f64> = scored
        .iter()
        .map(|one| one.reward().ok_or_else(|| ApiError::unscored(one)))
        .collect::<Result<_, _>>()?;
    let extra_logs = extra_logs(&scored);
    Ok(Json(RewardReply { scores: rewards.clone(), rewards, extra_logs }))
}

fn samples(request: RewardRequest) -> Result<Vec<Sample>, ApiError> {
    let RewardRequest { query, prompts, labels } = request;
    let count = query.len();
    let fits = |name: &str, len: usize| {
        let message = format!("{len} values for {count} queries");
        if len == count { Ok(()) } else { Err(ApiError::bad_request(message).at(name)) }
    };
    if !prompts.is_empty() {
        fits("prompts", prompts.len())?;
    }
    if let Some(labels) = &labels {
        fits("labels", labels.len())?;
    }
    let mut labels = labels.unwrap_or_default().into_iter();
    let mut prompts = prompts.into_iter();
    let mut samples = Vec::with_capacity(count);
    for (at, query) in query.into_iter().enumerate() {
        let prompt = prompts.next();
        let response = match &prompt {
            None => query.as_str(),
            Some(prompt) => query.strip_prefix(prompt.as_str()).ok_or_else(|| {
                let message = "the query does not begin with its prompt";
                ApiError::bad_request(message).at(format!("query[{at}]"))
            })?,
        };
        let mut sample = Sample::builder(response.to_owned());
        if let Some(prompt) = prompt {
            sample = sample.prompt(prompt);
        }
        let label = labels.next().filter(|label| !label.is_null() && label != "");
        if let Some(label) = label {
            sample = sample.reference(label);
        }
        samples.push(sample.build());
    }
    Ok(samples)
}

/// The reward of each verifier, by its name.
fn extra_logs(scored: &[Scored]) -> BTreeMap<String, Vec<Option<f64>>> {
    let mut logs: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    for one in scored {
        for (name, verdict) in one.verdicts.iter() {
            let reward = verdict.outcome.reward().map(Reward::get);
            logs.entry(format!("rewards/{name}")).or_default().push(reward);
        }
    }
    logs
}
