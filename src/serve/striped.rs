//! Counts that every request adds to. Two cores that write one line of memory in turns wait for it each
//! time, longer than the counting takes, so that each thread has a line of its own. They are added up where
//! they are read.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use prometheus_client::metrics::counter::{Atomic, Counter};

/// Lines. Threads beyond that share them.
const STRIPES: usize = 8;

/// A counter of Prometheus that many threads add to.
pub(crate) type StripedCounter = Counter<u64, Striped<1>>;

/// Counts side by side, all from 0.
#[derive(Debug)]
pub(crate) struct Striped<const N: usize>([CachePadded<[AtomicU64; N]>; STRIPES]);

impl<const N: usize> Default for Striped<N> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| CachePadded::new([const { AtomicU64::new(0) }; N])))
    }
}

impl<const N: usize> Striped<N> {
    /// Adds to the count at a place; there is none beyond the last. What the line of this thread had
    /// there comes back.
    pub(crate) fn add(&self, at: usize, count: u64) -> u64 {
        let own = self.0.get(thread() % STRIPES).and_then(|counts| counts.get(at));
        own.map_or(0, |own| own.fetch_add(count, Ordering::Relaxed))
    }

    /// The count at a place: 0 beyond the last.
    pub(crate) fn sum(&self, at: usize) -> u64 {
        let counts = self.0.iter().filter_map(|counts| counts.get(at));
        counts.map(|count| count.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }
}

impl Atomic<u64> for Striped<1> {
    fn inc(&self) -> u64 {
        self.inc_by(1)
    }

    /// Nobody asks what the count was before, and it would take the lines of all threads to know.
    fn inc_by(&self, count: u64) -> u64 {
        self.add(0, count)
    }

    fn get(&self) -> u64 {
        self.sum(0)
    }
}

/// The number of this thread, from 0 on.
pub(crate) fn thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    OWN.get().unwrap_or_else(|| {
        let own = NEXT.fetch_add(1, Ordering::Relaxed);
        OWN.set(Some(own));
        own
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_threads_add_up() {
        let counts = Striped::<2>::default();
        std::thread::scope(|scope| {
            for _ in 0..2 * STRIPES {
                scope.spawn(|| {
                    for _ in 0..100 {
                        counts.add(1, 3);
                    }
                });
            }
        });
        counts.add(2, 1);
        assert_eq!([0, 1, 2].map(|at| counts.sum(at)), [0, 2 * 8 * 300, 0]);
    }

    #[test]
    fn threads_have_numbers_of_their_own() {
        let other = std::thread::scope(|scope| scope.spawn(thread).join().unwrap());
        assert_ne!(thread(), other);
        assert_eq!(thread(), thread());
    }
}
