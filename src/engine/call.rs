//! One call of the engine: its deadline, and its cancellation once the caller dropped it.

use smart_default::SmartDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_verifiers::Cancellation;
use assay_verifiers::TrainingState;

use crate::clock::Clock;

/// How samples are to be scored.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct ScoreOptions {
    /// How long the call may take, waiting for room included. What is not judged by then is a
    /// `Timeout`; `None` leaves it to the deadline of single verdicts (`limits.deadline_ms`).
    pub deadline: Option<Duration>,
    /// The training step, which `when`, `combine.expression`, scheduled weights and shapes see; 0 by
    /// default.
    pub step: u64,
    /// What shapes know of the training beside its step: nothing by default. The step in it is not
    /// read.
    pub training: TrainingState,
    /// Whether models, judges and other services are asked. Where they are not, their rewards abstain.
    #[default(true)]
    pub ask: bool,
    /// Whether the call waits where too many samples are in flight. One that does not wait gets
    /// `Overloaded` for every sample.
    #[default(true)]
    pub wait: bool,
}

impl ScoreOptions {
    /// Where a training stands, its step included.
    pub fn at(training: TrainingState) -> Self {
        Self { step: training.step, training, ..Self::default() }
    }
}

/// What the work of one call shares.
pub(super) struct Call {
    /// Where the training stands.
    pub(super) training: TrainingState,
    /// Whether services are asked.
    ask: bool,
    /// The moment at which the call is to be over.
    deadline_ns: Option<u64>,
    given_up: AtomicBool,
}

impl Call {
    pub(super) fn new(options: &ScoreOptions, now_ns: u64) -> Self {
        let deadline_ns = options.deadline.map(|deadline| {
            now_ns.saturating_add(u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX))
        });
        let training = TrainingState { step: options.step, ..options.training.clone() };
        Self { training, ask: options.ask, deadline_ns, given_up: AtomicBool::new(false) }
    }

    /// Whether models, judges and other services are asked.
    pub(super) fn asks(&self) -> bool {
        self.ask
    }

    /// The training step.
    pub(super) fn step(&self) -> u64 {
        self.training.step
    }

    /// Whether the deadline was over when a verdict starts.
    pub(super) fn is_over(&self, start_ns: u64) -> bool {
        self.deadline_ns.is_some_and(|at| start_ns > at)
    }

    /// Time that is left, where the call has a deadline.
    pub(super) fn left(&self, now_ns: u64) -> Option<Duration> {
        self.deadline_ns.map(|at| Duration::from_nanos(at.saturating_sub(now_ns)))
    }
}

/// Gives a call up once it is dropped: verifiers that run stop at their next look at the meter.
pub(super) struct GiveUp(pub(super) Arc<Call>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.given_up.store(true, Ordering::Relaxed);
    }
}

/// Cancels one verdict: at its own deadline, at that of its call, or once the call was dropped.
pub(super) struct VerdictLimit<'a> {
    clock: &'a dyn Clock,
    call: &'a Call,
    closed: &'a AtomicBool,
    at_ns: u64,
}

impl<'a> VerdictLimit<'a> {
    pub(super) fn new(
        clock: &'a dyn Clock,
        call: &'a Call,
        closed: &'a AtomicBool,
        own_ns: u64,
    ) -> Self {
        let at_ns = call.deadline_ns.map_or(own_ns, |at| at.min(own_ns));
        Self { clock, call, closed, at_ns }
    }
}

impl Cancellation for VerdictLimit<'_> {
    fn expired(&self) -> bool {
        self.call.given_up.load(Ordering::Relaxed)
            || self.closed.load(Ordering::Relaxed)
            || self.clock.now_ns() > self.at_ns
    }
}
