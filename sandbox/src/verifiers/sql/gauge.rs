//! The fuel of one query. The hooks of a connection outlive the meter of a verdict, so they pay
//! into a gauge, which is read off when the query is done.

use std::sync::atomic::{AtomicU64, Ordering};

/// Fuel for one step of the virtual machine over short values.
pub(super) const UNITS_PER_OP: u64 = 8;
/// Steps between two looks at the gauge.
pub(super) const OPS_PER_LOOK: i32 = 64;

/// Counts units up to a limit. One thread at a time holds it.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    limit: AtomicU64,
    spent: AtomicU64,
    weight: AtomicU64,
}

impl Gauge {
    /// Starts over, with `limit` units.
    pub(super) fn fill(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
    }

    /// What a step costs, in multiples of a step over short values.
    pub(super) fn weigh(&self, weight: u64) {
        self.weight.store(weight, Ordering::Relaxed);
    }

    /// Pays `units`; false when they are more than is left.
    pub(super) fn spend(&self, units: u64) -> bool {
        let spent = self.spent().saturating_add(units);
        self.spent.store(spent, Ordering::Relaxed);
        spent <= self.limit.load(Ordering::Relaxed)
    }

    /// Pays for `ops` steps.
    pub(super) fn spend_ops(&self, ops: u64) -> bool {
        self.spend(ops * UNITS_PER_OP * self.weight.load(Ordering::Relaxed))
    }

    /// Units paid so far.
    pub(super) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Whether more was asked for than there was.
    pub(super) fn is_empty(&self) -> bool {
        self.spent() > self.limit.load(Ordering::Relaxed)
    }
}
