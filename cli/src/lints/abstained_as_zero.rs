//! A reward of a weighted sum abstains on rows that are paid as if it had given 0, and nothing says that this is meant.
//!
//! Looks at rewards with a weight above 0 that neither `required` nor `combine.on_abstain` speaks of. Fix: `combine.on_abstain =
//! "renormalise"` lets the others make the reward, `"abstain"` leaves such rows out, `"zero"` keeps it so.

use assay::engine::config::CombineBy;

use super::look::{Finding, Tested};

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let combine = &tested.plan().config.combine;
    let is_sum = matches!(combine.how, CombineBy::WeightedSum | CombineBy::Gate);
    let step = tested.look.step;
    let paid =
        tested.look.rewards().zip(tested.rewards).filter_map(|((at, planned, config), report)| {
            let counts = planned.weight.at(step) > 0.0
                && !config.required
                && !tested.plan().gates.contains(&at);
            let tally = report.rows.as_ref().filter(|tally| counts && tally.scored > 0)?;
            let first = tally.first_abstained.as_ref()?;
            let mut rows = tested.trial.rows.iter();
            let is_paid = rows.any(|tried| {
                tried.row.number == first.row
                    && tried.outcome.reward().is_some()
                    && tried.shaped(at).is_none()
            });
            let found = Finding::new((at, ""), "paid")
                .with("rows", tally.abstained)
                .with("of", tally.judged());
            is_paid.then(|| found.of_example(first))
        });
    paid.filter(|_| is_sum && combine.on_abstain.is_none()).collect()
}
