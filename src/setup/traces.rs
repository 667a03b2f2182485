//! Traces: whether spans are made and where they go, as the variables of OpenTelemetry say.
//!
//! Its crates read some of these variables themselves, and they do so here alone, where [`Traces`] are
//! made. What cannot be used is an error in place of a silent default: the daemon tells it and serves
//! without traces.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use super::collector::Collector;
use super::variable_text;

/// How long the last spans may take on their way to the collector.
const FLUSH: Duration = Duration::from_secs(5);
/// How long the collector may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The name of the service, where no variable has one.
const SERVICE: &str = "assay";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes spans, and sends them to a collector from a thread of its own. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

/// Why no traces are sent, for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TracesError(String);

impl Traces {
    /// What the variables ask for: nothing unless one of them names a collector.
    ///
    /// # Errors
    /// A variable that asks for what there is not.
    pub fn of_environment() -> Result<Option<Self>, TracesError> {
        let is_off =
            variable_text("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let Some(endpoint) = otlp("ENDPOINT").filter(|_| !is_off) else { return Ok(None) };
        if expected("OTEL_TRACES_EXPORTER", &["otlp", "none"])?.as_deref() == Some("none") {
            return Ok(None);
        }
        if !endpoint.starts_with("http://") && !endpoint.starts_with("https://") {
            // It is not repeated, as it may hold a password.
            let why = "OTEL_EXPORTER_OTLP_ENDPOINT: expected http://HOST:PORT or https://HOST:PORT";
            return Err(TracesError(why.to_owned()));
        }
        for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            expected(name, &["http/protobuf"])?;
        }
        check_sampler()?;
        let exporter = SpanExporter::builder().with_http().with_http_client(collector()?).build();
        let exporter = exporter.map_err(|error| TracesError(error.to_string()))?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_batch_exporter(exporter)
            .build();
        let scope = InstrumentationScope::builder(SERVICE).with_version(VERSION).build();
        Ok(Some(Self { tracer: provider.tracer_with_scope(scope), provider }))
    }

    /// What makes spans.
    pub fn tracer(&self) -> &SdkTracer {
        &self.tracer
    }

    /// Sends what is left and ends. It waits for the collector, though not for long: not to be called
    /// where requests are served.
    pub fn end(&self) {
        // What became of the last spans is logged where they are sent.
        let _ = self.provider.shutdown_with_timeout(FLUSH);
    }
}

/// A setting of the exporter: that for traces wins over that for everything.
fn otlp(setting: &str) -> Option<String> {
    let of = |signal: &str| variable_text(&format!("OTEL_EXPORTER_OTLP_{signal}{setting}"));
    of("TRACES_").or_else(|| of(""))
}

/// What a variable says, which is one of `known` where it is set.
fn expected(name: &str, known: &[&str]) -> Result<Option<String>, TracesError> {
    let found = variable_text(name);
    match &found {
        Some(found) if !known.contains(&found.as_str()) => {
            let known = known.join(" or ");
            Err(TracesError(format!("{name}: found {found:?}, expected {known}")))
        }
        _ => Ok(found),
    }
}

/// Refuses what would silently become another sampler.
fn check_sampler() -> Result<(), TracesError> {
    let by_ratio = ["traceidratio", "parentbased_traceidratio"];
    let known = [
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
    ];
    let sampler = expected("OTEL_TRACES_SAMPLER", &known)?;
    if !sampler.is_some_and(|sampler| by_ratio.contains(&sampler.as_str())) {
        return Ok(());
    }
    let name = "OTEL_TRACES_SAMPLER_ARG";
    match variable_text(name) {
        Some(share) if !share.parse().is_ok_and(|share: f64| (0.0..=1.0).contains(&share)) => {
            Err(TracesError(format!("{name}: found {share:?}, expected a number from 0 to 1")))
        }
        _ => Ok(()),
    }
}

/// The client of the collector.
fn collector() -> Result<Collector, TracesError> {
    let timeout = match otlp("TIMEOUT") {
        None => TIMEOUT,
        Some(found) => Duration::from_millis(found.parse().map_err(|_| {
            let name = "OTEL_EXPORTER_OTLP_TIMEOUT";
            TracesError(format!("{name}: found {found:?}, expected milliseconds"))
        })?),
    };
    let certificate = otlp("CERTIFICATE").map(|path| {
        let read = std::fs::read(&path);
        read.map_err(|error| {
            TracesError(format!("OTEL_EXPORTER_OTLP_CERTIFICATE: {path}: {error}"))
        })
    });
    let is_gzip = otlp("COMPRESSION").is_some_and(|it| it.eq_ignore_ascii_case("gzip"));
    Collector::new(timeout, certificate.transpose()?.as_deref(), is_gzip).map_err(TracesError)
}

/// Who sends: the variables win over what we say of ourselves.
fn resource() -> Resource {
    let ours = [KeyValue::new("service.name", SERVICE), KeyValue::new("service.version", VERSION)];
    let told = Resource::builder_empty()
        .with_attributes(ours)
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match variable_text("OTEL_SERVICE_NAME") {
        Some(name) => told.with_service_name(name).build(),
        None => told.build(),
    }
}
