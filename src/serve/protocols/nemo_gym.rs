//! `NeMo`-Gym: `POST /verify`, `/seed_session` and `/aggregate_metrics` of a resources server.

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
