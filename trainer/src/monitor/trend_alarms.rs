//! Alarms about means that go apart: the reward and what is right, the parts, the length.

use assay_verifiers::stats::float;

use super::figures::{PART, StepFigures};
use super::finding::{Finding, Look};
use super::known_attacks::KnownAttacks;
use super::moments::Estimated;
use super::paid_groups::is_wrong;

/// Standard errors by which what rises must rise: that something falls is the rarer half.
const RISE_ERRORS: f64 = 2.0;

/// [`super::Alarm::RewardDiverges`]: against each earlier window, the one whose share of right answers
/// fell by the most.
pub(super) fn reward_diverges(look: &Look<'_>) -> Option<Finding> {
    let (now, config) = (look.memory.now(), look.config);
    let fell = look.memory.earlier().filter_map(|then| {
        let (right, reward) = (now.change("correct", then)?, now.change("reward", then)?);
        let is_apart = right.value < -config.accuracy_fall && reward.value > 0.0;
        is_apart.then_some((then, right, reward))
    });
    let (then, right, reward) = fell.min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let errors = config.standard_errors;
    let is_sure = reward.is_above(0.0, RISE_ERRORS) && right.is_below(0.0, errors);
    let message = format!(
        "the reward rose by {:.3} (+- {:.3}) to {:.3} while the share of right answers fell by {:.3} \
         (+- {:.3}) to {:.3}, since the steps {} to {}; the limit is {}",
        reward.value,
        reward.error,
        value(&now, "reward"),
        -right.value,
        right.error,
        value(&now, "correct"),
        then.from,
        then.to,
        config.accuracy_fall
    );
    let rollouts = look.worst(is_wrong, |own| own.reward.unwrap_or(f64::NEG_INFINITY));
    Some(Finding { is_sure, since: Some(then.to + 1), message, rollouts })
}

/// [`super::Alarm::PartsApart`]: the pair whose parts went apart the most surely.
pub(super) fn parts_apart(look: &Look<'_>) -> Option<Finding> {
    let (now, errors) = (look.memory.now(), look.config.standard_errors);
    let found = look.memory.earlier().filter_map(|then| {
        let changes = || {
            let names =
                now.series.keys().filter(|name| name.starts_with(PART) || *name == "correct");
            names.filter_map(|name| Some((name, now.change(name, then)?)))
        };
        let sigmas = |change: &Estimated| change.value / change.error.max(1e-9);
        let rose = changes().filter(|(name, _)| *name != "correct");
        let rose = rose.max_by(|a, b| sigmas(&a.1).total_cmp(&sigmas(&b.1)))?;
        let fell = changes().min_by(|a, b| sigmas(&a.1).total_cmp(&sigmas(&b.1)))?;
        let least = sigmas(&rose.1).min(-sigmas(&fell.1));
        (least > RISE_ERRORS).then_some((least, then, rose, fell))
    });
    let (least, then, rose, fell) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let message = format!(
        "the parts of the reward go apart: {} rose by {:.3} (+- {:.3}) and {} fell by {:.3} (+- \
         {:.3}) since the steps {} to {}; the limit is {errors} standard errors",
        rose.0.trim_start_matches(PART),
        rose.1.value,
        rose.1.error,
        fell.0.trim_start_matches(PART),
        -fell.1.value,
        fell.1.error,
        then.from,
        then.to
    );
    let at = look.report.parts.iter().position(|name| rose.0.strip_prefix(PART) == Some(name));
    let part = |own: &crate::reports::RolloutReport| own.parts.get(at?).copied().flatten();
    let rollouts = look.worst(
        |own| is_wrong(own) || own.correct.is_none(),
        |own| part(own).unwrap_or(f64::NEG_INFINITY),
    );
    Some(Finding { is_sure: least > errors, since: Some(then.to + 1), message, rollouts })
}

/// [`super::Alarm::LengthDrift`]: against the first window.
pub(super) fn length_drift(look: &Look<'_>) -> Option<Finding> {
    let (now, first, config) = (look.memory.now(), look.memory.first()?, look.config);
    let change = now.change("tokens", first)?;
    let before = first.get("tokens")?.value;
    let ratio = (before + change.value) / before;
    let is_off = ratio > config.length_ratio || ratio < 1.0 / config.length_ratio;
    if !is_off || !no_better(&now, first, config.accuracy_fall) {
        return None;
    }
    let is_sure = change.is_above(0.0, config.standard_errors)
        || change.is_below(0.0, config.standard_errors);
    let message = format!(
        "the mean length went from {before:.1} to {:.1} tokens ({:.0} % are cut at the limit), by \
         more than {} times, and answers got no better",
        before + change.value,
        100.0 * value(&now, "truncated"),
        config.length_ratio
    );
    let sign = change.value.signum();
    let rollouts = look.worst(|_| true, |own| sign * float(own.tokens));
    Some(Finding { is_sure, since: Some(first.to + 1), message, rollouts })
}

/// Whether the share of right answers (where nothing says that, the reward) is not above what it was,
/// by more than `rise`.
pub(super) fn no_better(now: &StepFigures, then: &StepFigures, rise: f64) -> bool {
    match (now.change("correct", then), now.change("reward", then)) {
        (Some(right), _) => right.value < rise,
        // The scale of a reward is not known: it counts as risen where that is beyond chance.
        (None, Some(reward)) => !reward.is_above(0.0, RISE_ERRORS),
        (None, None) => false,
    }
}

fn value(figures: &StepFigures, name: &str) -> f64 {
    figures.get(name).map_or(f64::NAN, |found| found.value)
}

/// [`super::Alarm::KnownAttack`]: against the first window.
pub(super) fn known_attack(look: &Look<'_>) -> Option<Finding> {
    let (limit, first) = (look.config.attacks_above, look.memory.first()?);
    let now = look.memory.now();
    let risen = now.change("known_attack", first)?;
    if risen.value <= limit {
        return None;
    }
    let message = format!(
        "{:.1} % of the rollouts are not right and have a text that the audit found to be paid, {:.1} % in \
         the first steps; more than {:.1} % above is told",
        100.0 * now.get("known_attack")?.value,
        100.0 * first.get("known_attack")?.value,
        100.0 * limit
    );
    let attacks = KnownAttacks::new(&look.config.attacks);
    let rollouts = look.worst(|own| attacks.is_in(own), |own| own.advantage);
    let is_sure = risen.is_above(limit, look.config.standard_errors);
    Some(Finding { is_sure, since: Some(first.to + 1), message, rollouts })
}
