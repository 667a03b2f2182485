//! A row that fails earns more than a wrong answer: who makes the verifier fail is paid.
//!
//! Looks at `combine.floor` with `on_fault = "floor"`, beside what wrong rows earn. Fix: a lower floor, or `on_fault =
//! "mask"`, by which what fails has no reward.

use assay::engine::config::OnFault;
use assay::verifiers::Outcome;

use super::look::{Finding, Tested};
use crate::trial::Tried;

/// Rewards that differ by less are one.
const EPSILON: f64 = 1e-9;

pub(super) fn find(tested: Tested<'_>) -> Option<Finding> {
    let (combine, judges) = (&tested.plan().config.combine, tested.judges());
    let is_read = combine.on_fault == OnFault::Floor && combine.normalise.is_none();
    let floor = combine.floor.filter(|_| is_read && !judges.is_empty())?;
    let is_wrong = |tried: &&Tried<'_>| {
        let failed = tried.verdicts.iter().any(|own| matches!(own.outcome, Outcome::Failed(_)));
        !failed && judges.iter().all(|at| tried.unshaped(*at).is_some_and(|own| own <= 0.0))
    };
    let wrong = tested.trial.rows.iter().filter(is_wrong);
    let low = combine.clamp.map_or(0.0, |[low, _]| low);
    // Where no row is wrong, it is one that has nothing.
    let most = wrong.filter_map(Tried::total).reduce(f64::max).unwrap_or(low.max(0.0));
    let found = Finding::new("combine.floor", "floor").with("least", low.min(most));
    (floor > most + EPSILON).then(|| found.with("floor", floor).with("most", most))
}
