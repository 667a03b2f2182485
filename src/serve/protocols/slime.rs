//! slime: `POST /slime`, for its `--rm-url`.
//!
//! Its client takes the answer, whatever JSON it is, for the reward: a number, or an object of which
//! `--reward-key` names the member.

use assay_verifiers::{Reward, from_value};
use axum::http::Uri;
use schemars::SchemaGenerator;
use serde_json::Map;

use super::super::openapi::query;
use super::super::payload::{JsonBytes, parse_any, parse_query};
use super::models::Reading;
use super::openrlhf::{is_rendered, rendered_twice};
use crate::data::Columns;
use crate::serve::prelude::*;

/// A sample of slime.
#[derive(Deserialize, JsonSchema)]
struct SlimeSample {
    /// The prompt: text, or a list of messages.
    #[serde(default)]
    prompt: Value,
    /// The text that is judged.
    response: String,
    /// The reference, unless the metadata has the column that `data.reference` of the profile names.
    #[serde(default)]
    label: Value,
    /// Columns of the row.
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// How the rewards are told.
#[derive(Deserialize, JsonSchema)]
struct SlimeQuery {
    /// Whether each reward of the profile is told beside the total.
    #[serde(default)]
    components: bool,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/slime", post(rewards))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation {
        query: Some(query::<SlimeQuery>),
        ..Operation::judged(
            "/slime",
            "slime: the reward of a sample as a number, or as an object with ?components=true; a list of samples gets a list",
            one_or_many,
            reward,
        )
    }]
}

fn one_or_many(generator: &mut SchemaGenerator) -> Value {
    let one = schema::<SlimeSample>(generator);
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

fn reward(_: &mut SchemaGenerator) -> Value {
    let one = json!({ "anyOf": [
        { "type": "number" },
        {
            "type": "object",
            "required": ["reward"],
            "properties": { "reward": { "type": "number" } },
            "additionalProperties": { "type": ["number", "null"] },
        },
    ] });
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

async fn rewards(
    asked: Asked,
    uri: Uri,
    JsonBytes(bytes): JsonBytes,
) -> Result<Json<Value>, ApiError> {
    let query: SlimeQuery = parse_query(&uri)?;
    let (bodies, is_list) = match parse_any(&bytes)? {
        Value::Array(bodies) => (bodies, true),
        one => (vec![one], false),
    };
    asked.check_count(bodies.len())?;
    let field = |at: usize| if is_list { format!("[{at}]") } else { String::new() };
    // What a sample without a reward is told of: the one that there is, or one of the list.
    let judged = |at: usize| if is_list { field(at) } else { "response".to_owned() };
    let profile = asked.profile(None)?;
    if !is_list {
        profile.check_alone()?;
    }
    let columns = &profile.engine.plan().config.data;
    let reading = Reading::of(&profile);
    let row = |(at, body)| {
        let sample = read(&body, &field(at))?;
        if reading != Reading::Response && sample.prompt.as_str().is_some_and(is_rendered) {
            return Err(rendered_twice().at(within(&field(at), "prompt")));
        }
        Ok(row(sample, columns))
    };
    let rows: Vec<Vec<u8>> =
        bodies.into_iter().enumerate().map(row).collect::<Result<_, ApiError>>()?;
    let _permits = asked.enter(rows.len()).await?;
    let rows = profile.engine.read_rows(0, rows.iter().map(Vec::as_slice));
    let scored = asked.judge(&profile, rows, 0).await;
    let told = |(at, one): (usize, &Scored)| {
        let reward = one.reward().ok_or_else(|| ApiError::unscored(one).at(judged(at)))?;
        Ok(if query.components { components(one, reward) } else { Value::from(reward) })
    };
    let mut told: Vec<Value> = ApiError::all(scored.iter().enumerate().map(told))?;
    Ok(Json(if is_list { Value::Array(told) } else { told.pop().unwrap_or_default() }))
}

/// Reads a sample; an error names its place.
fn read(body: &Value, place: &str) -> Result<SlimeSample, ApiError> {
    from_value(body).map_err(|error| {
        let field = within(place, &error.setting);
        ApiError::of_value(&error).at(field)
    })
}

fn within(place: &str, path: &str) -> String {
    let gap = if place.is_empty() || path.is_empty() { "" } else { "." };
    format!("{place}{gap}{path}")
}

/// A sample as a row in the columns of the profile. The prompt and the response are those of the
/// trainer, whatever the metadata says.
fn row(sample: SlimeSample, columns: &Columns) -> Vec<u8> {
    let mut row = sample.metadata.unwrap_or_default();
    let parent = columns.reference.split('.').next().unwrap_or_default();
    if !row.contains_key(&columns.reference) && !row.contains_key(parent) {
        row.insert(columns.reference.clone(), sample.label);
    }
    if !sample.prompt.is_null() {
        row.insert(columns.prompt.clone(), sample.prompt);
    }
    row.insert(columns.completion.clone(), Value::String(sample.response));
    Value::Object(row).to_string().into_bytes()
}

/// The total, and each reward by its name: null where it does not apply.
fn components(scored: &Scored, total: f64) -> Value {
    let own = scored.verdicts.iter().map(|(name, verdict)| {
        (name.to_owned(), Value::from(verdict.outcome.reward().map(Reward::get)))
    });
    let mut told: Map<String, Value> = own.collect();
    told.insert("reward".to_owned(), Value::from(total));
    Value::Object(told)
}
