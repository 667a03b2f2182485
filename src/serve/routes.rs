//! The paths: what each takes and gives is in the file of its name.

mod groups;
mod health;
mod ndjson;
mod verifiers;
mod verify;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::error::{ApiError, ErrorKind};
use super::openapi;
use super::protocols;
use super::shared::Shared;

pub(crate) use groups::{GroupsReply, GroupsRequest};
pub(crate) use health::Health;
pub(crate) use verifiers::VerifiersReply;
pub(crate) use verify::VerifyRequest;

/// Paths that need no token.
pub(crate) const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// All paths. What judges is there twice: by itself, for the first profile, and below
/// `/profiles/NAME`.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let judged = Router::new()
        .route("/v1/verify", post(verify::verify))
        .route("/v1/groups", post(groups::groups))
        .merge(protocols::router());
    let not_found =
        || async { ApiError::new(ErrorKind::NotFound, "no such path; /openapi.json lists them") };
    let no_method =
        || async { ApiError::new(ErrorKind::MethodNotAllowed, "the path takes another method") };
    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/v1/verifiers", get(verifiers::verifiers))
        .route("/openapi.json", get(openapi::document))
        .route("/docs", get(openapi::page))
        .nest("/profiles/{profile}", judged.clone())
        .merge(judged)
        .fallback(not_found)
        .method_not_allowed_fallback(no_method)
        .with_state(Arc::clone(shared))
}
