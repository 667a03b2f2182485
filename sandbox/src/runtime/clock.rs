//! The guest's own clock: it advances with the fuel that is spent and with every sleep, so that a
//! program sees the same times on every machine, and sleeping takes no real time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// The time at which every guest starts: 2025-01-01T00:00:00Z.
pub(super) const START: Duration = Duration::from_hours(482_136);
/// Ten units of fuel take a nanosecond: near what they take on a real machine.
const FUEL_PER_NS: u64 = 10;

/// A virtual clock. Clones share their time, so that both sides of a test see the same one.
#[derive(Clone, Debug, Default)]
pub struct GuestClock(Arc<Time>);

#[derive(Debug, Default)]
struct Time {
    fuel: AtomicU64,
    slept_ns: AtomicU64,
}

impl GuestClock {
    /// A clock that is at its start.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nanoseconds since the start.
    pub fn now_ns(&self) -> u64 {
        let worked = self.0.fuel.load(Ordering::Relaxed) / FUEL_PER_NS;
        worked.saturating_add(self.slept_ns())
    }

    /// Nanoseconds that were slept.
    pub fn slept_ns(&self) -> u64 {
        self.0.slept_ns.load(Ordering::Relaxed)
    }

    pub(super) fn work(&self, fuel: u64) {
        self.0.fuel.fetch_add(fuel, Ordering::Relaxed);
    }

    pub(super) fn sleep(&self, ns: u64) {
        let add = |slept: u64| Some(slept.saturating_add(ns));
        // The closure always gives a value, so the update cannot fail.
        let _ = self.0.slept_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}

impl HostMonotonicClock for GuestClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        self.now_ns()
    }
}

impl HostWallClock for GuestClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        START + Duration::from_nanos(self.now_ns())
    }
}
