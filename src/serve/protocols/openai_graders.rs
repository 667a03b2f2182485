//! `OpenAI`'s graders: `POST /v1/fine_tuning/alpha/graders/run` and `.../validate`.
//!
//! Without a grader, the item and the sample are a row that the profile judges. A grader of the request is
//! settings of the caller: it is taken where `allow_inline_config` of `[serve]` names the verifier that it
//! becomes, and sees no file. Graders that ask a model (`score_model`, `label_model`) are none of them:
//! judges and their keys belong to configurations. A sample without a reward is refused with its reason;
//! it is never a 0.

use std::collections::BTreeMap;

use assay_verifiers::canonical;
use assay_verifiers::{FaultKind, Reward, Sample, Verdict};
use axum::http::StatusCode;
use serde_json::Map;

use super::super::inline;
use super::super::payload::Payload;
use super::super::runtime::now;
use crate::engine::{Engine, Rows};
use crate::serve::prelude::*;

const RUN: &str = "/v1/fine_tuning/alpha/graders/run";
const VALIDATE: &str = "/v1/fine_tuning/alpha/graders/validate";

/// The most graders of a `multi`.
const GRADERS_MAX: usize = 64;

/// A sample to be graded.
#[derive(Deserialize, JsonSchema)]
struct RunRequest {
    /// The grader: `string_check`, `text_similarity`, `python`, or a `multi` of them. Without one, the
    /// profile judges.
    #[serde(default)]
    grader: Option<Map<String, Value>>,
    /// What the model wrote: `sample.output_text`.
    model_sample: String,
    /// The row that it belongs to: `item`. For a profile, its columns.
    #[serde(default)]
    item: Option<Map<String, Value>>,
}

/// A grader to be looked at.
#[derive(Deserialize, JsonSchema)]
struct ValidateRequest {
    grader: Map<String, Value>,
}

/// The grader, if it can be used.
#[derive(Serialize, JsonSchema)]
struct ValidateReply {
    grader: Map<String, Value>,
}

/// What the sample earned.
#[derive(Serialize, JsonSchema)]
struct RunReply {
    reward: f64,
    /// The reward of each grader of a `multi`, or of each reward of the profile; null where there is none.
    sub_rewards: BTreeMap<String, Option<f64>>,
    metadata: Metadata,
    /// Empty: no grader of a request asks a model.
    model_grader_token_usage_per_model: Map<String, Value>,
}

/// How it was graded.
#[derive(Serialize, JsonSchema)]
struct Metadata {
    /// The name of the grader, or of the profile.
    name: String,
    /// The type of the grader, or `profile`.
    r#type: String,
    errors: Errors,
    /// Seconds.
    execution_time: f64,
    /// The same as `sub_rewards`.
    scores: BTreeMap<String, Option<f64>>,
    /// The tokens that models read.
    token_usage: Option<u64>,
    sampled_model_name: Option<String>,
}

/// None of them: a sample with an error has no reward, and its request is refused.
#[derive(Default, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has them")]
struct Errors {
    formula_parse_error: bool,
    sample_parse_error: bool,
    truncated_observation_error: bool,
    unresponsive_reward_error: bool,
    invalid_variable_error: bool,
    other_error: bool,
    python_grader_server_error: bool,
    python_grader_server_error_type: Option<String>,
    python_grader_runtime_error: bool,
    python_grader_runtime_error_details: Option<String>,
    model_grader_server_error: bool,
    model_grader_refusal_error: bool,
    model_grader_parse_error: bool,
    model_grader_server_error_details: Option<String>,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route(RUN, post(run)).route(VALIDATE, post(validate))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::judged(
            RUN,
            "OpenAI: the reward of a sample by a grader, or by the profile",
            schema::<RunRequest>,
            schema::<RunReply>,
        ),
        Operation::judged(
            VALIDATE,
            "OpenAI: whether a grader can be used",
            schema::<ValidateRequest>,
            schema::<ValidateReply>,
        ),
    ]
}

