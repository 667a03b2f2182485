//! What comes back: its status, its type, its body up to a limit, and what broke on the way.

use std::error::Error;
use std::io;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::address::{RefusedAddress, UnresolvedName};
use super::error::{HttpError, Retry};
use super::retry::retry_after;
use super::secret::Secret;

/// The most bytes of a body that are read.
pub(super) const BODY_BYTES_MAX: usize = 1 << 20;

/// The most bytes of the body of an error that are read.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// The most characters of what a server said that are shown.
const SHOWN_CHARS_MAX: usize = 200;

/// The body of a good answer.
///
/// # Errors
/// A status that is not a success, another type than JSON, a body that breaks off or is too large.
pub(super) async fn read(response: Response, secret: Option<&Secret>) -> Result<Bytes, HttpError> {
    let status = response.status();
    if status.is_redirection() {
        let message = format!("the server redirects ({status}), and redirects are not followed");
        return Err(HttpError { status: Some(status.as_u16()), ..HttpError::unusable(message) });
    }
    if !status.is_success() {
        return Err(status_error(response, secret).await);
    }
    check_headers(response.headers(), secret)?;
    let expected = response.content_length().unwrap_or_default();
    if usize::try_from(expected).is_ok_and(|bytes| bytes <= BODY_BYTES_MAX)
        && let Some(body) = body(response, BODY_BYTES_MAX).await?
    {
        return Ok(body);
    }
    Err(HttpError::unusable(format!("the body of the answer is over {BODY_BYTES_MAX} bytes")))
}

/// What broke before there was an answer.
pub(super) fn transport_error(error: &reqwest::Error) -> HttpError {
    let causes = || std::iter::successors(error.source(), |cause| (*cause).source());
    if let Some(refused) = causes().find_map(|cause| cause.downcast_ref::<RefusedAddress>()) {
        return HttpError::unusable(refused.to_string());
    }
    if let Some(name) = causes().find_map(|cause| cause.downcast_ref::<UnresolvedName>()) {
        return HttpError::broken(name.to_string());
    }
    if let Some(tls) = causes().find_map(tls_error) {
        return HttpError::broken(format!("the TLS handshake failed: {tls}"));
    }
    if !error.is_connect() {
        return HttpError::broken("the connection broke before the answer was complete");
    }
    let kind = causes().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    match kind {
        Some(io::ErrorKind::ConnectionRefused) => HttpError::broken("the connection was refused"),
        _ => HttpError::broken("no connection could be made"),
    }
}

/// What the server said in the body of an error, of which there are many shapes; the body itself
/// where it is none of them.
pub(super) fn server_words(body: &[u8]) -> String {
    let read = serde_json::from_slice::<Value>(body).ok();
    let words = read.as_ref().and_then(words_of);
    words.map_or_else(|| String::from_utf8_lossy(body).trim().to_owned(), str::to_owned)
}

/// The start of what a server said, with what could disturb a terminal or a page escaped.
pub(super) fn shown(words: &str, secret: Option<&Secret>) -> String {
    let masked = masked(words, secret);
    let mut shown = String::new();
    for char in masked.trim().chars().take(SHOWN_CHARS_MAX) {
        match char {
            '"' | '\'' | '\\' => shown.push(char),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

fn words_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(values) => values.first().and_then(words_of),
        Value::Object(members) => ["error", "message", "msg", "detail"]
            .iter()
            .find_map(|key| members.get(*key).and_then(words_of)),
        _ => None,
    }
}

fn masked(text: &str, secret: Option<&Secret>) -> String {
    secret.map_or_else(|| text.to_owned(), |secret| secret.mask(text).into_owned())
}

async fn status_error(response: Response, secret: Option<&Secret>) -> HttpError {
    let status = response.status();
    let after = retry_after(response.headers());
    // What of the body came is as good as all of it: the status has said what matters.
    let body = start_of(response, ERROR_BYTES_MAX).await;
    let detail = masked(&server_words(&body), secret);
    let said = shown(&detail, secret);
    let colon = if said.is_empty() { "" } else { ": " };
    let message = format!("the server answered {}{colon}{said}", status.as_u16());
    let error = match status {
        StatusCode::TOO_MANY_REQUESTS => {
            HttpError { is_outage: true, retry: Retry::Soon, ..HttpError::overloaded(message) }
        }
        _ if matches!(status.as_u16(), 408 | 500 | 502 | 503 | 504) => HttpError::broken(message),
        _ if status.is_server_error() => HttpError::final_outage(message),
        _ => HttpError::unusable(message),
    };
    let retry = match (error.retry, after) {
        (Retry::Soon, Some(after)) => Retry::After(after),
        (retry, _) => retry,
    };
    HttpError { status: Some(status.as_u16()), detail, retry, ..error }
}

fn check_headers(headers: &HeaderMap, secret: Option<&Secret>) -> Result<(), HttpError> {
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let Some(kind) = text(CONTENT_TYPE) else {
        return Err(HttpError::unusable("the answer names no content type, expected JSON"));
    };
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json" && !essence.ends_with("+json") {
        let kind = shown(&kind, secret);
        let message = format!("the content type of the answer is \"{kind}\", expected JSON");
        return Err(HttpError::unusable(message));
    }
    match text(CONTENT_ENCODING) {
        Some(coding) if !coding.eq_ignore_ascii_case("identity") => {
            let coding = shown(&coding, secret);
            Err(HttpError::unusable(format!("the answer is compressed by \"{coding}\", unasked")))
        }
        _ => Ok(()),
    }
}

