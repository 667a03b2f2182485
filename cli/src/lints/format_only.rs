//! A wrong answer earns as much as the best right one: form alone fills the reward.
//!
//! Looks at totals of rows, and at what a wrong row would earn if it were right; all other rewards must judge form. Fix:
//! lower the weights of what judges form so that it does not reach the upper end of the clamp, or how = "product"; in
//! an expression, multiply by the reward that judges answers.

use assay::engine::config::CombineBy;
use assay::verifiers::{Aspect, Reward, Verdict};

use super::look::{Finding, Tested};
use crate::trial::Tried;

/// Rewards that differ by less are one.
const EPSILON: f64 = 1e-9;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let judges = tested.judges();
    let others = (0..tested.rewards.len()).filter(|at| !judges.contains(at));
    let is_form = others.into_iter().all(|at| tested.look.aspect(at) == Aspect::Form);
    if judges.is_empty() || !is_form || !tested.plan().config.combine.normalise.is_none() {
        return Vec::new();
    }
    paid(tested, &judges).into_iter().collect()
}

fn paid(tested: Tested<'_>, judges: &[usize]) -> Option<Finding> {
    let plan = tested.plan();
    let total = |tried: &Tried<'_>| tried.outcome.reward().map(Reward::get);
    let totals = || tested.trial.rows.iter().filter_map(total);
    let (least, most) = (totals().reduce(f64::min)?, totals().reduce(f64::max)?);
    let is_right = |tried: &&Tried<'_>| {
        judges.iter().any(|at| tried.unshaped(*at).is_some_and(|own| own >= 1.0))
    };
    let right = tested.trial.rows.iter().find(is_right)?;
    let corrected = |tried: &Tried<'_>| {
        let verdicts = tried.verdicts.iter().enumerate().map(|(at, own)| {
            let right = Reward::new(1.0).map(Verdict::scored).filter(|_| judges.contains(&at));
            right.unwrap_or_else(|| own.clone())
        });
        let combined = plan.combiner.combine(&verdicts.collect::<Vec<_>>(), tested.look.step);
        combined.reward().map(Reward::get)
    };
    let is_paid = |tried: &&Tried<'_>| {
        judges.iter().all(|at| tried.unshaped(*at).is_some_and(|own| own <= 0.0))
            && total(tried).is_some_and(|own| own >= most - EPSILON)
            && corrected(tried).is_some_and(|own| own <= most + EPSILON)
    };
    let wrong = tested.trial.rows.iter().find(is_paid).filter(|_| most - least > EPSILON)?;
    let name = judges.first().and_then(|at| plan.names.get(*at))?;
    let message = format!(
        "row {} earns {most}, the most that any row does, and \"{name}\" calls its answer wrong (row {}: right)",
        wrong.row.number, right.row.number
    );
    #[expect(clippy::indexing_slicing, reason = "judges are rewards of the plan")]
    let silent = judges.iter().find(|at| plan.rewards[**at].weight.at(tested.look.step) == 0.0);
    let how = plan.config.combine.how;
    let found = if how.is_written() {
        let key = if how == CombineBy::Formula { "combine.formula" } else { "combine.expression" };
        Finding::at(key, message, format!("multiply by it: {name} * (...)"))
    } else if judges
        .iter()
        .any(|at| plan.rewards.get(*at).is_some_and(|own| own.weight.constant().is_none()))
    {
        // A weight that rises from 0 is meant so.
        return None;
    } else if let Some(at) = silent {
        let help = format!(
            "write weight = 1.0 if right answers are to be paid: the others judge form, and \"{name}\" has no say"
        );
        Finding::of_reward((*at, "weight"), message, help)
    } else if plan.config.combine.clamp.is_some() {
        let help = "lower the weights of what judges form, so that form alone does not reach the upper end; or how = \
                    \"product\"";
        Finding::at("combine.clamp", message, help)
    } else {
        return None;
    };
    Some(found.with("wrong", wrong.row.number).with("right", right.row.number).with("reward", most))
}
