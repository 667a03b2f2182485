//! Bodies: read within limits of size and time, and parsed so that errors name the field.

use std::pin::pin;
use std::time::Duration;

use assay_verifiers::check_value;
use assay_verifiers::code::Code;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Query, Request};
use axum::http::Uri;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use super::dialect::BodyType;
use crate::data::BOM;
use crate::engine::ServeConfig;
use crate::serve::prelude::*;

/// How much of a body that is refused is read and dropped, and for how long.
const DISCARDED_BYTES_MAX: usize = 64 << 20;
const DISCARD: Duration = Duration::from_secs(2);

/// The bytes of a JSON body.
pub(crate) struct JsonBytes(pub(crate) Bytes);

/// The bytes of a body of JSON, or of a form.
#[cfg(feature = "sandbox")]
pub(crate) enum JsonOrForm {
    Json(Bytes),
    Form(Bytes),
}

/// A JSON body.
pub(crate) struct Payload<T>(pub(crate) T);

impl FromRequest<Arc<Shared>> for JsonBytes {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Self::Rejection> {
        let (parts, body) = request.into_parts();
        Self::read(&parts.headers, body, &shared.config).await
    }
}

impl JsonBytes {
    pub(crate) async fn read(
        headers: &HeaderMap,
        body: Body,
        config: &ServeConfig,
    ) -> Result<Self, ApiError> {
        if !BodyType::of(headers).is("json") {
            let message = "expected content-type: application/json";
            return Err(ApiError::new(ErrorKind::UnsupportedMediaType, message));
        }
        read(headers, body, config).await.map(Self)
    }
}

#[cfg(feature = "sandbox")]
impl FromRequest<Arc<Shared>> for JsonOrForm {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Self::Rejection> {
        if !BodyType::of(request.headers()).is("x-www-form-urlencoded") {
            let JsonBytes(bytes) = JsonBytes::from_request(request, shared).await?;
            return Ok(Self::Json(bytes));
        }
        let (parts, body) = request.into_parts();
        read(&parts.headers, body, &shared.config).await.map(Self::Form)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<Shared>> for Payload<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Self::Rejection> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, shared).await?;
        parse(&bytes).map(Self)
    }
}

/// Parses a body that is an object, of which texts may be borrowed. Errors name the field.
pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    // Its members would be read by their places.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(ApiError::unreadable(Code::WrongType, "expected an object, found a list"));
    }
    parse_any(bytes)
}

/// Parses a body that is an object, or a list of them.
pub(crate) fn parse_any<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| refused::<T>(bytes, &error))
}

/// What is wrong with a text of which no `T` can be read: it is read once more, as a value, to say where.
pub(crate) fn refused<'a, T: Deserialize<'a>>(text: &[u8], error: &serde_json::Error) -> ApiError {
    let wrong = match serde_json::from_slice::<Value>(text) {
        Ok(value) => check_value::<T>(&value).err(),
        Err(_) => None,
    };
    match wrong {
        Some(wrong) => ApiError::of_value(&wrong),
        // Of a member that is there twice, a value keeps the last one.
        None if error.is_data() => ApiError::unreadable(Code::DuplicateKey, error.to_string()),
        None => ApiError::unreadable(Code::Syntax, format!("not JSON: {error}")),
    }
}

/// Parses the query of a path. Errors name the parameter.
pub(crate) fn parse_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let read = Query::try_from_uri(uri).map(|Query(query)| query);
    read.map_err(|error| {
        let refused = ApiError::bad_request(format!("the query: {}", error.body_text()));
        refused.at(culprit::<T>(uri).unwrap_or_default())
    })
}

/// The parameter without which a query can be read.
fn culprit<T: DeserializeOwned>(uri: &Uri) -> Option<&str> {
    fn name(pair: &str) -> &str {
        pair.split_once('=').map_or(pair, |(name, _)| name)
    }
    let pairs: Vec<&str> = uri.query()?.split('&').collect();
    let is_cured = |culprit: &&str| {
        let rest = pairs.iter().filter(|pair| name(pair) != *culprit).copied();
        let rest = format!("/?{}", rest.collect::<Vec<_>>().join("&"));
        rest.parse().is_ok_and(|uri: Uri| Query::<T>::try_from_uri(&uri).is_ok())
    };
    pairs.iter().map(|pair| name(pair)).find(is_cured)
}

/// Refuses a body whose bytes are not its text.
pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    for (name, plain) in
        [(header::CONTENT_ENCODING, "identity"), (header::TRANSFER_ENCODING, "chunked")]
    {
        if let Some(value) = headers.get(&name)
            && !value.as_bytes().eq_ignore_ascii_case(plain.as_bytes())
        {
            let found = String::from_utf8_lossy(value.as_bytes()).into_owned();
            let message = format!("header {name}: expected none or {plain}, found {found}");
            return Err(ApiError::new(ErrorKind::UnsupportedMediaType, message));
        }
    }
    Ok(())
}

/// The length of a body, where the head says it.
pub(crate) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn read(
    headers: &HeaderMap,
    mut body: Body,
    config: &ServeConfig,
) -> Result<Bytes, ApiError> {
    check_encoding(headers)?;
    let (bytes_max, time) = (config.body_bytes_max, Duration::from_millis(config.body_timeout_ms));
    let too_large = || {
        let message = format!("a body has at most {bytes_max} bytes");
        ApiError::new(ErrorKind::TooLarge, message)
    };
    if content_length(headers).is_some_and(|length| length > bytes_max as u64) {
        // One who asks first has sent nothing yet.
        if !headers.contains_key(header::EXPECT) {
            discard(&mut body).await;
        }
        return Err(too_large());
    }
    let collected = {
        let mut collecting = pin!(collect(&mut body, bytes_max));
        // Most bodies are there with their heads, and need no timer.
        match collecting.as_mut().now_or_never() {
            Some(collected) => Ok(collected),
            None => tokio::time::timeout(time, collecting).await,
        }
    };
    match collected {
        Ok(Ok(Some(mut bytes))) => {
            if bytes.starts_with(BOM) {
                bytes = bytes.slice(BOM.len()..);
            }
            Ok(bytes)
        }
        Ok(Ok(None)) => {
            discard(&mut body).await;
            Err(too_large())
        }
        Ok(Err(_)) => Err(ApiError::bad_request("the body ended early")),
        Err(_) => {
            let message = format!("the body did not arrive within {} ms", time.as_millis());
            Err(ApiError::new(ErrorKind::RequestTimeout, message))
        }
    }
}

/// All bytes of a body; `None` where there are more than `most`. One that comes in one piece is not copied.
async fn collect(body: &mut Body, most: usize) -> Result<Option<Bytes>, axum::Error> {
    let (mut only, mut all) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame?.into_data() else { continue };
        if only.len() + all.len() + piece.len() > most {
            return Ok(None);
        }
        if only.is_empty() && all.is_empty() {
            only = piece;
        } else {
            if all.is_empty() {
                // What the head says is left, so that the bytes move no more.
                let left = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
                all.reserve_exact((only.len() + piece.len()).saturating_add(left).min(most));
            }
            all.extend_from_slice(&std::mem::take(&mut only));
            all.extend_from_slice(&piece);
        }
    }
    Ok(Some(if all.is_empty() { only } else { all.into() }))
}

/// Reads on for a moment: most clients look for an answer once they sent all of a body.
async fn discard(body: &mut Body) {
    let reading = async {
        let mut left = DISCARDED_BYTES_MAX;
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(bytes) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    let _ = tokio::time::timeout(DISCARD, reading).await;
}
