//! A wrong answer earns more than a right one, or what a penalty is for is paid: a sign is turned round.
//!
//! Looks at rewards that judge answers: their weights at all steps, and rows of which each wrong one earns more than any
//! right one. Looks at penalties, which never give more than 0. Fix: turn the sign of the weight, in the expression, or in
//! a scale.

use assay::engine::config::CombineBy;

use super::look::{Finding, Tested};

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let (combine, judges) = (&tested.plan().config.combine, tested.judges());
    let is_sum = matches!(combine.how, CombineBy::WeightedSum | CombineBy::Gate);
    let found = tested.plan().rewards.iter().enumerate().filter_map(|(at, planned)| {
        let (weight, (low, high)) = (tested.weight(at), planned.weight.bounds());
        let range = tested.rewards.get(at)?.rows.as_ref()?.range.unwrap_or((0.0, 1.0));
        let is_judge = judges.contains(&at);
        let says = if is_judge && is_sum && weight < 0.0 {
            "negative"
        } else if is_judge && is_sum && low < 0.0 && high > 0.0 {
            "falls"
        } else if is_judge {
            return turned(tested, at);
        } else if is_sum && weight < 0.0 && range.0 < 0.0 && range.1 <= 0.0 {
            "penalty"
        } else {
            return None;
        };
        let found = Finding::new((at, "weight"), says).with("weight", weight);
        let found = found.with("low", low).with("high", high).with("least", range.0);
        Some(found.with("name", planned.name.as_str()))
    });
    found.filter(|_| combine.normalise.is_none()).collect()
}

/// Rows of which each wrong one earns more than any right one.
fn turned(tested: Tested<'_>, at: usize) -> Option<Finding> {
    let right = tested.earned(at).filter(|(_, own, _)| *own >= 1.0);
    let wrong = tested.earned(at).filter(|(_, own, _)| *own <= 0.0);
    let (right, _, most) = right.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let (wrong, _, least) = wrong.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let (right, wrong) = (right.row.number, wrong.row.number);
    let is_shaped = tested.plan().rewards.get(at).is_some_and(|own| !own.shapes.is_empty());
    let found = match tested.written() {
        Some(key) => Finding::new(key, "turned"),
        None => Finding::new((at, if is_shaped { "shape" } else { "weight" }), "turned"),
    };
    let found = found.with("wrong", wrong).with("right", right).with("least", least);
    (least > most && tested.is_whole()).then(|| found.with("most", most))
}
