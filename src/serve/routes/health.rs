//! `GET /healthz`, `/readyz`, `/health` and `/metrics`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::error::{ApiError, ErrorKind};
use super::super::shared::{Shared, Told};

/// The daemon is there.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Alive {
    /// `ok`.
    status: &'static str,
    /// The version of assay.
    version: &'static str,
}

/// The daemon takes on work.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Ready {
    /// `ok`.
    status: &'static str,
    /// The profiles, the first one first.
    profiles: Vec<String>,
}

/// The process answers.
pub(super) async fn healthz() -> Json<Alive> {
    Json(Alive { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Work is taken on: every model is loaded and proved, because the daemon listens only then; it is not
/// about to stop.
pub(super) async fn readyz(State(shared): State<Arc<Shared>>) -> Result<Json<Ready>, ApiError> {
    if shared.is_draining() {
        return Err(ApiError::new(ErrorKind::Draining, "the daemon is about to stop"));
    }
    let profiles = shared.profiles.load().iter().map(|profile| profile.name.clone()).collect();
    Ok(Json(Ready { status: "ok", profiles }))
}

/// The same, of the profile that the path names.
pub(super) async fn health(_: Told, shared: State<Arc<Shared>>) -> Result<Json<Ready>, ApiError> {
    readyz(shared).await
}

/// What was counted, in the text format of Prometheus.
pub(super) async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    shared.metrics.in_flight.set(count(shared.admission.in_flight()));
    shared.metrics.waiting.set(count(shared.admission.waiting()));
    for profile in shared.profiles.load().iter() {
        if let Some(counts) = profile.engine.cache_counts() {
            profile.metrics.cache([
                ("hit", counts.hit),
                ("miss", counts.miss),
                ("corrupt", counts.corrupt),
            ]);
        }
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (StatusCode::OK, [(header::CONTENT_TYPE, kind)], shared.metrics.page()).into_response()
}
