//! `POST /v1/verify`: samples in, verdict lines out, in their order.

use std::borrow::Cow;
use std::num::NonZeroU64;

use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::request::Parts;
use futures_util::FutureExt as _;
use serde_json::value::RawValue;

use super::super::dialect::BodyType;
use super::super::payload::{JsonBytes, parse};
use super::ndjson;
use super::query::VerifyQuery;
use crate::engine::config::RewardConfig;
use crate::engine::{Rows, verdict_line};
use crate::serve::prelude::*;

/// The path of the main call.
pub(crate) const VERIFY: &str = "/v1/verify";

/// How the types of bodies with rows a line end.
const LINES: [&str; 3] = ["ndjson", "jsonl", "jsonlines"];

/// What a verdict line takes, for a start.
const LINE_BYTES: usize = 256;

/// Samples to be judged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifyRequest<'a> {
    /// Rows, in the columns that `[data]` of the profile names. Read as strictly as the lines of a
    /// dataset.
    #[serde(borrow)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    samples: Vec<&'a RawValue>,
    /// The profile; by default that of the path, else the first.
    #[serde(default, borrow)]
    profile: Option<Cow<'a, str>>,
    /// How long the answer may take. What is not judged by then is a `Timeout`.
    #[serde(default)]
    deadline_ms: Option<NonZeroU64>,
    /// The training step, which schedules, `when` and expressions see.
    #[serde(default)]
    step: Option<u64>,
    /// Rewards in the place of those of the profile, by verifiers that `allow_inline_config` of `[serve]`
    /// names. Samples are read in the columns of the profile, and rewards are added up by their weights.
    #[serde(default)]
    reward: Option<Vec<RewardConfig>>,
}

/// As the router runs it.
pub(super) async fn routed(asked: Asked, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    verify(asked, &parts, body).await
}

pub(crate) async fn verify(
    mut asked: Asked,
    parts: &Parts,
    body: Body,
) -> Result<Response, ApiError> {
    let body_type = BodyType::of(&parts.headers);
    if LINES.iter().any(|ending| body_type.is(ending)) {
        // In a box, as the future of this handler is moved for each request.
        return ndjson::verify(asked, parts, body).boxed().await;
    }
    let query = VerifyQuery::of(&parts.uri)?;
    let JsonBytes(bytes) = JsonBytes::read(&parts.headers, body, &asked.shared.config).await?;
    let request: VerifyRequest<'_> = parse(&bytes)?;
    asked.check_count(request.samples.len())?;
    asked.shorten(query.deadline_ms);
    asked.shorten(request.deadline_ms);
    let profile = asked.profile(query.profile(request.profile.as_deref())?)?;
    let _permits = asked.enter(request.samples.len()).await?;
    let step = request.step.or(query.step).unwrap_or_default();
    let scored = if let Some(rewards) = &request.reward {
        let engine = asked.inline(&profile, rewards).boxed().await?;
        let rows = rows(&engine, &request.samples);
        asked.judge_by(&engine, rows, step).await
    } else {
        let rows = rows(&profile.engine, &request.samples);
        asked.judge(&profile, rows, step).await
    };
    Ok(json(results(&scored)))
}

pub(super) fn rows(engine: &crate::Engine, samples: &[&RawValue]) -> Rows {
    engine.read_rows(0, samples.iter().map(|row| row.get()))
}

/// `{"results": [LINE, ...]}`, without the brace at the end.
pub(super) fn results_open(scored: &[Scored]) -> Vec<u8> {
    let mut body = Vec::with_capacity(16 + scored.len() * LINE_BYTES);
    body.extend_from_slice(br#"{"results":["#);
    for (at, one) in scored.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        verdict_line(&mut body, one);
        // A line ends in its newline.
        body.pop();
    }
    body.push(b']');
    body
}

fn results(scored: &[Scored]) -> Vec<u8> {
    let mut body = results_open(scored);
    body.push(b'}');
    body
}

pub(super) fn json(body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
