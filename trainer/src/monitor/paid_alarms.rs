//! Alarms about what is paid within groups: they see what is being learned before it is learned.

use assay_verifiers::stats::float;

use super::finding::{Finding, Look};
use super::moments::{Estimated, PayMoments};
use super::paid_groups::is_wrong;
use super::phrases::FollowedPhrase;
use crate::reports::RolloutReport;

/// [`super::Alarm::RightNotPaid`].
pub(super) fn right_not_paid(look: &Look<'_>) -> Option<Finding> {
    let (paid, limit) = (&look.memory.paid, look.config.right_paid_below);
    let scale = paid.right.spreads().0.sqrt() / paid.advantage_scale()?;
    let pays = paid.right.right_pays()?;
    let found = Estimated { value: pays.value * scale, error: pays.error * scale };
    if paid.right.groups() < look.config.groups_min || found.value >= limit {
        return None;
    }
    let message = format!(
        "right answers are hardly paid: advantage and rightness correlate within groups by {:.2} \
         (+- {:.2}, {:.0} groups), expected at least {limit}",
        found.value,
        found.error,
        paid.right.groups()
    );
    let rollouts = look.worst(is_wrong, |own| own.advantage);
    let is_sure = found.is_below(limit, look.config.standard_errors);
    Some(Finding { is_sure, message, rollouts, since: None })
}

/// [`super::Alarm::LengthPays`].
pub(super) fn length_pays(look: &Look<'_>) -> Option<Finding> {
    let longer = &look.memory.paid.longer;
    let show = |sign: f64| {
        move |look: &Look<'_>| {
            look.worst(is_wrong, |own| own.advantage + sign * float(own.tokens) * 1e-6)
        }
    };
    let judged = pays_instead(look, longer, "being the longest of a group")
        .map(|found| (found, show(1.0)(look)))
        .or_else(|| {
            let shorter = longer.mirrored();
            let found = pays_instead(look, &shorter, "being the shortest of a group")?;
            Some((found, show(-1.0)(look)))
        });
    let with_rollouts = |(found, rollouts)| Finding { rollouts, ..found };
    judged.map(with_rollouts).or_else(|| length_pays_unjudged(look))
}

/// [`super::Alarm::PartPays`]: the part that pays the most.
pub(super) fn part_pays(look: &Look<'_>) -> Option<Finding> {
    let found = look.memory.paid.parts.iter().filter_map(|(name, moments)| {
        let found = pays_instead(look, moments, &format!("the reward {name:?}"))?;
        Some((found, name, moments.both_pay().map_or(0.0, |(_, feature)| feature)))
    });
    let (found, name, _) = found.reduce(surer)?;
    let at = look.report.parts.iter().position(|own| own == name);
    let part = |own: &RolloutReport| own.parts.get(at?).copied().flatten();
    let rollouts = look.worst(is_wrong, |own| part(own).unwrap_or(f64::NEG_INFINITY));
    Some(Finding { rollouts, ..found })
}

/// [`super::Alarm::PhrasePays`]: the phrase that pays the most; of equal ones the longest.
pub(super) fn phrase_pays(look: &Look<'_>) -> Option<Finding> {
    let strength = |phrase: &FollowedPhrase| {
        let pays = phrase.moments.feature_pays();
        pays.map_or(0.0, |pays| pays.value * phrase.moments.weight().sqrt())
    };
    let found = look.memory.paid.phrases.iter().filter_map(|(text, phrase)| {
        let found = pays_instead(look, &phrase.moments, &format!("saying {text:?}"))?;
        let longer = float(phrase.words * 100 + text.len()) * 1e-9;
        let since = Some(phrase.since);
        Some((Finding { since, ..found }, text, strength(phrase) + longer))
    });
    let (found, text, _) = found.reduce(surer)?;
    let has = |own: &RolloutReport| {
        let words: Vec<String> = own.completion.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ").contains(text.as_str()) || own.completion.contains(text.as_str())
    };
    let rollouts = look.worst(|own| has(own) && is_wrong(own), |own| own.advantage);
    Some(Finding { rollouts, ..found })
}

/// A feature pays although completions with it are right less often, or pays more than being right
/// does without going with it.
fn pays_instead(look: &Look<'_>, moments: &PayMoments, what: &str) -> Option<Finding> {
    let config = look.config;
    let errors = config.standard_errors;
    if moments.groups() < config.groups_min {
        return None;
    }
    let (pays, right) = (moments.feature_pays()?, moments.feature_is_right()?);
    if pays.value <= 0.0 {
        return None;
    }
    let harms = pays.is_above(0.0, errors) && right.is_below(-config.accuracy_lost, HARM_ERRORS);
    let over = moments.feature_over_right(config.pays_above);
    let over = over.filter(|_| !right.is_above(0.0, GOES_ALONG_ERRORS));
    let outbids = over.is_some_and(|over| over.is_above(0.0, errors));
    let is_suspect = right.value < -config.accuracy_lost || over.is_some_and(|own| own.value > 0.0);
    let (of_right, of_feature) = moments.both_pay().unwrap_or((f64::NAN, pays.value));
    let message = format!(
        "{what} pays {:.2} (+- {:.2}) within groups, while such answers are right by {:+.2} (+- \
         {:.2}) more often; at a fixed other it pays {of_feature:.2}, and being right {of_right:.2} \
         ({:.0} groups); the limits are {:+.2} in rightness and {} times the pay of being right",
        pays.value,
        pays.error,
        right.value,
        right.error,
        moments.groups(),
        -config.accuracy_lost,
        config.pays_above,
    );
    is_suspect.then(|| Finding { is_sure: harms || outbids, message, ..Finding::default() })
}

/// Standard errors by which rightness must be lower with a feature. That the feature is paid is asked
/// for too, and of a reward that pays what is right the two exclude each other.
const HARM_ERRORS: f64 = 2.0;
/// Standard errors by which a feature that goes with being right is told.
const GOES_ALONG_ERRORS: f64 = 2.0;

fn surer<T>(first: (Finding, T, f64), second: (Finding, T, f64)) -> (Finding, T, f64) {
    let by_size = second.2.total_cmp(&first.2);
    let order = second.0.is_sure.cmp(&first.0.is_sure).then(by_size);
    if order.is_gt() { second } else { first }
}

/// Where nothing says what is right: length decides, and grew.
fn length_pays_unjudged(look: &Look<'_>) -> Option<Finding> {
    let (paid, limit) = (&look.memory.paid, look.config.length_correlation_above);
    let longer = &paid.longer_unjudged;
    let scale = longer.spreads().1.sqrt() / paid.advantage_scale()?;
    let pays = longer.feature_pays()?;
    let found = Estimated { value: pays.value * scale, error: pays.error * scale };
    let (now, first) = (look.memory.now(), look.memory.first()?);
    let (length, before) = (now.get("tokens")?.value, first.get("tokens")?.value);
    if longer.groups() < look.config.groups_min || found.value <= limit || length < 1.25 * before {
        return None;
    }
    let message = format!(
        "length is what is paid: advantage and length correlate within groups by {:.2} (+- {:.2}), \
         more than {limit}, and the mean length went from {before:.1} to {length:.1} tokens; nothing \
         says which answers are right",
        found.value, found.error
    );
    let rollouts = look.worst(|_| true, |own| own.advantage);
    let is_sure = found.is_above(limit, look.config.standard_errors);
    Some(Finding { is_sure, message, rollouts, since: None })
}
