//! No row passes a gate, so that a reward behind it judges none. An error where that reward also fails when it is tried
//! beside the gate.
//!
//! Looks at rows that a gate stops. Fix: add rows whose completions pass, or lower [combine] pass.

use assay::engine::Applicability;

use super::look::{Finding, Tested, listed};
use super::script::Role;
use crate::trial::tally::RowsTally;

/// Rows on which a reward is tried that no gate lets through.
const ROWS: usize = 5;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let plan = tested.plan();
    let gates = listed(plan.gates.iter().filter_map(|at| Some(plan.names.get(*at)?.as_str())));
    let is_stopped = |own: &RowsTally| own.rows > 0 && own.behind_gate == own.rows;
    let rewards = tested.rewards.iter().enumerate();
    let stopped = rewards.filter(|(_, own)| own.rows.as_ref().is_some_and(is_stopped));
    let found = stopped.map(|(at, _)| {
        let tried = tried(tested, at);
        let first = tried.first_failed.as_ref().filter(|_| tried.failed == tried.judged());
        let place = tested.place_of(Role::Reward(at), first.and_then(|own| own.place));
        let found = Finding::new(place, "stopped").with("gate", gates.as_str());
        let found = found.with("pass", plan.config.combine.pass).error_if(first.is_some());
        match first {
            Some(first) => found.with("failed", tried.failed).of_example(first),
            None => found,
        }
    });
    found.collect()
}

/// What comes of the first rows, as the reward judges them beside its gates.
fn tried(tested: Tested<'_>, at: usize) -> RowsTally {
    let (plan, mut tally) = (tested.plan(), RowsTally::default());
    let Some(planned) = plan.rewards.get(at) else { return tally };
    for tried in tested.trial.rows.iter().take(ROWS) {
        let open = tried.judged.iter().enumerate();
        let open = open.map(|(other, own)| own.clone().filter(|_| !plan.gates.contains(&other)));
        let (sample, open) = (&tried.row.sample, open.collect::<Vec<_>>());
        let applies = plan.applicability(at, planned, sample, &open, tested.look.step);
        let verdict = tested.engine.verify_ruled_out(at, sample, &tried.judged);
        if let Some(verdict) = verdict.filter(|_| applies == Applicability::Runs) {
            tally.add(tried.row, &verdict.outcome);
        }
    }
    tally
}
