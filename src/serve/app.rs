//! Who answers a request: the router, but for the main call.
//!
//! A router puts what it calls into boxes, five of them a request. For a sample that rules judge that is a
//! tenth of the work of a request, so `POST /v1/verify` goes the same way without it.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request};
use axum::http::request::Parts;
use axum::http::{Method, Version, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::error::ApiError;
use super::gate::pass;
use super::routes::verify::{VERIFY, verify};
use super::shared::{Asked, Shared};

/// Answers requests.
#[derive(Clone)]
pub(crate) struct App {
    router: TowerToHyperService<Router>,
    shared: Arc<Shared>,
}

impl App {
    pub(crate) fn new(router: Router, shared: &Arc<Shared>) -> Self {
        Self { router: TowerToHyperService::new(router), shared: Arc::clone(shared) }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response {
        // RFC 9112, section 3.2: proxies may read such a request in two ways.
        let is_ambiguous = request.version() == Version::HTTP_11 && hosts(&request) != 1;
        let is_verify = request.method() == Method::POST && request.uri().path() == VERIFY;
        if !is_ambiguous && !is_verify {
            let Ok(response) = self.router.call(request).await;
            return response;
        }
        let (mut parts, body) = request.into_parts();
        let route = if is_ambiguous { None } else { Some(VERIFY) };
        let answer = async |parts: &mut Parts| {
            if is_ambiguous {
                return ApiError::bad_request("expected one Host header").into_response();
            }
            self.verify(parts, Body::new(body)).await.into_response()
        };
        pass(&self.shared, route, &mut parts, answer).await
    }

    async fn verify(&self, parts: &mut Parts, body: Body) -> Result<Response, ApiError> {
        let asked = Asked::from_request_parts(parts, &self.shared).await?;
        verify(asked, parts, body).await
    }
}

fn hosts<B>(request: &Request<B>) -> usize {
    request.headers().get_all(header::HOST).iter().count()
}
