//! text-embeddings-inference: `POST /predict`, `/rerank` and `/embed`.

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
