//! Verdicts kept in memory: a program that many completions share runs once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_verifiers::{Digest, Fault, Verdict};

/// Verdicts that are kept at most; beyond that the map starts over.
const KEPT_MAX: usize = 1 << 14;

type Slot<T> = Arc<Mutex<Option<Result<T, Fault>>>>;

/// Verdicts by the digest of everything that they depend on.
pub(crate) struct VerdictMemo<T = Verdict> {
    slots: Mutex<HashMap<Digest, Slot<T>>>,
}

impl<T> Default for VerdictMemo<T> {
    fn default() -> Self {
        Self { slots: Mutex::default() }
    }
}

impl<T: Clone> VerdictMemo<T> {
    /// The verdict under `key`; `compute` gives it where it is not known. A caller that asks while
    /// another thread computes waits for that thread, and computes itself where the result is
    /// transient: callers have deadlines of their own.
    pub(crate) fn verdict(
        &self,
        key: Digest,
        compute: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let slot = self.slot(key);
        let mut slot = lock(&slot);
        if let Some(kept) = &*slot {
            return kept.clone();
        }
        let verdict = compute();
        if !verdict.as_ref().is_err_and(|fault| fault.kind.is_transient()) {
            *slot = Some(verdict.clone());
        }
        verdict
    }

    fn slot(&self, key: Digest) -> Slot<T> {
        let mut slots = lock(&self.slots);
        if slots.len() >= KEPT_MAX {
            slots.clear();
        }
        Arc::clone(slots.entry(key).or_default())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> std::fmt::Debug for VerdictMemo<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VerdictMemo")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use assay_verifiers::FaultKind;

    use super::*;

    fn late<T>() -> Result<T, Fault> {
        Err(Fault::new(FaultKind::Timeout, "late"))
    }

    #[test]
    fn a_caller_that_waited_for_a_transient_fault_computes_itself() {
        let (memo, computing) = (VerdictMemo::default(), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let first = memo.verdict([3; 32], || {
                    computing.wait();
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    late()
                });
                assert_eq!(first, late());
            });
            computing.wait();
            assert_eq!(memo.verdict([3; 32], || Ok(1)), Ok(1));
        });
        assert_eq!(memo.verdict([3; 32], || Ok(2)), Ok(1));
    }

    #[test]
    fn a_verdict_is_computed_once_and_a_transient_fault_is_not_kept() {
        let memo = VerdictMemo::default();
        let mut computed = 0;
        for _ in 0..3 {
            let verdict = memo.verdict([1; 32], || {
                computed += 1;
                Ok(computed)
            });
            assert_eq!(verdict, Ok(1));
        }
        for wanted in 2..4 {
            let fault = memo.verdict([2; 32], || {
                computed += 1;
                late()
            });
            assert_eq!((fault, computed), (late(), wanted));
        }
    }
}
