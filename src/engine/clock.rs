//! Time, passed in: nothing but the binary reads a clock.

use assay_verifiers::Backstop;

/// A monotonic clock.
pub trait Clock: Send + Sync {
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
}

/// A clock that stands still: for callers that need neither timings nor deadlines.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClock;

impl Clock for NoClock {
    fn now_ns(&self) -> u64 {
        0
    }
}

/// The moment at which a verdict gives up.
pub(super) struct Deadline<'a> {
    clock: &'a dyn Clock,
    at_ns: u64,
}

impl<'a> Deadline<'a> {
    pub(super) fn after_ms(clock: &'a dyn Clock, now_ns: u64, limit_ms: u64) -> Self {
        Self { clock, at_ns: now_ns.saturating_add(limit_ms.saturating_mul(1_000_000)) }
    }
}

impl Backstop for Deadline<'_> {
    fn expired(&self) -> bool {
        self.clock.now_ns() > self.at_ns
    }
}
