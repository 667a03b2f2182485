//! Permits: how many calls an endpoint has in flight.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

/// The permits of one endpoint, shared by everyone who calls it.
#[derive(Debug)]
pub(super) struct Permits {
    semaphore: Semaphore,
    limit: Mutex<usize>,
    /// Permits that are taken away as soon as they come back.
    owed: AtomicUsize,
}

/// One call in flight.
#[derive(Debug)]
pub(super) struct Permit<'a> {
    permits: &'a Permits,
    inner: Option<SemaphorePermit<'a>>,
}

impl Permits {
    /// At most `limit` calls at once.
    pub(super) fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            semaphore: Semaphore::new(limit),
            limit: Mutex::new(limit),
            owed: AtomicUsize::new(0),
        }
    }

    /// Lowers the limit to `limit`, where that is less: the least of those configured counts.
    pub(super) fn lower_to(&self, limit: usize) {
        let mut current = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = current.saturating_sub(limit.max(1));
        *current -= surplus;
        let owed = surplus - self.semaphore.forget_permits(surplus);
        self.owed.fetch_add(owed, Ordering::AcqRel);
    }

    /// Waits for a permit. `None` only if the semaphore were closed, which it never is.
    pub(super) async fn acquire(&self) -> Option<Permit<'_>> {
        let inner = self.semaphore.acquire().await.ok()?;
        Some(Permit { permits: self, inner: Some(inner) })
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let owed = &self.permits.owed;
        let pays =
            owed.fetch_update(Ordering::AcqRel, Ordering::Acquire, |owed| owed.checked_sub(1));
        if let (Ok(_), Some(permit)) = (pays, self.inner.take()) {
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_least_limit_counts_even_while_permits_are_out() {
        let permits = Permits::new(3);
        let held: Vec<_> =
            [permits.acquire().await, permits.acquire().await, permits.acquire().await].into();
        permits.lower_to(1);
        permits.lower_to(8);
        drop(held);
        assert_eq!(permits.semaphore.available_permits(), 1);
        assert_eq!(*permits.limit.lock().unwrap(), 1);
    }
}
