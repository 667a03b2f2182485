//! `GET /healthz`, `/readyz`, `/health` and `/metrics`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::error::{ApiError, ErrorKind};
use super::super::metrics::in_text_format;
use super::super::shared::{Shared, Told};

/// The media type of `OpenMetrics`.
const OPEN_METRICS: &str = "application/openmetrics-text";

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

/// What was counted: in `OpenMetrics` for who takes it, else in the text format of Prometheus.
pub(super) async fn metrics(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
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
    let page = shared.metrics.page();
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let (kind, page) = if accept.into_iter().any(|value| value.contains(OPEN_METRICS)) {
        (format!("{OPEN_METRICS}; version=1.0.0; charset=utf-8"), page)
    } else {
        ("text/plain; version=0.0.4; charset=utf-8".to_owned(), in_text_format(&page))
    };
    ([(header::CONTENT_TYPE, kind)], page).into_response()
}
