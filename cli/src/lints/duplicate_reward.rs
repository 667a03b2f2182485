//! Two rewards judge alike under two names, and what they find counts twice.
//!
//! Looks at verifiers, settings, conditions, turns and shapes. Rewards of weight 0, gates, and those of an expression may
//! have their reasons. Fix: leave one of them out, and write the weight that both should have at the other.

use super::look::{Finding, Tested};

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let plan = tested.plan();
    let counted = || {
        tested.look.rewards().filter(|(at, planned, _)| {
            planned.weight.constant() != Some(0.0) && !plan.gates.contains(at)
        })
    };
    let twins = counted().filter(|_| !plan.config.combine.how.is_written()).filter_map(
        |(at, own, config)| {
            let (_, first, _) =
                counted().take_while(|(other, ..)| *other < at).find(|(_, other, given)| {
                    own.built.spec.digest() == other.built.spec.digest()
                        && config.when == given.when
                        && config.turn == given.turn
                        && config.shape == given.shape
                })?;
            let found = Finding::new((at, ""), "twin").with("name", own.name.as_str());
            Some(found.with("twin", first.name.as_str()))
        },
    );
    twins.collect()
}
