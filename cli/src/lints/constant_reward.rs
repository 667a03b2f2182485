//! A reward is the same on rows whose completions differ, so that it tells none of them apart.
//!
//! Looks at rewards before and after their shapes. Full reward for form that all rows have is none of these where another
//! reward tells rows apart, and neither is a penalty that no row earns. Fix: look at a row with `assay explain`; where
//! `other_settings` speaks of the same reward, its settings do it.

use super::look::{Finding, Tested};
use super::script::Role;
use crate::trial::Tried;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let rewards = tested.rewards.iter().enumerate().filter(|_| tested.completions_differ());
    let found = rewards.filter_map(|(at, report)| {
        let tally = report.rows.as_ref()?;
        let reward = tally.constant()?;
        let is_penalty = tested.look.verifier(at).is_some_and(|own| own.range()[1] <= 0.0);
        let is_form = reward >= 1.0
            && (0..tested.rewards.len())
                .any(|other| other != at && differs(tested, |own| own.shaped(other)));
        if is_penalty && reward == 0.0 || is_form {
            return None;
        }
        let help = tested.trial.rows.first().map(|tried| tested.shows(tried.row.number))?;
        let is_shaped = tested.plan().rewards.get(at).is_some_and(|own| !own.shapes.is_empty());
        let found = if is_shaped && differs(tested, |own| own.unshaped(at)) {
            Finding::new((at, "shape"), "shaped")
        } else {
            Finding::new(tested.place_of(Role::Reward(at), None), "alike")
        };
        Some(found.help(help).with("rows", tally.scored).with("reward", reward))
    });
    found.collect()
}

fn differs(tested: Tested<'_>, reward: impl Fn(&Tried<'_>) -> Option<f64>) -> bool {
    let mut all = tested.trial.rows.iter().filter_map(reward);
    all.next().is_some_and(|first| all.any(|own| own.to_bits() != first.to_bits()))
}
