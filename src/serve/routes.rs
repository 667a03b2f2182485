//! The paths: what each takes and gives is in the file of its name.

mod groups;
mod health;
mod ndjson;
mod operations;
mod query;
mod verifiers;
pub(crate) mod verify;

use axum::body::Bytes;
use axum::response::Html;
use axum::routing::get;

use super::openapi;
use super::profiles::BY_PROFILE;
use super::protocols;
use crate::serve::prelude::*;

/// Routes that need no token, and are not traced.
pub(crate) const OPEN: [&str; 4] = ["/healthz", "/readyz", "/health", "/profiles/{profile}/health"];
/// The route that is asked every few seconds, and is not traced either.
pub(crate) const METRICS: &str = "/metrics";

/// All paths. What judges is there twice: by itself, for the first profile, and below
/// `/profiles/NAME`.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let judged = Router::new()
        .route(verify::VERIFY, post(verify::routed))
        .route("/v1/groups", post(groups::groups))
        .route("/health", get(health::health))
        .merge(protocols::router());
    let operations = [operations::operations(), protocols::operations()].concat();
    let told = openapi::openapi(&operations);
    let (document, page) = (Bytes::from(told.to_string()), Bytes::from(openapi::html(&told)));
    let not_found =
        || async { ApiError::new(ErrorKind::NotFound, "no such path; /openapi.json lists them") };
    let no_method =
        || async { ApiError::new(ErrorKind::MethodNotAllowed, "the path takes another method") };
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route(METRICS, get(health::metrics))
        .route("/v1/verifiers", get(verifiers::verifiers))
        .route(
            "/openapi.json",
            get(async move || ([(header::CONTENT_TYPE, "application/json")], document)),
        )
        .route("/docs", get(async move || Html(page)))
        .nest(BY_PROFILE, judged.clone())
        .nest("/profiles/{profile}/", protocols::base())
        .merge(judged)
        .fallback(not_found)
        .method_not_allowed_fallback(no_method)
        .with_state(Arc::clone(shared))
}