async fn run(
    asked: Asked,
    Payload(request): Payload<RunRequest>,
) -> Result<Json<RunReply>, ApiError> {
    let start = now();
    let RunRequest { grader, model_sample, item } = request;
    let (item, is_of_caller) = (item.unwrap_or_default(), grader.is_some());
    let graded = match grader {
        Some(grader) => by_grader(&asked, &grader, model_sample, item).await?,
        None => by_profile(&asked, model_sample, item).await?,
    };
    let Graded { scored, name, kind, sub_rewards } = graded;
    let reward = scored.reward().ok_or_else(|| unscored(&scored, is_of_caller))?;
    let tokens: u64 = scored.verdicts.iter().map(|(_, verdict)| verdict.usage.tokens).sum();
    Ok(Json(RunReply {
        reward,
        metadata: Metadata {
            name,
            r#type: kind,
            errors: Errors::default(),
            execution_time: start.elapsed().as_secs_f64(),
            scores: sub_rewards.clone(),
            token_usage: Some(tokens).filter(|tokens| *tokens > 0),
            sampled_model_name: None,
        },
        sub_rewards,
        model_grader_token_usage_per_model: Map::new(),
    }))
}

/// A sample without a reward. What a grader of the request did wrong is the request's fault.
fn unscored(scored: &Scored, is_of_caller: bool) -> ApiError {
    let error = ApiError::unscored(scored);
    let is_trap =
        matches!(&scored.outcome, Outcome::Failed(fault) if fault.kind == FaultKind::Trap);
    if is_of_caller && is_trap {
        return ApiError { status: StatusCode::UNPROCESSABLE_ENTITY, ..error }.at("grader");
    }
    error
}

/// A sample that was graded.
struct Graded {
    scored: Scored,
    name: String,
    kind: String,
    sub_rewards: BTreeMap<String, Option<f64>>,
}

async fn by_grader(
    asked: &Asked,
    grader: &Map<String, Value>,
    model_sample: String,
    item: Map<String, Value>,
) -> Result<Graded, ApiError> {
    let profile = asked.profile(None)?;
    let grader = Grader::read(grader, &asked.shared)?;
    for (name, value) in &item {
        ApiError::exact(value).map_err(|error| error.at(format!("item.{name}")))?;
    }
    let _permit = asked.enter(1).await?;
    let engine = engine(&grader, asked, &profile).await?;
    let sample = Sample::builder(model_sample).id("").meta(item).build();
    let mut scored = first(asked.judge_by(&engine, Rows::of_samples([sample]), 0).await)?;
    if let Some((_, verdict)) = scored.verdicts.iter().next() {
        scored.outcome = reason(verdict).clone();
    }
    let is_multi = grader.kind == "multi";
    let sub_rewards = if is_multi { of_components(&scored) } else { BTreeMap::new() };
    Ok(Graded { scored, name: grader.name, kind: grader.kind, sub_rewards })
}

/// What came of a sample; where it has no reward, what came of the first grader that gave none.
fn reason(verdict: &Verdict) -> &Outcome {
    let mut components = verdict.components.iter().map(|(_, component)| &component.outcome);
    match verdict.outcome {
        Outcome::Scored(_) => &verdict.outcome,
        _ => components.find(|one| one.reward().is_none()).unwrap_or(&verdict.outcome),
    }
}

async fn by_profile(
    asked: &Asked,
    model_sample: String,
    item: Map<String, Value>,
) -> Result<Graded, ApiError> {
    let profile = asked.profile(None)?;
    profile.check_alone()?;
    let _permit = asked.enter(1).await?;
    let row = row(&profile, model_sample, item);
    let rows = profile.engine.read_rows(0, [row.as_slice()]);
    let scored = first(asked.judge(&profile, rows, 0).await)?;
    let reward = |verdict: &Verdict| verdict.outcome.reward().map(Reward::get);
    let verdicts = scored.verdicts.iter();
    let sub_rewards = verdicts.map(|(name, one)| (name.to_owned(), reward(one))).collect();
    Ok(Graded { scored, name: profile.name.clone(), kind: "profile".to_owned(), sub_rewards })
}

async fn validate(
    asked: Asked,
    Payload(request): Payload<ValidateRequest>,
) -> Result<Json<ValidateReply>, ApiError> {
    let profile = asked.profile(None)?;
    let grader = Grader::read(&request.grader, &asked.shared)?;
    let _permit = asked.enter(1).await?;
    engine(&grader, &asked, &profile).await?;
    Ok(Json(ValidateReply { grader: request.grader }))
}

fn first(scored: Vec<Scored>) -> Result<Scored, ApiError> {
    let lost = || ApiError::new(ErrorKind::Internal, "the sample was lost");
    scored.into_iter().next().ok_or_else(lost)
}

/// The row of an item, with the sample as its completion.
fn row(profile: &Profile, model_sample: String, mut item: Map<String, Value>) -> Vec<u8> {
    let column = profile.engine.plan().config.data.completion.clone();
    item.insert(column, Value::from(model_sample));
    canonical::to_bytes(&Value::Object(item))
}