/// The whole body; `None` where it is longer than `bytes_max`, of which no more is read then.
async fn body(mut response: Response, bytes_max: usize) -> Result<Option<Bytes>, HttpError> {
    let Some(first) = response.chunk().await.map_err(|error| transport_error(&error))? else {
        return Ok(Some(Bytes::new()));
    };
    let mut whole = BytesMut::new();
    let mut next = Some(first);
    while let Some(chunk) = next {
        if whole.len() + chunk.len() > bytes_max {
            return Ok(None);
        }
        whole.extend_from_slice(&chunk);
        next = response.chunk().await.map_err(|error| transport_error(&error))?;
    }
    Ok(Some(whole.freeze()))
}

async fn start_of(mut response: Response, bytes_max: usize) -> Bytes {
    let mut start = BytesMut::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        start.extend_from_slice(&chunk);
        if start.len() >= bytes_max {
            break;
        }
    }
    start.truncate(bytes_max);
    start.freeze()
}

/// What is wrong with the TLS of a server. The words of the library itself name times.
fn tls_error(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    use rustls::{CertificateError as Certificate, Error as Tls};
    let tls = innermost(cause).downcast_ref::<Tls>()?;
    Some(match tls {
        Tls::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
            "the certificate has expired"
        }
        Tls::InvalidCertificate(
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. },
        ) => "the certificate is for another name",
        Tls::InvalidCertificate(Certificate::UnknownIssuer) => {
            "the issuer of the certificate is not known; `ca_file` can name it"
        }
        Tls::InvalidCertificate(_) => "the certificate is not valid",
        _ => "the two sides do not agree",
    })
}

/// What I/O errors wrap, which they do not give away as their source.
fn innermost<'e>(cause: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map_or(cause, |wrapped| innermost(wrapped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_every_server_are_found() {
        for (body, words) in [
            (
                r#"{"error":{"message":"no such model","type":"invalid_request_error"}}"#,
                "no such model",
            ),
            (r#"{"object":"error","message":"too long","code":400}"#, "too long"),
            (r#"{"error":"overloaded","error_type":"overloaded"}"#, "overloaded"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required"),
            (r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
            ("  <html>down</html>\n", "<html>down</html>"),
            (r#"{"code":7}"#, r#"{"code":7}"#),
            ("", ""),
        ] {
            assert_eq!(server_words(body.as_bytes()), words);
        }
    }

    #[test]
    fn what_is_shown_is_short_escaped_and_masked() {
        let secret = Secret::new("sk-planted-secret");
        let words = format!("{}sk-planted-secret", "a".repeat(195));
        let text = shown(&words, Some(&secret));
        assert!(
            text.ends_with("a***") && !text.contains("sk-pl"),
            "masked before it is cut: {text}"
        );
        assert_eq!(
            shown("\u{1b}[31m\u{202e}red\n\"x\" é", None),
            "\\u{1b}[31m\\u{202e}red\\n\"x\" é"
        );
        assert_eq!(shown(&"é".repeat(500), None).chars().count(), SHOWN_CHARS_MAX);
    }
}
