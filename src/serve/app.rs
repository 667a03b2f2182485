//! Who answers a request: the router, but for the main call.
//!
//! A router puts what it calls into boxes, five of them a request. For a sample that rules judge that is a
//! tenth of the work of a request, so `POST /v1/verify` goes the same way without it, on the thread of its
//! connection. All else, and whatever is large, goes to the threads that all requests share.

use std::io;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request};
use axum::http::request::Parts;
use axum::http::{Method, Version};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::gate::pass;
use super::payload::content_length;
use super::routes::verify::{VERIFY, verify};
use super::runtime::Workers;
use crate::serve::prelude::*;

/// The longest body that is read and judged on the thread of its connection: reading takes 50 µs.
const NEAR_BYTES_MAX: u64 = 32 << 10;

/// Answers requests.
#[derive(Clone)]
pub(crate) struct App {
    router: TowerToHyperService<Router>,
    workers: Workers,
    shared: Arc<Shared>,
}

impl App {
    /// To be made in the runtime of the threads that all requests share.
    pub(crate) fn new(router: Router, shared: &Arc<Shared>) -> Self {
        let router = TowerToHyperService::new(router);
        Self { router, workers: Workers::current(), shared: Arc::clone(shared) }
    }

    /// Fails where a handler panics: the connection is closed then.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> io::Result<Response> {
        // RFC 9112, section 3.2: proxies may read such a request in two ways.
        let is_ambiguous = request.version() == Version::HTTP_11 && hosts(&request) != 1;
        let is_verify = request.method() == Method::POST && request.uri().path() == VERIFY;
        let is_here = is_ambiguous || is_verify && is_near(request.headers());
        if !is_here {
            let answered = self.workers.run(self.router.call(request)).await;
            let Ok(response) = answered.ok_or(io::ErrorKind::ConnectionAborted)?;
            return Ok(response);
        }
        let (mut parts, body) = request.into_parts();
        let route = if is_ambiguous { None } else { Some(VERIFY) };
        let answer = async |parts: &mut Parts| {
            if is_ambiguous {
                return ApiError::bad_request("expected one Host header").into_response();
            }
            self.verify(parts, Body::new(body)).await.into_response()
        };
        Ok(pass(&self.shared, route, &mut parts, answer).await)
    }

    async fn verify(&self, parts: &mut Parts, body: Body) -> Result<Response, ApiError> {
        let asked = Asked::from_request_parts(parts, &self.shared).await?;
        verify(asked, parts, body).await
    }
}

/// Whether a body is read and judged on the thread of its connection.
fn is_near(headers: &HeaderMap) -> bool {
    content_length(headers).is_some_and(|length| length <= NEAR_BYTES_MAX)
}

fn hosts<B>(request: &Request<B>) -> usize {
    request.headers().get_all(header::HOST).iter().count()
}
