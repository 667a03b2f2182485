//! Verdicts kept in memory: a program that many completions share runs once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use assay_verifiers::{Digest, Fault, Outcome, Verdict};

/// Verdicts that are kept at most; beyond that the map starts over.
const KEPT_MAX: usize = 1 << 14;

/// What may be kept.
pub(crate) trait Kept: Clone {
    /// Whether another attempt may come out otherwise, so that it must not be kept.
    fn is_transient(&self) -> bool;
}

type Slot<T> = Arc<OnceLock<Option<T>>>;

/// Verdicts by the digest of everything that they depend on.
pub(crate) struct VerdictMemo<T = Verdict> {
    verdicts: Mutex<HashMap<Digest, Slot<T>>>,
}

impl<T> Default for VerdictMemo<T> {
    fn default() -> Self {
        Self { verdicts: Mutex::default() }
    }
}

impl<T: Kept> VerdictMemo<T> {
    /// The verdict under `key`; `compute` gives it where it is not known. A caller that asks while
    /// another thread computes waits for that thread, and computes itself where the result is
    /// transient: callers have deadlines of their own.
    pub(crate) fn verdict(&self, key: Digest, compute: impl FnOnce() -> T) -> T {
        let mut compute = Some(compute);
        loop {
            let slot = self.slot(key);
            let mut own = None;
            let verdict = slot.get_or_init(|| {
                // Taken at most once: what was computed here is returned below.
                let verdict = compute.take().map(|compute| compute());
                own.clone_from(&verdict);
                verdict
            });
            match (own, verdict) {
                (Some(own), _) => {
                    if own.is_transient() {
                        self.forget(key, &slot);
                    }
                    return own;
                }
                (None, Some(kept)) if !kept.is_transient() => return kept.clone(),
                (None, _) => self.forget(key, &slot),
            }
        }
    }

    /// Removes what was not to be kept, unless another thread began anew already.
    fn forget(&self, key: Digest, slot: &Slot<T>) {
        let mut verdicts = self.lock();
        if verdicts.get(&key).is_some_and(|now| Arc::ptr_eq(now, slot)) {
            verdicts.remove(&key);
        }
    }

    fn slot(&self, key: Digest) -> Slot<T> {
        let mut verdicts = self.lock();
        if verdicts.len() >= KEPT_MAX {
            verdicts.clear();
        }
        Arc::clone(verdicts.entry(key).or_default())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Slot<T>>> {
        self.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> std::fmt::Debug for VerdictMemo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VerdictMemo")
    }
}

impl Kept for Verdict {
    fn is_transient(&self) -> bool {
        matches!(&self.outcome, Outcome::Failed(fault) if fault.kind.is_transient())
    }
}

impl<T: Clone> Kept for Result<T, Fault> {
    fn is_transient(&self) -> bool {
        self.as_ref().is_err_and(|fault| fault.kind.is_transient())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use assay_verifiers::FaultKind;

    use super::*;

    #[test]
    fn who_waited_for_a_caller_that_was_stopped_judges_itself() {
        let (memo, judging) = (VerdictMemo::default(), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let late = memo.verdict([3; 32], || {
                    judging.wait();
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    Verdict::failed(Fault::new(FaultKind::Timeout, "late"))
                });
                assert!(late.outcome.reward().is_none());
            });
            judging.wait();
            let own = memo.verdict([3; 32], || Verdict::graded(true));
            assert_eq!(own, Verdict::graded(true));
        });
        assert_eq!(memo.verdict([3; 32], || Verdict::graded(false)), Verdict::graded(true));
    }

    #[test]
    fn the_same_work_is_done_once_and_a_fault_of_the_moment_is_not_kept() {
        let memo = VerdictMemo::default();
        let mut judged = 0;
        for _ in 0..3 {
            let verdict = memo.verdict([1; 32], || {
                judged += 1;
                Verdict::graded(true)
            });
            assert_eq!(verdict, Verdict::graded(true));
        }
        assert_eq!(judged, 1);
        for _ in 0..2 {
            memo.verdict([2; 32], || {
                judged += 1;
                Verdict::failed(Fault::new(FaultKind::Timeout, "late"))
            });
        }
        assert_eq!(judged, 3);
    }
}
