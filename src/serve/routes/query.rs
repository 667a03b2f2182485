//! What the query of `/v1/verify` and `/v1/groups` may say, where the body does not.

use std::num::NonZeroU64;

use axum::http::Uri;

use super::super::payload::parse_query;
use crate::serve::prelude::*;

/// The query.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct VerifyQuery {
    /// The profile.
    #[schemars(with = "String")]
    pub(super) profile: Option<String>,
    /// The training step.
    #[schemars(with = "u64")]
    pub(super) step: Option<u64>,
    /// How long the answer may take.
    #[schemars(with = "NonZeroU64")]
    pub(super) deadline_ms: Option<NonZeroU64>,
}

impl VerifyQuery {
    pub(super) fn of(uri: &Uri) -> Result<Self, ApiError> {
        if uri.query().is_none() { Ok(Self::default()) } else { parse_query(uri) }
    }

    /// The profile, which query and body may both name.
    pub(super) fn profile<'a>(
        &'a self,
        of_body: Option<&'a str>,
    ) -> Result<Option<&'a str>, ApiError> {
        match (self.profile.as_deref(), of_body) {
            (Some(query), Some(body)) if query != body => {
                let message = format!("the query names the profile {query}, the body {body}");
                Err(ApiError::bad_request(message).at("profile"))
            }
            (query, body) => Ok(query.or(body)),
        }
    }
}
