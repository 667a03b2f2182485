//! Verifiers that are closures.

use std::future::Future;
use std::sync::Arc;

use assay_verifiers::{
    AsyncVerifier, BuildError, Built, Earlier, Files, Lane, Meter, Pending, Sample, Spec, Verdict,
    Verifier, check,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The settings of a closure.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoSettings {}

/// A closure of the compute lane.
struct Closure<F>(Arc<F>);

/// A closure of the awaited lane.
struct AsyncClosure<F> {
    judge: F,
    in_flight_max: usize,
}

/// Makes the verifier of a closure as often as a configuration names it.
pub(super) fn builder(
    id: String,
    lane: impl Fn() -> Lane + Send + Sync + 'static,
) -> impl Fn(Value, &dyn Files) -> Result<Built, BuildError> + Send + Sync + 'static {
    move |settings: Value, _: &dyn Files| {
        check::settings::<NoSettings>(settings)?;
        let lane = lane();
        let spec = Spec {
            reads_verdicts: !lane.is_awaited(),
            ..Spec::new(id.clone(), 1, Value::Object(Map::new()))
        };
        Ok(Built::new(spec, lane))
    }
}

pub(super) fn compute<F>(judge: F) -> impl Fn() -> Lane + Send + Sync + 'static
where
    F: Fn(&Sample, Earlier<'_>) -> Verdict + Send + Sync + 'static,
{
    let judge = Arc::new(judge);
    move || Lane::Compute(Box::new(Closure(Arc::clone(&judge))))
}

pub(super) fn awaited<F, R>(
    in_flight_max: usize,
    judge: F,
) -> impl Fn() -> Lane + Send + Sync + 'static
where
    F: Fn(Sample) -> R + Send + Sync + 'static,
    R: Future<Output = Verdict> + Send + 'static,
{
    let closure: Arc<dyn AsyncVerifier> = Arc::new(AsyncClosure { judge, in_flight_max });
    move || Lane::Awaited(Arc::clone(&closure))
}

impl<F> Verifier for Closure<F>
where
    F: Fn(&Sample, Earlier<'_>) -> Verdict + Send + Sync,
{
    fn verify(&self, sample: &Sample, earlier: Earlier<'_>, _: &mut Meter<'_>) -> Verdict {
        (self.0)(sample, earlier)
    }
}

impl<F, R> AsyncVerifier for AsyncClosure<F>
where
    F: Fn(Sample) -> R + Send + Sync + 'static,
    R: Future<Output = Verdict> + Send + 'static,
{
    fn in_flight_max(&self) -> Option<usize> {
        Some(self.in_flight_max)
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        _: Earlier<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        // The closure runs where its future is polled, and not before there is a permit.
        let sample = sample.clone();
        Box::pin(async move { (self.judge)(sample).await })
    }
}
