//! `NeMo`-Gym: `POST /verify`, `/seed_session`, `/close_session`, `/aggregate_metrics` and
//! `GET /reverify_mode` of a resources server.
//!
//! A rollout that could not be judged is answered as its own servers answer one whose judge failed: a
//! reward of 0 that `mask_sample` keeps out of training and of metrics, with the reason.

mod aggregate;

use std::borrow::Cow;
use std::collections::BTreeMap;

use assay_verifiers::code::Code;
use assay_verifiers::{FaultKind, Reward};
use axum::response::IntoResponse as _;
use axum::routing::get;
use schemars::SchemaGenerator;
use serde_json::Map;
use serde_json::value::{RawValue, to_raw_value};

use super::super::error::no_reward;
use super::super::payload::{JsonBytes, Payload, parse_any, refused};
use crate::data::{Columns, items};
use crate::serve::prelude::*;
use aggregate::{AggregateReply, AggregateRequest};

/// The members of a body that are no column of the row: the two that are read, and what earlier
/// answers left.
const NOT_COLUMNS: [&str; 7] = assay_verifiers::words::list(
    "responses_create_params response reward reward_components mask_sample failure_kind \
     failure_reason",
);
/// What begins the names of members that the collector of rollouts keeps for itself.
const COLLECTOR: &str = "_ng_";
/// What begins the names of members by which a failure is sorted.
const FAILURE: &str = "_ng_failure_";

/// The members of a body, as they came.
type Members<'a> = BTreeMap<String, Cow<'a, RawValue>>;

/// What was asked of the model.
#[derive(Deserialize, JsonSchema)]
struct CreateParams {
    /// Text, or items: messages, calls of functions, and what came of these.
    input: Input,
    /// The system prompt.
    #[serde(default)]
    instructions: Option<String>,
}

/// The input of a model.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a list of items")]
enum Input {
    /// What the user says.
    Text(String),
    /// Items.
    Items(Vec<Map<String, Value>>),
}

/// What the model answered: an object of the Responses API.
#[derive(Deserialize, JsonSchema)]
struct ModelResponse {
    /// Its items: messages, reasoning, calls of functions, and what came of these.
    output: Vec<Map<String, Value>>,
    /// Why it is not complete.
    #[serde(default)]
    incomplete_details: Option<IncompleteDetails>,
}

/// Why an answer is not complete.
#[derive(Deserialize, JsonSchema)]
struct IncompleteDetails {
    /// `max_output_tokens` or `content_filter`.
    #[serde(default)]
    reason: Option<String>,
}

/// A session to be prepared or ended. None is kept.
#[derive(Deserialize, JsonSchema)]
struct SessionRequest {
    /// The id that the caller gave it.
    #[serde(default)]
    resources_session_id: Option<String>,
}

/// The session.
#[derive(Serialize, JsonSchema)]
struct SessionReply {
    /// Its id, where the caller gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    resources_session_id: Option<String>,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/verify", post(verify))
        .route("/seed_session", post(session))
        .route("/close_session", post(session))
        .route("/aggregate_metrics", post(aggregate_metrics))
        .route("/reverify_mode", get(reverify_mode))
}

pub(super) fn operations() -> Vec<Operation> {
    let post = |path, summary, request, reply| Operation::judged(path, summary, request, reply);
    let of_session = schema::<SessionRequest> as fn(&mut SchemaGenerator) -> Value;
    let session = schema::<SessionReply> as fn(&mut SchemaGenerator) -> Value;
    vec![
        post("/verify", "NeMo-Gym: the reward of a rollout", verify_request, verify_reply),
        post("/seed_session", "NeMo-Gym: nothing is kept of a session", of_session, session),
        post("/close_session", "NeMo-Gym: nothing was kept of a session", of_session, session),
        post(
            "/aggregate_metrics",
            "NeMo-Gym: means and spreads of verified rollouts",
            schema::<AggregateRequest>,
            schema::<AggregateReply>,
        ),
        Operation {
            is_judged: true,
            ..Operation::get(
                "/reverify_mode",
                "NeMo-Gym: rollouts may be verified again",
                (|_| json!({ "const": "stateless" }), "application/json"),
            )
        },
    ]
}

fn verify_request(generator: &mut SchemaGenerator) -> Value {
    let params = schema::<CreateParams>(generator);
    json!({
        "type": "object",
        "description": "The fields of the dataset are further members.",
        "required": ["responses_create_params", "response"],
        "properties": {
            "responses_create_params": params,
            "response": schema::<ModelResponse>(generator),
        },
        "additionalProperties": true,
    })
}

