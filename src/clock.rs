//! Time, passed in. The clock of the machine is read here alone.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A monotonic clock.
pub trait Clock: Send + Sync {
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
}

/// The monotonic clock of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic(Instant);

impl Monotonic {
    /// A clock that starts now.
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Seconds since 1970, for files that other programs read; 0 on a machine that is before it.
#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
