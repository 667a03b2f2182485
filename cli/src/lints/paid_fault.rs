//! A row that fails earns more than a wrong answer: who makes the verifier fail is paid.
//!
//! Looks at `combine.floor` with `on_fault = "floor"`, beside what wrong rows earn. Fix: a lower floor, or `on_fault =
//! "mask"`, by which what fails has no reward.

use assay::engine::config::OnFault;
use assay::verifiers::{Outcome, Reward};

use super::look::{Finding, Tested};
use crate::trial::Tried;

/// Rewards that differ by less are one.
const EPSILON: f64 = 1e-9;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let combine = &tested.plan().config.combine;
    let (judges, floor) =
        (tested.judges(), combine.floor.filter(|_| combine.on_fault == OnFault::Floor));
    let Some(floor) = floor.filter(|_| !judges.is_empty() && combine.normalise.is_none()) else {
        return Vec::new();
    };
    let is_wrong = |tried: &&Tried<'_>| {
        let failed = tried.verdicts.iter().any(|own| matches!(own.outcome, Outcome::Failed(_)));
        !failed && judges.iter().all(|at| tried.unshaped(*at).is_some_and(|own| own <= 0.0))
    };
    let wrong = tested.trial.rows.iter().filter(is_wrong);
    let most = wrong.filter_map(|tried| tried.outcome.reward().map(Reward::get)).reduce(f64::max);
    let low = combine.clamp.map_or(0.0, |[low, _]| low);
    // Where no row is wrong, it is one that has nothing.
    let most = most.unwrap_or_else(|| 0.0_f64.max(low));
    if floor <= most + EPSILON {
        return Vec::new();
    }
    let message = format!(
        "a row that fails earns {floor}, and a wrong answer no more than {most}: who makes the verifier fail is paid"
    );
    let help = format!(
        "write floor = {:?}, or on_fault = \"mask\", by which what fails has no reward",
        low.min(most)
    );
    vec![Finding::at("combine.floor", message, help).with("floor", floor).with("most", most)]
}
