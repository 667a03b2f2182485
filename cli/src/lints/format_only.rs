//! A wrong answer earns as much as the best right one: form alone fills the reward.
//!
//! Looks at totals of rows, and at what a wrong row would earn if it were right; all other rewards must judge form. Fix:
//! lower the weights of what judges form so that it does not reach the upper end of the clamp, or how = "product"; in
//! an expression, multiply by the reward that judges answers.

use assay::verifiers::Aspect;

use super::look::{Finding, Tested};
use crate::trial::Tried;

/// Rewards that differ by less are one.
const EPSILON: f64 = 1e-9;

pub(super) fn find(tested: Tested<'_>) -> Option<Finding> {
    let (plan, judges) = (tested.plan(), tested.judges());
    let is_form = |at: usize| judges.contains(&at) || tested.look.aspect(at) == Aspect::Form;
    if !(0..tested.rewards.len()).all(is_form) || !plan.config.combine.normalise.is_none() {
        return None;
    }
    let rows = &tested.trial.rows;
    let totals = || rows.iter().filter_map(Tried::total);
    let (least, most) = (totals().reduce(f64::min)?, totals().reduce(f64::max)?);
    let gives = |tried: &Tried<'_>, at: &usize| tried.unshaped(*at);
    let right = |at| judges.contains(&at).then_some(1.0);
    let is_right = |own: &&Tried<'_>| judges.iter().any(|at| gives(own, at) >= Some(1.0));
    let is_paid = |own: &&Tried<'_>| {
        judges.iter().all(|at| gives(own, at).is_some_and(|own| own <= 0.0))
            && own.total().is_some_and(|own| own >= most - EPSILON)
            && tested
                .total(&own.verdicts, tested.look.step, right)
                .is_some_and(|own| own <= most + EPSILON)
    };
    let (wrong, right) = (rows.iter().find(is_paid)?, rows.iter().find(is_right)?);
    let (wrong, right) = (wrong.row.number, right.row.number);
    let name = judges.first().and_then(|at| plan.names.get(*at))?;
    let weights = || judges.iter().filter_map(|at| Some((*at, &plan.rewards.get(*at)?.weight)));
    let silent = weights().find(|(at, _)| tested.weight(*at) == 0.0);
    let found = match (tested.written(), silent) {
        (Some(key), _) => Finding::new(key, "written"),
        // A weight that rises from 0 is meant so.
        _ if weights().any(|(_, own)| own.constant().is_none()) => return None,
        (None, Some((at, _))) => Finding::new((at, "weight"), "silent"),
        (None, None) => {
            plan.config.combine.clamp.map(|_| Finding::new("combine.clamp", "clamp"))?
        }
    };
    let found = found.with("wrong", wrong).with("right", right).with("reward", most);
    Some(found.with("name", name.as_str())).filter(|_| most - least > EPSILON)
}
