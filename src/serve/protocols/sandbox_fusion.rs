//! `SandboxFusion`: `POST /run_code`, as verl's sandbox client asks for it.

use std::sync::Arc;

use axum::Router;

use super::super::openapi::Operation;
use super::super::shared::Shared;

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
}

pub(super) fn operations() -> Vec<Operation> {
    Vec::new()
}
