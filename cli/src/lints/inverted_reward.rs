//! A wrong answer earns more than a right one, or what a penalty is for is paid: a sign is turned round.
//!
//! Looks at rewards that judge answers: their weights at all steps, and rows of which each wrong one earns more than any
//! right one. Looks at penalties, which never give more than 0. Fix: turn the sign of the weight, in the expression, or in
//! a scale.

use assay::engine::config::CombineBy;

use super::look::{Finding, Tested};

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let plan = tested.plan();
    let is_sum = matches!(plan.config.combine.how, CombineBy::WeightedSum | CombineBy::Gate);
    let judges = tested.judges();
    let found = plan.rewards.iter().enumerate().filter_map(|(at, planned)| {
        let (weight, (low, high)) = (planned.weight.at(tested.look.step), planned.weight.bounds());
        let range = tested.rewards.get(at)?.rows.as_ref()?.range.unwrap_or((0.0, 1.0));
        let help = format!("write weight = {}", -weight);
        if judges.contains(&at) && is_sum && weight < 0.0 {
            let message = format!("its weight is {weight}: a right answer earns less than a wrong one");
            return Some(Finding::of_reward((at, "weight"), message, help).with("weight", weight));
        }
        if judges.contains(&at) && is_sum && low < 0.0 && high > 0.0 {
            let (from, to) = if planned.weight.at(0) < 0.0 { (low, high) } else { (high, low) };
            let message = format!(
                "its weight goes from {from} to {to}: at some step a right answer earns less than a wrong one"
            );
            return Some(Finding::of_reward((at, "weight"), message, "let it stay at 0.0 or above"));
        }
        if judges.contains(&at) {
            return turned(tested, at);
        }
        let is_penalty = range.0 < 0.0 && range.1 <= 0.0;
        (is_sum && weight < 0.0 && is_penalty).then(|| {
            let message = format!(
                "its weight is {weight}, and \"{}\" is a penalty, from {} to 0: what it is for is paid",
                planned.name, range.0
            );
            Finding::of_reward((at, "weight"), message, help).with("weight", weight)
        })
    });
    found.filter(|_| plan.config.combine.normalise.is_none()).collect()
}

/// Rows of which each wrong one earns more than any right one.
fn turned(tested: Tested<'_>, at: usize) -> Option<Finding> {
    let right =
        tested.earned(at).filter(|(_, own, _)| *own >= 1.0).max_by(|a, b| a.2.total_cmp(&b.2));
    let wrong =
        tested.earned(at).filter(|(_, own, _)| *own <= 0.0).min_by(|a, b| a.2.total_cmp(&b.2));
    let ((right, _, most), (wrong, _, least)) = (right?, wrong?);
    let (right, wrong) = (right.row.number, wrong.row.number);
    let message = format!(
        "a wrong answer earns more than a right one: row {wrong} earns {least}, row {right} {most}"
    );
    let help = "look for a sign that is turned round: in the expression, a weight or a scale";
    let is_shaped = tested.plan().rewards.get(at).is_some_and(|own| !own.shapes.is_empty());
    let found = match tested.plan().config.combine.how {
        CombineBy::Expression => Finding::at("combine.expression", message, help),
        CombineBy::Formula => Finding::at("combine.formula", message, help),
        _ => Finding::of_reward((at, if is_shaped { "shape" } else { "weight" }), message, help),
    };
    (least > most && tested.is_whole()).then(|| found.with("wrong", wrong).with("right", right))
}
