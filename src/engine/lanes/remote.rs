//! The remote lane: one sample at a time, awaited, with a bounded number in flight.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use assay_verifiers::{Fault, FaultKind, Lane, RemoteVerifier, Sample, Verdict};
use futures_util::FutureExt as _;
use tokio::sync::Semaphore;

use super::panicked;
use crate::engine::plan::Planned;

/// The permits of one remote verifier, shared by all callers.
pub(crate) struct Permits(Semaphore);

impl Permits {
    /// The permits of a reward; `None` where that is not of this lane.
    pub(crate) fn of(reward: &Planned) -> Option<Self> {
        match &reward.built.lane {
            Lane::Remote(verifier) => Some(Self(Semaphore::new(verifier.in_flight_max().max(1)))),
            _ => None,
        }
    }

    /// Judges a sample once there is a permit. The deadline counts from then on.
    pub(crate) async fn verify(
        &self,
        verifier: &dyn RemoteVerifier,
        sample: &Sample,
        deadline_ms: u64,
    ) -> Verdict {
        let Ok(_permit) = self.0.acquire().await else {
            return Verdict::failed(Fault::internal("the permits are closed"));
        };
        let judged = AssertUnwindSafe(verifier.verify(sample)).catch_unwind();
        match tokio::time::timeout(Duration::from_millis(deadline_ms), judged).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(panic)) => Verdict::failed(panicked(&*panic)),
            Err(_) => Verdict::failed(Fault::new(
                FaultKind::Timeout,
                format!("no answer within {deadline_ms} ms"),
            )),
        }
    }
}