fn verify_reply(_: &mut SchemaGenerator) -> Value {
    json!({
        "type": "object",
        "description": "The body of the request, with these members.",
        "required": ["reward", "mask_sample", "reward_components"],
        "properties": {
            "reward": { "type": "number", "description": "0 where mask_sample is true" },
            "mask_sample": { "type": "boolean", "description": "whether the rollout could not be judged" },
            "reward_components": {
                "type": "object",
                "description": "by the names of the rewards; null where one does not apply",
                "additionalProperties": { "type": ["number", "null"] },
            },
            "failure_kind": { "type": "string" },
            "failure_reason": { "type": "string" },
            "_ng_failure_class": { "type": "string" },
            "_ng_failure_terminal": {
                "type": "boolean", "description": "whether another try would come to the same",
            },
            "instance_config": {
                "type": "object",
                "description": "that of the request, with the mask where older consumers look for it",
                "properties": { "mask_sample": { "type": "boolean" } },
            },
        },
        "additionalProperties": true,
    })
}

async fn session(Payload(request): Payload<SessionRequest>) -> Json<SessionReply> {
    Json(SessionReply { resources_session_id: request.resources_session_id })
}

async fn aggregate_metrics(Payload(request): Payload<AggregateRequest>) -> Json<AggregateReply> {
    Json(aggregate::aggregate(&request))
}

async fn reverify_mode() -> Json<&'static str> {
    Json("stateless")
}

