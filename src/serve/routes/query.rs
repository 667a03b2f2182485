//! What the query of `/v1/verify` and `/v1/groups` may say, where the body does not.

use axum::extract::Query;
use axum::http::Uri;
use serde::Deserialize;

use super::super::error::ApiError;

/// The query.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct VerifyQuery {
    pub(super) profile: Option<String>,
    pub(super) step: Option<u64>,
    pub(super) deadline_ms: Option<u64>,
}

impl VerifyQuery {
    pub(super) fn of(uri: &Uri) -> Result<Self, ApiError> {
        if uri.query().is_none() {
            return Ok(Self::default());
        }
        let query = Query::try_from_uri(uri);
        query.map(|Query(query)| query).map_err(|error| ApiError::bad_request(error.body_text()))
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
