//! The circuit breaker: an endpoint whose calls fail one after the other is left alone for a while.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many calls fail in a row before the endpoint is left alone.
pub(crate) const FAILURES_MAX: u32 = 5;

/// How long it is left alone before one call is let through as a probe.
const OPEN: Duration = Duration::from_secs(10);

/// The state of an endpoint. Only the final failures of calls count, not their tries, and a call
/// that the endpoint answered resets the count.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    opened: Option<Instant>,
    probing: bool,
}

/// Lets one call through. Dropped without a result, as when a call is cancelled, it says nothing
/// about the endpoint.
#[derive(Debug)]
pub(super) struct Admission<'a> {
    breaker: &'a Breaker,
    probe: bool,
}

impl Breaker {
    /// Whether a call would be refused now.
    pub(super) fn refuses(&self) -> bool {
        self.with(|state| state.refuses())
    }

    /// Lets a call through, or says `None` while the endpoint is left alone.
    pub(super) fn admit(&self) -> Option<Admission<'_>> {
        self.with(|state| {
            if state.refuses() {
                return None;
            }
            let probe = state.opened.is_some();
            state.probing = probe;
            Some(Admission { breaker: self, probe })
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn refuses(&self) -> bool {
        self.opened.is_some_and(|at| self.probing || at.elapsed() < OPEN)
    }

    fn failed(&mut self, probe: bool) {
        self.failures = self.failures.saturating_add(1);
        let reached = self.opened.is_none() && self.failures >= FAILURES_MAX;
        if probe || reached {
            self.opened = Some(Instant::now());
        }
    }
}

impl Admission<'_> {
    /// The endpoint answered.
    pub(super) fn answered(self) {
        self.breaker.with(|state| *state = State::default());
    }

    /// The call failed for good.
    pub(super) fn failed(self) {
        self.breaker.with(|state| state.failed(self.probe));
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if self.probe {
            self.breaker.with(|state| state.probing = false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.admit().unwrap().failed();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_five_failures_in_a_row() {
        let breaker = Breaker::default();
        fail(&breaker, 4);
        breaker.admit().unwrap().answered();
        fail(&breaker, 4);
        assert!(!breaker.refuses(), "an answer in between starts the count again");
        fail(&breaker, 1);
        assert!(breaker.refuses() && breaker.admit().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn half_open_lets_one_probe_through() {
        let breaker = Breaker::default();
        fail(&breaker, 5);
        tokio::time::advance(Duration::from_millis(9_999)).await;
        assert!(breaker.refuses());
        tokio::time::advance(Duration::from_millis(1)).await;
        let probe = breaker.admit().unwrap();
        assert!(breaker.admit().is_none(), "one probe at a time");
        probe.failed();
        assert!(breaker.refuses(), "a failed probe opens it again");
        tokio::time::advance(OPEN).await;
        breaker.admit().unwrap().answered();
        assert!(breaker.admit().is_some() && breaker.admit().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_probe_makes_room_for_another() {
        let breaker = Breaker::default();
        fail(&breaker, 5);
        tokio::time::advance(OPEN).await;
        drop(breaker.admit().unwrap());
        assert!(breaker.admit().is_some());
    }
}
