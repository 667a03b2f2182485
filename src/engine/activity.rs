//! What an engine is at: how many rows are under way, and which rewards they wait for. For people who
//! wait; no verdict depends on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counters of an engine at work. They are read while it works, and may be off by what changes meanwhile.
#[derive(Debug)]
pub struct Activity {
    read: AtomicU64,
    begun: AtomicU64,
    done: AtomicU64,
    names: Arc<[String]>,
    /// Along the rewards: samples that a verifier judges now.
    judging: Vec<AtomicUsize>,
}

/// Something that is counted until it is dropped.
pub(super) struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Activity {
    pub(super) fn new(names: Arc<[String]>) -> Self {
        let judging = names.iter().map(|_| AtomicUsize::new(0)).collect();
        let [read, begun, done] = [0; 3].map(AtomicU64::new);
        Self { read, begun, done, names, judging }
    }

    /// Rows of streams that were read.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Rows of streams that are judged, in whatever order.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Rows of streams that are under way.
    pub fn under_way(&self) -> u64 {
        self.begun.load(Ordering::Relaxed).saturating_sub(self.done())
    }

    /// The rewards that samples wait for, and how many samples that are, the most first. Verifiers that
    /// take microseconds are not counted.
    pub fn waits_for(&self) -> Vec<(&str, usize)> {
        let counts = self.judging.iter().map(|count| count.load(Ordering::Relaxed));
        let named = self.names.iter().map(String::as_str).zip(counts);
        let mut waits: Vec<(&str, usize)> = named.filter(|(_, count)| *count > 0).collect();
        waits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        waits
    }

    pub(super) fn add_read(&self, rows: u64) {
        self.read.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn begin(&self, rows: u64) {
        self.begun.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn end(&self, rows: u64) {
        self.done.fetch_add(rows, Ordering::Relaxed);
    }

    /// Counts a sample that the verifier of a reward judges, until what is returned is dropped.
    pub(super) fn judging(&self, reward: usize) -> Option<Counted<'_>> {
        let count = self.judging.get(reward)?;
        count.fetch_add(1, Ordering::Relaxed);
        Some(Counted(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_named_the_most_first() {
        let activity = Activity::new(["a", "b", "c"].map(str::to_owned).into());
        activity.add_read(9);
        activity.begin(5);
        activity.end(2);
        let held = [activity.judging(1), activity.judging(2), activity.judging(2)];
        assert_eq!(activity.waits_for(), [("c", 2), ("b", 1)]);
        assert_eq!((activity.read(), activity.under_way(), activity.done()), (9, 3, 2));
        drop(held);
        assert!(activity.waits_for().is_empty() && activity.judging(3).is_none());
    }
}
