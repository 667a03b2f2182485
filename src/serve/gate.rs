//! What every request goes through: an id, the token, the end of the daemon, counters and the log.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use assay_verifiers::canonical;
use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::dialect::Dialect;
use super::error::{ApiError, ErrorKind};
use super::routes::{METRICS, OPEN};
use super::runtime::now;
use super::shared::{OpenRequest, Shared};
use super::striped::thread;
use super::trace::Trace;

/// The header with the id of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over from a client.
const REQUEST_ID_BYTES_MAX: usize = 128;

/// How long a refusal for load is held back: clients that ask again at once, whatever `Retry-After` says,
/// would otherwise take the processor from those that were let in.
const REFUSAL_DELAY: Duration = Duration::from_millis(30);

/// The status under which a request counts whose client left before its answer, as in nginx.
const CLIENT_GONE: u16 = 499;

/// Counts a request once it ends, with an answer or without.
struct Counted<'a> {
    shared: &'a Shared,
    route: &'a str,
    start: Instant,
    /// The status of the answer, and what it took.
    answered: Option<(u16, Duration)>,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let answered = self.answered.take();
        let (code, took) = answered.unwrap_or_else(|| (CLIENT_GONE, self.start.elapsed()));
        self.shared.metrics.request(self.route, code, took);
    }
}

/// Runs a request by the router.
pub(crate) async fn gate(
    State(shared): State<Arc<Shared>>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let matched = matched.as_ref().map(MatchedPath::as_str);
    let (mut parts, body) = request.into_parts();
    let run = async |parts: &mut Parts| next.run(Request::from_parts(parts.clone(), body)).await;
    pass(&shared, matched, &mut parts, run).await
}

/// Runs a request, of which the route and the head are known, by `next`.
pub(crate) async fn pass(
    shared: &Arc<Shared>,
    matched: Option<&str>,
    parts: &mut Parts,
    next: impl AsyncFnOnce(&mut Parts) -> Response,
) -> Response {
    let start = now();
    let _open = OpenRequest::new(&**shared);
    let id = request_id(&parts.headers);
    let method = parts.method.clone();
    let route = matched.unwrap_or("unknown");
    let mut counted = Counted { shared, route, start, answered: None };
    let is_open = OPEN.contains(&route);
    let is_work = !is_open && route != METRICS;
    let trace = if is_work { shared.tracing.begin(parts, matched, &id) } else { Trace::default() };
    trace.attach(parts);
    let dialect = Dialect::of(route, &parts.headers);
    let mut response = if !is_open && !shared.tokens.load().admit(&parts.headers) {
        let message = "expected a known token: authorization: Bearer TOKEN";
        ApiError::new(ErrorKind::Unauthorized, message).into_response()
    } else if is_work && shared.is_draining() {
        shared.shed("draining");
        ApiError::new(ErrorKind::Draining, "the daemon is about to stop").into_response()
    } else {
        let mut answering = pin!(next(parts));
        tokio::select! {
            biased;
            response = &mut answering => response,
            () = shared.ended.cancelled() => {
                let message = "the daemon stops, and the answer is not there yet";
                ApiError::new(ErrorKind::Draining, message).into_response()
            }
        }
    };
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        if error.kind == ErrorKind::Overloaded {
            tokio::time::sleep(REFUSAL_DELAY).await;
        }
        response = error.answer(id.to_str().unwrap_or_default(), dialect);
    } else if response.status().is_client_error() && !is_ours(&response) {
        // A refusal of the framework, such as a path that is not UTF-8.
        let status = response.status();
        let error = ApiError { status, ..ApiError::bad_request(status.to_string()) };
        response = error.answer(id.to_str().unwrap_or_default(), dialect);
    }
    let (code, took) = (response.status().as_u16(), start.elapsed());
    let request_id = id.to_str().unwrap_or_default();
    let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if response.status().is_server_error() {
        tracing::warn!(request_id, trace_id = trace.id(), %method, route, code, us, "failed");
    } else {
        tracing::debug!(request_id, trace_id = trace.id(), %method, route, code, us, "answered");
    }
    trace.answered(response.status());
    counted.answered = Some((code, took));
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// Whether a refusal was made by a handler, which says so by a body of JSON.
fn is_ours(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
}

/// The id that the client gives, where it is short and plain, else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    };
    let given = headers.get(REQUEST_ID).filter(is_plain);
    given.cloned().unwrap_or_else(|| {
        HeaderValue::try_from(new_id()).unwrap_or(HeaderValue::from_static("unknown"))
    })
}

/// Ids that do not repeat, nor after a restart: 16 hexadecimal digits of this process, 4 of the thread, and
/// 12 that count the requests of the thread.
fn new_id() -> String {
    static PROCESS: LazyLock<u64> =
        LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
    thread_local! {
        static NEXT: Cell<u64> = Cell::new((thread() as u64) << 48);
    }
    let count = NEXT.replace(NEXT.get().wrapping_add(1));
    canonical::hex([*PROCESS, count].map(u64::to_be_bytes).as_flattened())
}
