//! In place of the spans of requests, which this build is without.

use assay_verifiers::Scored;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};

/// Nothing is traced.
#[derive(Default)]
pub(crate) struct Tracing {}

/// A request that is not traced.
#[derive(Clone, Default)]
pub(crate) struct Trace {}

/// A part of a request that is not traced.
pub(crate) struct Step {}

#[expect(clippy::unused_self, reason = "it has the signature of the build that traces requests")]
impl Tracing {
    pub(crate) fn begin(&self, _: &Parts, _: Option<&str>, _: &HeaderValue) -> Trace {
        Trace {}
    }
}

#[expect(clippy::unused_self, reason = "it has the signature of the build that traces requests")]
impl Trace {
    pub(crate) fn of(_: &Parts) -> Self {
        Self {}
    }

    pub(crate) fn attach(&self, _: &mut Parts) {}

    pub(crate) fn id(&self) -> Option<&'static str> {
        None
    }

    pub(crate) fn answered(&self, _: StatusCode) {}

    pub(crate) fn judged_by(&self, _: &str) {}

    pub(crate) fn score(&self, _: usize) -> Step {
        Step {}
    }

    pub(crate) fn step(&self, _: &'static str, _: usize) -> Step {
        Step {}
    }
}

#[expect(clippy::unused_self, reason = "it has the signature of the build that traces requests")]
impl Step {
    pub(crate) fn judged(&mut self, _: &[String], _: &[Scored]) {}
}
