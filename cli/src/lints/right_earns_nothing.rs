//! Rows that a reward calls right earn nothing: another reward takes it from each of them.
//!
//! Looks at the totals of right rows, of which there must be several. Fix: `how = "weighted_sum"` adds a penalty to what
//! else is earned; under a sum, a weight above 0, or one that takes less away.

use super::look::{Finding, Tested, which};

#[expect(clippy::indexing_slicing, reason = "places are of rewards of the plan")]
pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let plan = tested.plan();
    let weight = |at: usize| plan.rewards[at].weight.at(tested.look.step);
    let found = tested
        .judges()
        .into_iter()
        .filter(|at| weight(*at) > 0.0 && tested.is_whole())
        .find_map(|at| {
            let right: Vec<_> = tested.earned(at).filter(|(_, own, _)| *own >= 1.0).collect();
            let (first, ..) = right
                .first()
                .filter(|_| right.len() > 1 && right.iter().all(|(.., total)| *total <= 0.0))?;
            let takes = |other: &usize| {
                let parts = || right.iter().map(|(tried, ..)| tried.shaped(*other));
                *other != at
                    && parts()
                        .all(|own| own.is_some_and(|own| own * weight(*other) < 0.0 || own <= 0.0))
            };
            let other = (0..plan.rewards.len()).find(takes)?;
            let (name, own) = (plan.names.get(other)?, plan.names.get(at)?);
            let place = which(right.len(), first.row.number);
            let (what, help) = if weight(other) < 0.0 {
                let weight = weight(other);
                let help = format!("write weight = {} to pay for it, or take less away", -weight);
                (format!("\"{name}\" has weight {weight} and takes it from each of them"), help)
            } else {
                let help =
                    "how = \"weighted_sum\" adds a penalty to what else is earned".to_owned();
                (format!("\"{name}\" gives no more than 0 to any of them"), help)
            };
            let message = format!("{place} that \"{own}\" calls right earn nothing: {what}");
            Some(
                Finding::of_reward((other, "weight"), message, help)
                    .with("rows", right.len())
                    .with("row", first.row.number),
            )
        });
    found.into_iter().collect()
}
