//! Bodies: read within limits of size and time, and parsed so that errors name the field.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::config::ServeConfig;
use super::dialect::is_type;
use super::error::{ApiError, ErrorKind};
use super::shared::Shared;

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
        if !is_type(request.headers(), "json") {
            let message = "expected content-type: application/json";
            return Err(ApiError::new(ErrorKind::UnsupportedMediaType, message));
        }
        read(request, &shared.config).await.map(Self)
    }
}

#[cfg(feature = "sandbox")]
impl FromRequest<Arc<Shared>> for JsonOrForm {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Self::Rejection> {
        if !is_type(request.headers(), "x-www-form-urlencoded") {
            let JsonBytes(bytes) = JsonBytes::from_request(request, shared).await?;
            return Ok(Self::Json(bytes));
        }
        read(request, &shared.config).await.map(Self::Form)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<Shared>> for Payload<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Self::Rejection> {
        let JsonBytes(bytes) = JsonBytes::from_request(request, shared).await?;
        parse(&bytes).map(Self)
    }
}

/// Parses a body, of which texts may be borrowed. Errors name the field.
pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|plain| {
        // Once more with the path, which costs time that a good body need not spend.
        let mut json = serde_json::Deserializer::from_slice(bytes);
        match serde_path_to_error::deserialize::<_, T>(&mut json) {
            Err(error) if error.path().iter().len() > 0 => {
                let path = error.path().to_string();
                ApiError::unreadable(error.into_inner().to_string()).at(path)
            }
            _ => ApiError::unreadable(plain.to_string()),
        }
    })
}

async fn read(request: Request, config: &ServeConfig) -> Result<Bytes, ApiError> {
    let (bytes_max, time) = (config.body_bytes_max, Duration::from_millis(config.body_timeout_ms));
    let too_large = || {
        let message = format!("a body has at most {bytes_max} bytes");
        ApiError::new(ErrorKind::TooLarge, message)
    };
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let mut body: Body = request.into_body();
    if length.is_some_and(|length| length > bytes_max as u64) {
        discard(&mut body).await;
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
        Ok(Ok(Some(bytes))) => Ok(bytes),
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
