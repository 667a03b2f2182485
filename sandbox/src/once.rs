//! The same work is done once: a program that many completions share runs for the first of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use assay_verifiers::{Digest, Fault, FaultKind, Outcome, Verdict};

/// Verdicts that are kept at most; beyond that the map starts over.
const KEPT_MAX: usize = 1 << 14;

/// What may be kept.
pub(crate) trait Kept: Clone {
    /// Whether it says something of the moment and nothing of the program.
    fn is_passing(&self) -> bool;
}

/// Verdicts by the digest of everything that they depend on.
pub(crate) struct Once<T = Verdict> {
    verdicts: Mutex<HashMap<Digest, Arc<OnceLock<T>>>>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { verdicts: Mutex::default() }
    }
}

impl<T: Kept> Once<T> {
    /// The verdict under `key`; `judge` gives it where it is not known. Whoever asks while another
    /// thread judges waits for that thread.
    pub(crate) fn verdict(&self, key: Digest, judge: impl FnOnce() -> T) -> T {
        let slot = self.slot(key);
        let verdict = slot.get_or_init(judge).clone();
        if verdict.is_passing() {
            self.lock().remove(&key);
        }
        verdict
    }

    fn slot(&self, key: Digest) -> Arc<OnceLock<T>> {
        let mut verdicts = self.lock();
        if verdicts.len() >= KEPT_MAX {
            verdicts.clear();
        }
        Arc::clone(verdicts.entry(key).or_default())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Arc<OnceLock<T>>>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> std::fmt::Debug for Once<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Once")
    }
}

impl Kept for Verdict {
    fn is_passing(&self) -> bool {
        matches!(&self.outcome, Outcome::Failed(fault) if fault.is_passing())
    }
}

impl<T: Clone> Kept for Result<T, Fault> {
    fn is_passing(&self) -> bool {
        self.as_ref().is_err_and(Kept::is_passing)
    }
}

impl Kept for Fault {
    fn is_passing(&self) -> bool {
        let passing = [FaultKind::Timeout, FaultKind::Internal, FaultKind::Overloaded];
        passing.contains(&self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_work_is_done_once_and_a_fault_of_the_moment_is_not_kept() {
        let once = Once::default();
        let mut judged = 0;
        for _ in 0..3 {
            let verdict = once.verdict([1; 32], || {
                judged += 1;
                Verdict::graded(true)
            });
            assert_eq!(verdict, Verdict::graded(true));
        }
        assert_eq!(judged, 1);
        for _ in 0..2 {
            once.verdict([2; 32], || {
                judged += 1;
                Verdict::failed(Fault::new(FaultKind::Timeout, "late"))
            });
        }
        assert_eq!(judged, 3);
    }
}
