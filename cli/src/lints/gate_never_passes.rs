//! No row passes a gate, so that a reward behind it judges none. An error where that reward also fails when it is tried
//! beside the gate.
//!
//! Looks at rows that a gate stops. Fix: add rows whose completions pass, or lower [combine] pass.

use assay::engine::Applicability;
use assay::verifiers::{Fault, Outcome, Verdict};

use super::look::{Finding, Tested, failing, listed};
use crate::trial::read::Row;
use crate::trial::tally::Example;

/// Rows on which a reward is tried that no gate lets through.
const ROWS: usize = 5;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let stopped = tested.rewards.iter().enumerate().filter(|(_, report)| {
        report.rows.as_ref().is_some_and(|own| own.rows > 0 && own.behind_gate == own.rows)
    });
    stopped.map(|(at, _)| stopped_at(tested, at)).collect()
}

fn stopped_at(tested: Tested<'_>, at: usize) -> Finding {
    let plan = tested.plan();
    let gates = plan.gates.iter().filter_map(|gate| Some(plan.names.get(*gate)?.as_str()));
    let gates = listed(gates);
    let message = format!("no row gets here: the gate {gates} passes on none of them");
    let help = format!(
        "add rows whose completions pass, or lower [combine] pass = {}",
        plan.config.combine.pass
    );
    let verdicts = tried(tested, at);
    let failed = |(row, verdict): &(&Row, Verdict)| match &verdict.outcome {
        Outcome::Failed(fault) => Some((Example::of(row, fault.to_string()), fault.clone())),
        _ => None,
    };
    let failures: Vec<(Example, Fault)> = verdicts.iter().filter_map(failed).collect();
    let (message, place, is_error) =
        match failures.first().filter(|_| failures.len() == verdicts.len()) {
            Some((first, fault)) => {
                let tried = failures.len() as u64;
                let fails = failing("the verifier", tried, tried, first);
                (
                    format!("{message}; tried beside it, {fails}"),
                    fault.place.map(|(line, at)| (line.into(), at.into())),
                    true,
                )
            }
            None => (message, None, false),
        };
    Finding::new(tested.place_of(at, place), message, help).with("gate", gates).error_if(is_error)
}

/// The first rows, as the reward judges them beside its gates.
fn tried(tested: Tested<'_>, at: usize) -> Vec<(&Row, Verdict)> {
    let plan = tested.plan();
    let Some(planned) = plan.rewards.get(at) else { return Vec::new() };
    let verdicts = tested.trial.rows.iter().take(ROWS).filter_map(|tried| {
        let open: Vec<_> = tried
            .judged
            .iter()
            .enumerate()
            .map(|(other, own)| own.clone().filter(|_| !plan.gates.contains(&other)))
            .collect();
        let applies = plan.applicability(at, planned, &tried.row.sample, &open, tested.look.step);
        let verdict = tested.engine.verify_ruled_out(at, &tried.row.sample, &tried.judged)?;
        (applies == Applicability::Runs).then_some((tried.row, verdict))
    });
    verdicts.collect()
}
