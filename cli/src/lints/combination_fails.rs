//! The combination fails on rows, gives the same on rows that differ, or gives nothing at all. An error where it fails on
//! every row, or no row has a reward.
//!
//! Looks at the combined reward of the rows. An expression is rhai: a reward is a number, or () where it abstained, and has no
//! members. Fix: write (NAME ?? 0.0) for what may abstain; write if NAME > 0.0 { ... } else { 0.0 } around what divides by it
//! or takes its logarithm; `min` and `max` take two numbers, as in max(max(a, b), c); `&&` and `||` take truths, as in
//! a > 0.0 && b > 0.0; a product of truths is a * b; a sum is a + b. `rewards` is the map of all, and no name for one.

use assay::verifiers::Outcome;

use super::look::{Finding, Place, Tested};
use super::script::Role;
use crate::trial::tally::RowsTally;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let place = |part| tested.place_of(Role::Combine, part);
    let mut found = Vec::new();
    // What is not asked may tell rows apart.
    let is_open = (0..tested.rewards.len()).any(|at| tested.trial.hangs(at));
    let Some(tally) = tested.combined else { return found };
    if let Some(first) = &tally.first_failed {
        let row = tested.trial.rows.iter().find(|tried| tried.row.number == first.row);
        let is_abstained = row.is_some_and(|tried| {
            tried.verdicts.iter().any(|own| matches!(own.outcome, Outcome::Abstained(_)))
        });
        let help = if is_abstained {
            "a reward that abstained is (): write (NAME ?? 0.0)".to_owned()
        } else {
            let page = "`assay show lint:combination_fails` says what an expression takes";
            format!("{page}; {}", tested.shows(first.row))
        };
        let failures = (tally.failed, tally.judged());
        let own = Finding::of_failures(place(first.place), "the combination", failures, first);
        found.push(own.help(help));
    }
    if !is_open {
        found.extend(alike(tested, tally, place(None)));
        found.extend(nothing(tested).filter(|_| tally.first_failed.is_none()));
    }
    found
}

/// Every row has one total, and no reward says why.
fn alike(tested: Tested<'_>, tally: &RowsTally, place: Place) -> Option<Finding> {
    let told = |own: &RowsTally| own.constant().is_some() || own.judged() == 0;
    let tallies = || tested.rewards.iter().filter_map(|own| own.rows.as_ref());
    let is_told = tallies().all(told) || tallies().any(|own| own.judged() == 0);
    let reward = tally.constant().filter(|_| tested.completions_differ() && !is_told)?;
    Some(Finding::new(place, "alike").with("rows", tally.scored).with("reward", reward))
}

/// No row has a reward, and no verifier says why.
fn nothing(tested: Tested<'_>) -> Option<Finding> {
    let mut rows = tested.trial.rows.iter();
    let has_reward = rows.any(|tried| tried.outcome.reward().is_some());
    let is_told =
        tested.rewards.iter().filter_map(|own| own.rows.as_ref()).any(|own| own.scored == 0);
    let first = tested.trial.rows.first().filter(|_| !has_reward && !is_told)?;
    let found = Finding::new("combine", "nothing").with("rows", tested.trial.rows.len());
    let found = found.with("row", first.row.number).help(tested.shows(first.row.number));
    Some(found.with("outcome", crate::verdict::outcome(&first.outcome)).error_if(true))
}