async fn verify(asked: Asked, JsonBytes(bytes): JsonBytes) -> Result<Response, ApiError> {
    let members: BTreeMap<String, &RawValue> = parse_any(&bytes)?;
    let params: CreateParams = part(&members, "responses_create_params")?;
    let response: ModelResponse = part(&members, "response")?;
    let profile = asked.profile(None)?;
    profile.check_alone()?;
    let row = row(&members, params, response, &profile.engine.plan().config.data)?;
    let _permits = asked.enter(1).await?;
    let rows = profile.engine.read_rows(0, [row.as_slice()]);
    let scored = asked.judge(&profile, rows, 0).await;
    let lost = || ApiError::new(ErrorKind::Internal, "the sample was lost");
    let scored = scored.first().ok_or_else(lost)?;
    let reply = reply(&members, scored, &profile.engine.plan().names)?;
    let body = serde_json::to_vec(&reply).map_err(|error| internal(&error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Reads a member of the body; an error names its place.
fn part<'a, T: Deserialize<'a>>(
    members: &BTreeMap<String, &'a RawValue>,
    name: &str,
) -> Result<T, ApiError> {
    let missing =
        || ApiError::unreadable(Code::MissingKey, format!("missing key `{name}`")).at(name);
    let text = members.get(name).ok_or_else(missing)?.get();
    serde_json::from_str(text).map_err(|error| {
        let refused = refused::<T>(text.as_bytes(), &error);
        let path = refused.field.as_ref().map(|path| format!("{name}.{path}"));
        refused.at(path.unwrap_or_else(|| name.to_owned()))
    })
}

fn internal(error: &serde_json::Error) -> ApiError {
    ApiError::new(ErrorKind::Internal, error.to_string())
}

/// The rollout as a row in the columns of the profile, as text: the fields of the dataset, with the
/// prompt and the completion of the rollout, whatever the fields say.
fn row(
    members: &BTreeMap<String, &RawValue>,
    params: CreateParams,
    response: ModelResponse,
    columns: &Columns,
) -> Result<Vec<u8>, ApiError> {
    let is_column = |name: &str| !NOT_COLUMNS.contains(&name) && !name.starts_with(COLLECTOR);
    let fields = members.iter().filter(|(name, _)| is_column(name));
    let mut row: Members<'_> =
        fields.map(|(name, value)| (name.clone(), Cow::Borrowed(*value))).collect();
    let mut put = |name: &str, value: &Value| {
        let value = to_raw_value(value).map_err(|error| internal(&error))?;
        row.insert(name.to_owned(), Cow::Owned(value));
        Ok::<(), ApiError>(())
    };
    let prompt = match (params.input, params.instructions) {
        (Input::Text(text), None) => Value::String(text),
        (Input::Text(text), Some(system)) => json!([
            { "role": "system", "content": system },
            { "role": "user", "content": text },
        ]),
        (Input::Items(input), system) => {
            let system = system.map(|system| json!({ "role": "system", "content": system }));
            Value::Array(system.into_iter().chain(items::messages(input)).collect())
        }
    };
    put(&columns.prompt, &prompt)?;
    let messages = items::messages(response.output);
    let completion =
        if messages.is_empty() { Value::String(String::new()) } else { Value::Array(messages) };
    put(&columns.completion, &completion)?;
    let reason = response.incomplete_details.and_then(|details| details.reason);
    if let (Some(column), Some(reason)) = (&columns.finish_reason, reason) {
        let reason = if reason == "max_output_tokens" { "length" } else { &reason };
        put(column, &Value::from(reason))?;
    }
    serde_json::to_vec(&row).map_err(|error| internal(&error))
}

/// The body of the request, with what the rollout came to.
fn reply<'a>(
    members: &BTreeMap<String, &'a RawValue>,
    scored: &Scored,
    names: &[String],
) -> Result<Members<'a>, ApiError> {
    let is_true = |name: &str| members.get(name).is_some_and(|value| value.get() == "true");
    // A rollout that someone else masked stays so, unless it is a failure that is verified again.
    let is_masked = is_true("mask_sample") && !members.contains_key("_ng_failure_class");
    let kept = members.iter().filter(|(name, _)| {
        !NOT_COLUMNS.iter().skip(2).any(|own| own == name) && !name.starts_with(FAILURE)
    });
    let mut reply: Members<'a> =
        kept.map(|(name, value)| (name.clone(), Cow::Borrowed(*value))).collect();
    let component = |name: &String| {
        let reward = scored.verdict(name).and_then(|verdict| verdict.outcome.reward());
        (name.clone(), Value::from(reward.map(Reward::get)))
    };
    let components: Map<String, Value> = names.iter().map(component).collect();
    let mut told = vec![
        ("reward", Value::from(scored.reward().unwrap_or_default())),
        ("reward_components", Value::Object(components)),
        ("mask_sample", Value::Bool(is_masked || scored.reward().is_none())),
    ];
    if let Some(failure) = Failure::of(scored) {
        // Where older consumers look for the mask.
        let config = members.get("instance_config").map(|config| config.get());
        let config = config.and_then(|config| serde_json::from_str(config).ok());
        let mut config: Map<String, Value> = config.unwrap_or_default();
        config.insert("mask_sample".to_owned(), Value::Bool(true));
        told.extend([
            ("failure_kind", Value::from(failure.kind.clone())),
            ("failure_reason", Value::from(failure.reason)),
            ("_ng_failure_class", Value::from(failure.kind)),
            ("_ng_failure_terminal", Value::Bool(failure.is_terminal)),
            ("instance_config", Value::Object(config)),
        ]);
    }
    for (name, value) in told {
        let value = to_raw_value(&value).map_err(|error| internal(&error))?;
        reply.insert(name.to_owned(), Cow::Owned(value));
    }
    Ok(reply)
}

/// Why a rollout has no reward, in the words of `NeMo`-Gym.
struct Failure {
    /// A name of its vocabulary, or one of ours behind `assay:`.
    kind: String,
    reason: String,
    /// Whether another try would come to the same.
    is_terminal: bool,
}

impl Failure {
    fn of(scored: &Scored) -> Option<Self> {
        match &scored.outcome {
            Outcome::Scored(_) => None,
            Outcome::Abstained(why) => Some(Self {
                kind: "assay:abstained".to_owned(),
                reason: no_reward(why, scored),
                is_terminal: true,
            }),
            Outcome::Failed(fault) => Some(Self {
                kind: kind(fault.kind).to_owned(),
                reason: format!("{}: {}", fault.kind, fault.why),
                is_terminal: !fault.kind.is_transient(),
            }),
        }
    }
}

const fn kind(fault: FaultKind) -> &'static str {
    match fault {
        FaultKind::Upstream => "judge_failed",
        FaultKind::Trap | FaultKind::Internal => "verifier_error",
        FaultKind::OutOfFuel => "assay:out_of_fuel",
        FaultKind::Timeout => "assay:timeout",
        FaultKind::OutOfMemory => "assay:out_of_memory",
        FaultKind::BadInput => "assay:bad_input",
        FaultKind::BadReference => "assay:bad_reference",
        FaultKind::BadModel => "assay:bad_model",
        FaultKind::Overloaded => "assay:overloaded",
    }
}