/// The reward of each grader of a `multi`.
fn of_components(scored: &Scored) -> BTreeMap<String, Option<f64>> {
    let verdicts = scored.verdicts.iter();
    let components = verdicts.flat_map(|(_, verdict)| verdict.components.iter());
    let reward = |outcome: &Outcome| outcome.reward().map(Reward::get);
    components.map(|(name, one)| (name.to_owned(), reward(&one.outcome))).collect()
}

/// A grader of a request, with the members alone that a grader has.
struct Grader {
    name: String,
    kind: String,
    value: Value,
}

impl Grader {
    fn read(given: &Map<String, Value>, shared: &Shared) -> Result<Self, ApiError> {
        let text = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, kind) = (text("name").to_owned(), text("type").to_owned());
        let value = if kind == "multi" {
            multi(given, shared)?
        } else {
            single(given, shared).map_err(|error| error.at("grader"))?
        };
        Ok(Self { name, kind, value })
    }
}

fn multi(given: &Map<String, Value>, shared: &Shared) -> Result<Value, ApiError> {
    let odd =
        |at: &str| ApiError::bad_request("expected a grader").at(format!("grader.graders{at}"));
    let one = |value: &Value, at: &str| {
        let members = value.as_object().ok_or_else(|| odd(at))?;
        single(members, shared).map_err(|error| error.at(format!("grader.graders{at}")))
    };
    let graders = match given.get("graders") {
        Some(Value::Object(graders)) if graders.len() <= GRADERS_MAX => {
            let each = graders.iter();
            let read: Map<String, Value> = each
                .map(|(key, value)| Ok((key.clone(), one(value, &format!(".{key}"))?)))
                .collect::<Result<_, ApiError>>()?;
            Value::Object(read)
        }
        Some(Value::Array(graders)) if graders.len() <= GRADERS_MAX => {
            let each = graders.iter().enumerate();
            let read = each.map(|(at, value)| one(value, &format!("[{at}]")));
            Value::Array(read.collect::<Result<_, _>>()?)
        }
        _ => {
            let message = format!("expected at most {GRADERS_MAX} graders");
            return Err(ApiError::bad_request(message).at("grader.graders"));
        }
    };
    let mut value = kept_members(given, &["type", "name", "calculate_output"]);
    value.insert("graders".to_owned(), graders);
    Ok(Value::Object(value))
}

fn single(given: &Map<String, Value>, shared: &Shared) -> Result<Value, ApiError> {
    let kind = given.get("type").and_then(Value::as_str).unwrap_or_default();
    let (verifier, members): (&str, &[&str]) = match kind {
        "string_check" => ("string_check", &["input", "reference", "operation"]),
        "text_similarity" => {
            ("text_similarity", &["input", "reference", "evaluation_metric", "pass_threshold"])
        }
        "python" => ("python_check", &["source"]),
        "score_model" | "label_model" => {
            let message = format!(
                "{kind} asks a judge, and judges belong to configurations: serve one with the \
                 verifier `rubric`, and send no grader"
            );
            return Err(ApiError::bad_request(message));
        }
        _ => {
            let message = "expected the type string_check, text_similarity, python or multi";
            return Err(ApiError::bad_request(message));
        }
    };
    inline::check(verifier, &shared.config.allow_inline_config)?;
    if kind == "python" && shared.sandbox.is_none() {
        let message = "requests may not bring programs along: `run_programs` in [serve] is off";
        return Err(ApiError::bad_request(message));
    }
    Ok(Value::Object(kept_members(given, &[&["type", "name"], members].concat())))
}

/// The members of these names. Others would let a grader pass for a rubric of another format.
fn kept_members(given: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let there = given.iter().filter(|(name, _)| names.contains(&name.as_str()));
    there.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The engine of a grader.
async fn engine(
    grader: &Grader,
    asked: &Asked,
    profile: &Profile,
) -> Result<Arc<Engine>, ApiError> {
    let config = json!({
        "version": 1,
        "reward": [{
            "name": "grader",
            "verifier": "rubric",
            "config": { "rubric": grader.value },
        }],
        "limits": profile.engine.plan().config.limits,
    });
    let engine = asked.shared.inline.engine(config, asked.allowed(&["rubric"]), asked.until());
    let is_refused = |error: &ApiError| error.kind == ErrorKind::BadRequest;
    engine.await.map_err(|error| if is_refused(&error) { error.at("grader") } else { error })
}
