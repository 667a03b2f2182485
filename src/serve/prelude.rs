//! What a handler needs, in one line: `use crate::serve::prelude::*`.

pub(super) use std::sync::Arc;

pub(super) use assay_verifiers::{Outcome, Scored};
pub(super) use axum::http::{HeaderMap, header};
pub(super) use axum::response::Response;
pub(super) use axum::routing::post;
pub(super) use axum::{Json, Router};
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::{Value, json};

pub(super) use super::error::{ApiError, ErrorKind};
pub(super) use super::openapi::{Operation, schema};
pub(super) use super::profiles::Profile;
pub(super) use super::shared::{Asked, Shared};
