//! Alarms about trainings that learn nothing: groups without variance, faults, entropy, copies.

use assay_verifiers::Reward;

use super::finding::{Finding, Look};
use super::paid_groups::is_wrong;
use super::trend_alarms::no_better;

/// [`super::Alarm::ZeroVariance`].
pub(super) fn zero_variance(look: &Look<'_>) -> Option<Finding> {
    let limit = look.config.zero_variance_above;
    let (is_sure, share) = is_above(look, "flat_and_wrong", limit)?;
    let message = format!(
        "{:.0} % of the groups have one reward for all rollouts and wrong answers, more than {:.0} %: \
         nothing is learned from them",
        100.0 * share,
        100.0 * limit
    );
    let rollouts = look.worst(|own| is_wrong(own) && own.advantage.abs() < 1e-9, |_| 0.0);
    Some(Finding { is_sure, message, rollouts, since: None })
}

/// [`super::Alarm::FaultShare`].
pub(super) fn fault_share(look: &Look<'_>) -> Option<Finding> {
    let limit = look.config.faults_above;
    let (is_sure, share) = is_above(look, "fault", limit)?;
    let message = format!(
        "the rewards of {:.1} % of the rollouts failed, more than {:.1} %",
        100.0 * share,
        100.0 * limit
    );
    let rollouts = look.worst(|own| own.fault.is_some(), |_| 0.0);
    Some(Finding { is_sure, message, rollouts, since: None })
}

/// [`super::Alarm::EntropyCollapse`]: against the first window.
pub(super) fn entropy_collapse(look: &Look<'_>) -> Option<Finding> {
    let (now, first, config) = (look.memory.now(), look.memory.first()?, look.config);
    let (entropy, before) = (now.get("entropy")?, first.get("entropy")?.value);
    let limit = config.entropy_below * before;
    let is_poor = now.get("correct").is_none_or(|right| right.value < Reward::RIGHT);
    if entropy.value >= limit || !is_poor || !no_better(&now, first, config.accuracy_fall) {
        return None;
    }
    let message = format!(
        "the entropy of the policy fell from {before:.3} to {:.3} nats, below {:.0} % of what it was, \
         and answers got no better",
        entropy.value,
        100.0 * config.entropy_below
    );
    let rollouts = look.worst(|own| is_wrong(own) || own.correct.is_none(), |own| -own.entropy);
    let is_sure = entropy.is_below(limit, config.standard_errors);
    Some(Finding { is_sure, since: Some(first.to + 1), message, rollouts })
}

/// [`super::Alarm::Copies`].
pub(super) fn copies(look: &Look<'_>) -> Option<Finding> {
    let (limit, first) = (look.config.copies_above, look.memory.first()?);
    let (is_sure, share) = is_above(look, "wrong_copies", limit)?;
    let before = first.get("wrong_copies")?.value;
    let now = look.memory.now();
    if share < before + COPIES_RISE || !no_better(&now, first, look.config.accuracy_fall) {
        return None;
    }
    let message = format!(
        "{:.0} % of the rollouts are wrong and copies of another one of their group, more than {:.0} \
         %; in the first steps these were {:.0} %",
        100.0 * share,
        100.0 * limit,
        100.0 * before
    );
    let rollouts = look.worst(is_wrong, |own| own.advantage);
    Some(Finding { is_sure, since: Some(first.to + 1), message, rollouts })
}

/// By how much copies must have risen: short answers have many from the start.
const COPIES_RISE: f64 = 0.2;
/// Steps before a share is judged.
const STEPS_MIN: usize = 3;

/// Whether the share is above the limit beyond doubt, and the share; `None` where it is not above.
fn is_above(look: &Look<'_>, series: &str, limit: f64) -> Option<(bool, f64)> {
    let share = look.memory.now().get(series).filter(|share| share.value > limit)?;
    let is_long = look.memory.recent.len() >= STEPS_MIN.min(look.config.window);
    Some((is_long && share.is_above(limit, look.config.standard_errors), share.value))
}
