//! The spans of requests, in the conventions of OpenTelemetry: one for a request, and below it one for each
//! wait for permits and for each time that something is judged.
//!
//! A span of a request that nobody asked to sample makes none below it. Nothing that a sample says is in one:
//! texts of clients are the path and the id of the request, and both are cut.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use assay_verifiers::{Outcome, Scored};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, StatusCode, Version, header};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, Span};

use crate::setup::Traces;

/// The most spans below that of a request: a stream may have rows without end.
const BELOW_MAX: usize = 128;
/// The most bytes of a text that a client sent.
const TEXT_BYTES_MAX: usize = 256;

/// Whether requests are traced, and by what.
#[derive(Default)]
pub(crate) struct Tracing(OnceLock<Tracer>);

struct Tracer {
    tracer: SdkTracer,
    scheme: &'static str,
}

/// The span of a request. It ends with its last clone. Empty where the request is not traced.
#[derive(Clone, Default)]
pub(crate) struct Trace(Option<Arc<RequestSpan>>);

struct RequestSpan {
    tracer: SdkTracer,
    context: Context,
    profile: OnceLock<String>,
    samples: AtomicUsize,
    below: AtomicUsize,
}

/// A span below that of a request. It ends with the value.
pub(crate) struct Step(Option<Span>);

impl Tracing {
    /// Traces requests from now on.
    pub(crate) fn start(&self, traces: &Traces, is_tls: bool) {
        let scheme = if is_tls { "https" } else { "http" };
        let _ = self.0.set(Tracer { tracer: traces.tracer().clone(), scheme });
    }

    /// Begins the span of a request. What the request says of a trace is its parent.
    pub(crate) fn begin(&self, parts: &Parts, route: Option<&str>, id: &HeaderValue) -> Trace {
        let Some(Tracer { tracer, scheme }) = self.0.get() else { return Trace::default() };
        let headers = HeaderExtractor(&parts.headers);
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
        let method = method(&parts.method);
        let name = match route {
            Some(route) => format!("{} {route}", method.unwrap_or("HTTP")),
            None => method.unwrap_or("HTTP").to_owned(),
        };
        let mut told = of_head(parts, method);
        told.push(KeyValue::new("url.scheme", *scheme));
        told.extend(route.map(|route| KeyValue::new("http.route", route.to_owned())));
        told.push(KeyValue::new("assay.request_id", cut(id.to_str().unwrap_or_default())));
        let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Server);
        let span = tracer.build_with_context(builder.with_attributes(told), &parent);
        Trace(Some(Arc::new(RequestSpan {
            tracer: tracer.clone(),
            context: Context::new().with_span(span),
            profile: OnceLock::new(),
            samples: AtomicUsize::new(0),
            below: AtomicUsize::new(0),
        })))
    }
}

impl Trace {
    /// The trace of a request that came through the gate.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get().cloned().unwrap_or_default()
    }

    /// Lets the handler of the request find it.
    pub(crate) fn attach(&self, parts: &mut Parts) {
        if self.0.is_some() {
            parts.extensions.insert(self.clone());
        }
    }

    /// The id of the trace, for the log.
    pub(crate) fn id(&self) -> Option<String> {
        let span = self.0.as_ref()?;
        Some(span.context.span().span_context().trace_id().to_string())
    }

    /// The request is answered.
    pub(crate) fn answered(&self, status: StatusCode) {
        let Some(traced) = &self.0 else { return };
        let span = traced.context.span();
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        if status.is_server_error() {
            span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
            span.set_status(Status::error(""));
        }
    }

    /// The profile by which the request is judged.
    pub(crate) fn judged_by(&self, profile: &str) {
        if let Some(traced) = &self.0 {
            let _ = traced.profile.set(profile.to_owned());
        }
    }

    /// The judging of so many samples.
    pub(crate) fn score(&self, samples: usize) -> Step {
        if let Some(traced) = &self.0 {
            traced.samples.fetch_add(samples, Ordering::Relaxed);
        }
        self.step("score", samples)
    }

    /// What is done of a request for so many samples.
    pub(crate) fn step(&self, name: &'static str, samples: usize) -> Step {
        let Some(traced) = &self.0 else { return Step(None) };
        let is_wanted = traced.context.span().is_recording()
            && traced.below.fetch_add(1, Ordering::Relaxed) < BELOW_MAX;
        Step(is_wanted.then(|| {
            let builder = SpanBuilder::from_name(name)
                .with_attributes([KeyValue::new("assay.samples", int(samples))]);
            traced.tracer.build_with_context(builder, &traced.context)
        }))
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        let span = self.context.span();
        let samples = *self.samples.get_mut();
        if samples > 0 {
            span.set_attribute(KeyValue::new("assay.samples", int(samples)));
        }
        if let Some(profile) = self.profile.take() {
            span.set_attribute(KeyValue::new("assay.profile", profile));
        }
        span.end();
    }
}

impl Step {
    /// What came of the samples, by each of the rewards: an event, because the engine says how long a
    /// verdict took and not when.
    pub(crate) fn judged(&mut self, rewards: &[String], scored: &[Scored]) {
        let Some(span) = self.0.as_mut() else { return };
        for (at, name) in rewards.iter().enumerate() {
            let mut counts = [0_usize; 3];
            let mut spent_ns = 0_u64;
            for one in scored {
                let Some(verdict) = one.verdicts.as_slice().get(at) else { continue };
                let [scored, abstained, failed] = &mut counts;
                *match verdict.outcome {
                    Outcome::Scored(_) => scored,
                    Outcome::Abstained(_) => abstained,
                    Outcome::Failed(_) => failed,
                } += 1;
                spent_ns += one.spent_ns.get(at).copied().unwrap_or_default();
            }
            let [scored, abstained, failed] = counts.map(int);
            let spent = Duration::from_nanos(spent_ns).as_secs_f64();
            let told = vec![
                KeyValue::new("assay.verifier", name.clone()),
                KeyValue::new("assay.scored", scored),
                KeyValue::new("assay.abstained", abstained),
                KeyValue::new("assay.failed", failed),
                KeyValue::new("assay.spent_seconds", spent),
            ];
            span.add_event("verifier", told);
        }
    }
}

/// What the head of a request says.
fn of_head(parts: &Parts, method: Option<&'static str>) -> Vec<KeyValue> {
    let mut told = vec![
        KeyValue::new("http.request.method", method.unwrap_or("_OTHER")),
        KeyValue::new("url.path", cut(parts.uri.path())),
    ];
    if method.is_none() {
        told.push(KeyValue::new("http.request.method_original", cut(parts.method.as_str())));
    }
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) {
        told.push(KeyValue::new("server.address", cut(host.host())));
        told.extend(host.port_u16().map(|port| KeyValue::new("server.port", i64::from(port))));
    }
    let version = match parts.version {
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    };
    told.push(KeyValue::new("network.protocol.version", version));
    told
}

/// The name of a method that is known.
fn method(method: &Method) -> Option<&'static str> {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
    known.into_iter().find(|known| method == known)
}

fn int(count: usize) -> Value {
    Value::I64(i64::try_from(count).unwrap_or(i64::MAX))
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned()
}
