//! A reward counts, and moves no total: the expression leaves it out, its weight vanishes beside the others, or the clamp
//! gives back what it takes. An error where every weight is 0.
//!
//! Looks at totals with the least and the greatest that a reward gives, on the rows and where all others give 0, 0.5 and 1.
//! Fix: name it in the expression, give it a weight such as 0.1, or write weight = 0.0 to report it alone; lower the first end
//! of the clamp.

use assay::verifiers::{Reward, Verdict};
use serde_json::Value;

use super::look::{Finding, Tested};
use super::script::Role;
use crate::trial::Tried;
use crate::trial::tally::RowsTally;

/// A smaller part of a total was hardly meant.
const SHARE: f64 = 1e-6;
/// Rows on which totals are tried.
const ROWS: usize = 200;
/// A step by which schedules have ended.
const LATE: u64 = 1_000_000;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let (plan, step) = (tested.plan(), tested.look.step);
    let is_written = tested.written().is_some();
    if !is_written
        && plan.gates.is_empty()
        && (0..plan.rewards.len()).all(|at| tested.weight(at) == 0.0)
    {
        let found = Finding::new((0, "weight"), "nothing").with("step", step);
        return vec![found.error_if(true)];
    }
    let rewards = plan.rewards.iter().zip(tested.rewards).enumerate();
    let idle = rewards.filter_map(|(at, (own, report))| {
        let weight = tested.weight(at);
        let is_silent = own.weight.constant() == Some(0.0) || !is_written && weight == 0.0;
        // Behind a gate that no row passes it cannot move anything.
        let is_stopped = |own: &RowsTally| own.rows > 0 && own.judged() + own.not_asked == 0;
        let is_stopped = report.rows.as_ref().is_some_and(is_stopped);
        if is_silent || is_stopped || plan.gates.contains(&at) || is_read(tested, at) {
            return None;
        }
        if moves(tested, at) {
            return clamped(tested, at);
        }
        let found = if is_written {
            Finding::new((at, "name"), "unnamed")
        } else {
            let found = Finding::new((at, "weight"), "vanishes").with("weight", weight);
            found.with("written", format!("{weight:e}"))
        };
        Some(found.with("name", own.name.as_str()))
    });
    idle.collect()
}

/// Whether another reward reads it.
fn is_read(tested: Tested<'_>, at: usize) -> bool {
    let Some(name) = tested.plan().names.get(at) else { return false };
    let quoted = Value::from(name.as_str()).to_string();
    let mut others = tested.look.rewards().filter(|(other, ..)| *other != at);
    let in_settings = others.any(|(_, _, config)| {
        let shapes = config.shape.iter().flat_map(|own| own.values());
        config.config.values().chain(shapes).any(|value| value.to_string().contains(&quoted))
    });
    let mut scripts = tested.scripts.iter().filter(|script| script.role != Role::Combine);
    in_settings || scripts.any(|script| script.names_reward(name))
}

/// Whether any total is another with the least than with the greatest that a reward gives, now or late in a training.
fn moves(tested: Tested<'_>, at: usize) -> bool {
    let tally = tested.rewards.get(at).and_then(|own| own.rows.as_ref());
    let range = tally.and_then(|own| own.range).unwrap_or((0.0, 1.0));
    let (least, most) = (range.0.min(0.0), range.1.max(1.0));
    let rewards = tested.plan().rewards.len();
    let full = |own: f64| Reward::new(own).map(|own| vec![Verdict::scored(own); rewards]);
    let rows = tested.trial.rows.iter().take(ROWS).map(|tried| tried.verdicts.clone());
    let contexts: Vec<_> = [0.0, 0.5, 1.0].into_iter().filter_map(full).chain(rows).collect();
    let totals = contexts.iter().flat_map(|verdicts| {
        [tested.look.step, LATE].map(|step| {
            let with = |own| tested.total(verdicts, step, |other| (other == at).then_some(own));
            Some([with(least)?, with(least.midpoint(most))?, with(most)?])
        })
    });
    // Of what fails nothing is known.
    let Some(totals) = totals.collect::<Option<Vec<_>>>() else { return true };
    let scale = totals.iter().flatten().fold(0.0, |most, own| own.abs().max(most));
    let moved = |[one, two, three]: &[f64; 3]| (one - two).abs().max((two - three).abs());
    totals.iter().any(|own| moved(own) > SHARE * scale)
}

/// A clamp that gives back what a reward takes, on every row where it does.
fn clamped(tested: Tested<'_>, at: usize) -> Option<Finding> {
    let [low, _] = tested.plan().config.combine.clamp?;
    let takes = |own: &&Tried<'_>| own.shaped(at).is_some_and(|own| own * tested.weight(at) < 0.0);
    let rows = tested.trial.rows.iter().filter(takes).filter(|own| own.total().is_some());
    let rows: Vec<_> = rows.collect();
    let without = |own: &Tried<'_>| {
        tested.total(&own.verdicts, tested.look.step, |other| (other == at).then_some(0.0))
    };
    let is_cut = rows.iter().all(|own| own.total() == without(own));
    let first = rows.first().filter(|_| is_cut)?.row.number;
    let found = Finding::new("combine.clamp", "clamped").with("low", low);
    let found = found.with("name", tested.plan().names.get(at)?.as_str());
    Some(found.with("rows", rows.len()).with("row", first))
}
