//! The one pool of permits: how many samples are judged at once over all requests, and how many wait.
//!
//! There is no queue before or after this one. A request asks for all of its permits in one go, so that
//! no two requests hold what the other waits for; permits are given in the order of asking.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::error::ApiError;

/// The pool, and its limits.
pub(crate) struct Admission {
    pool: Arc<Pool>,
    in_flight_max: usize,
    queue_max: usize,
}

/// What every request writes, in one place.
#[derive(Debug)]
struct Pool {
    permits: Semaphore,
    /// Samples that have permits. The first that waits may have some of its permits set aside.
    in_flight: AtomicUsize,
    waiting: AtomicUsize,
}

/// Permits of a request; dropping them gives them back.
#[derive(Debug)]
pub(crate) struct Admitted {
    pool: Arc<Pool>,
    count: usize,
}

impl Admitted {
    /// Takes over the permits of so many samples.
    fn new(pool: &Arc<Pool>, permits: SemaphorePermit<'_>, count: usize) -> Self {
        permits.forget();
        pool.in_flight.fetch_add(count, Ordering::Relaxed);
        Self { pool: Arc::clone(pool), count }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.pool.in_flight.fetch_sub(self.count, Ordering::Relaxed);
        self.pool.permits.add_permits(self.count);
    }
}

/// A place in the queue.
struct Place<'a> {
    waiting: &'a AtomicUsize,
    count: usize,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.count, Ordering::Relaxed);
    }
}

impl Admission {
    pub(crate) fn new(in_flight_max: usize, queue_max: usize) -> Self {
        let in_flight_max = in_flight_max.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let permits = Semaphore::new(in_flight_max);
        let [in_flight, waiting] = [0; 2].map(AtomicUsize::new);
        Self { pool: Arc::new(Pool { permits, in_flight, waiting }), in_flight_max, queue_max }
    }

    /// Samples that are being judged.
    pub(crate) fn in_flight(&self) -> usize {
        self.pool.in_flight.load(Ordering::Relaxed)
    }

    /// Samples that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.pool.waiting.load(Ordering::Relaxed)
    }

    /// Refuses where a request of one sample would find no place, before its body is read.
    pub(crate) fn look(&self) -> Result<(), ApiError> {
        let is_full =
            self.pool.permits.available_permits() == 0 && self.waiting() >= self.queue_max;
        if is_full { Err(self.refusal()) } else { Ok(()) }
    }

    /// Permits for `samples` where nobody waits and there are so many.
    pub(crate) fn enter_at_once(&self, samples: usize) -> Option<Admitted> {
        let (count, weight) = self.weight(samples);
        let permits = self.pool.permits.try_acquire_many(weight).ok()?;
        Some(Admitted::new(&self.pool, permits, count))
    }

    /// Waits in the queue for permits for `samples`; for all of them where there are more samples than
    /// permits.
    pub(crate) async fn wait(&self, samples: usize, until: Instant) -> Result<Admitted, ApiError> {
        let (count, weight) = self.weight(samples);
        let waiting = &self.pool.waiting;
        let ahead = waiting.fetch_add(count, Ordering::Relaxed);
        let _place = Place { waiting, count };
        // A request that is larger than the queue may still be the only one in it.
        if ahead > 0 && ahead + count > self.queue_max || self.queue_max == 0 {
            return Err(self.refusal());
        }
        let permits = self.pool.permits.acquire_many(weight);
        match tokio::time::timeout_at(until.into(), permits).await {
            Ok(Ok(permits)) => Ok(Admitted::new(&self.pool, permits, count)),
            Ok(Err(_)) | Err(_) => Err(ApiError::overloaded("no permits within the deadline")),
        }
    }

    /// How many permits `samples` take, also as the semaphore counts them.
    fn weight(&self, samples: usize) -> (usize, u32) {
        let count = samples.clamp(1, self.in_flight_max);
        (count, u32::try_from(count).unwrap_or(u32::MAX))
    }

    fn refusal(&self) -> ApiError {
        ApiError::overloaded(format!(
            "{} samples are under way and {} wait; at most {} wait",
            self.in_flight(),
            self.waiting(),
            self.queue_max
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::super::runtime::now;
    use super::*;

    async fn enter(pool: &Admission, samples: usize, until: Instant) -> Result<Admitted, ApiError> {
        match pool.enter_at_once(samples) {
            Some(admitted) => Ok(admitted),
            None => pool.wait(samples, until).await,
        }
    }

    fn later() -> Instant {
        now() + Duration::from_hours(1)
    }

    #[tokio::test]
    async fn what_finds_no_place_is_refused_and_what_leaves_makes_room() {
        let pool = Admission::new(4, 3);
        let first = enter(&pool, 3, later()).await.unwrap();
        let mut second = Box::pin(enter(&pool, 2, later()));
        assert!((&mut second).now_or_never().is_none());
        assert_eq!((pool.in_flight(), pool.waiting()), (3, 2));
        let refused = enter(&pool, 2, later()).now_or_never().unwrap().unwrap_err();
        assert_eq!(refused.status, 429);
        assert_eq!(pool.waiting(), 2);
        // One that gives up leaves the queue.
        let mut third = Box::pin(enter(&pool, 1, later()));
        let _ = (&mut third).now_or_never();
        drop(third);
        drop(first);
        assert!(second.await.is_ok());
        assert_eq!((pool.in_flight(), pool.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn a_request_larger_than_the_pool_takes_all_of_it() {
        let pool = Admission::new(4, 4);
        let all = enter(&pool, 1000, later()).await.unwrap();
        assert_eq!(pool.in_flight(), 4);
        assert!(pool.look().is_ok());
        let queue: Vec<_> = (0..4)
            .map(|_| {
                let mut one = Box::pin(enter(&pool, 1, later()));
                assert!((&mut one).now_or_never().is_none());
                one
            })
            .collect();
        assert_eq!(pool.look().unwrap_err().status, 429);
        drop(queue);
        drop(all);
        assert_eq!((pool.in_flight(), pool.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn nobody_waits_beyond_the_deadline() {
        let pool = Admission::new(1, 1);
        let _held = enter(&pool, 1, later()).await.unwrap();
        let refused = enter(&pool, 1, now()).await.unwrap_err();
        assert_eq!(refused.status, 429);
        assert_eq!(pool.waiting(), 0);
    }
}
