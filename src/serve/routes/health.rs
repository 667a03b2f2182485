//! `GET /healthz`, `/readyz`, `/health` and `/metrics`.

use axum::extract::State;
use axum::response::IntoResponse as _;

use super::super::metrics::in_text_format;
use super::super::shared::Told;
use crate::serve::prelude::*;

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
    let (kind, page) = if wants_open_metrics(&headers) {
        (format!("{OPEN_METRICS}; version=1.0.0; charset=utf-8"), page)
    } else {
        ("text/plain; version=0.0.4; charset=utf-8".to_owned(), in_text_format(&page))
    };
    ([(header::CONTENT_TYPE, kind)], page).into_response()
}

/// Whether `Accept` names `OpenMetrics`, and does not prefer the text format to it.
fn wants_open_metrics(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(','));
    let (mut open, mut text) = (0.0, 0.0);
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse().ok())?
        });
        let weight: f64 = weight.unwrap_or(1.0);
        match kind.as_str() {
            OPEN_METRICS => open = weight.max(open),
            "text/plain" => text = weight.max(text),
            _ => {}
        }
    }
    open > 0.0 && open >= text
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_format_is_the_one_that_is_preferred() {
        let wants = |accept: &'static str| {
            let value = HeaderValue::from_static(accept);
            wants_open_metrics(&HeaderMap::from_iter([(header::ACCEPT, value)]))
        };
        for accept in [
            "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
            "Application/OpenMetrics-Text; q=0.5, text/plain; Q=0.2, */*",
            "application/openmetrics-text",
        ] {
            assert!(wants(accept), "{accept}");
        }
        for accept in [
            "text/plain, application/openmetrics-text;q=0.5",
            "application/openmetrics-text;q=0",
            "*/*",
            "text/plain",
            "application/openmetrics-textual",
        ] {
            assert!(!wants(accept), "{accept}");
        }
        assert!(!wants_open_metrics(&HeaderMap::new()));
    }
}
