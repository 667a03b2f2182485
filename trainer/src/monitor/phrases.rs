//! Phrases of completions, and what having them pays.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::moments::{GroupMoments, PayMoments};
use super::paid_groups::PaidGroup;
use crate::config::MonitorConfig;
use crate::diagnostics::phrase_places;
use crate::reports::StepReport;

/// A phrase that is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FollowedPhrase {
    /// The step since which it is followed without a break.
    pub(super) since: u64,
    /// The words of which it is one; 0 of a run of characters.
    pub(super) words: usize,
    /// Groups in which some rollouts have it, and some are more right than others.
    pub(super) moments: PayMoments,
}

/// Texts up to so many characters, on average, are cut into runs of characters besides words: a
/// policy whose tokens are characters writes no words.
const SHORT_TEXT: usize = 64;
/// The most characters of a run.
const RUN_MAX: usize = 3;
/// The most characters of a text that are looked at.
const TEXT_MAX: usize = 8192;
/// Groups that a phrase must tell of in a step before it is followed.
const GROUPS_MIN: usize = 2;

/// Adds the phrases of a step: those that are followed, and new ones. At most `phrases_max` are
/// followed, those that are paid the most surely.
pub(super) fn follow(
    followed: &mut BTreeMap<String, FollowedPhrase>,
    report: &StepReport,
    mixed: &[&PaidGroup],
    config: &MonitorConfig,
) {
    if config.phrase_words == 0 || config.phrases_max == 0 {
        return;
    }
    let rows: Vec<usize> = mixed.iter().flat_map(|group| group.rows.iter().copied()).collect();
    let texts: Vec<&str> = rows
        .iter()
        .filter_map(|row| report.rollouts.get(*row))
        .map(|rollout| beginning(&rollout.completion, TEXT_MAX))
        .collect();
    let group_of: Vec<usize> = mixed
        .iter()
        .enumerate()
        .flat_map(|(at, group)| group.rows.iter().map(move |_| at))
        .collect();
    for (phrase, words, places) in phrases(&texts, config.phrase_words) {
        let tells = moments(&places, &rows, &group_of, mixed);
        if !followed.contains_key(&phrase) && tells.len() < GROUPS_MIN {
            continue;
        }
        let fresh = || FollowedPhrase { since: report.step, words, moments: PayMoments::default() };
        let own = followed.entry(phrase).or_insert_with(fresh);
        for group in tells {
            own.moments.add(group);
        }
    }
    prune(followed, config.phrases_max);
}

/// The beginning of a text, at most so many bytes, whole characters.
pub(super) fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Each phrase, its number of words (0 of a run of characters), and the texts that have it.
fn phrases(texts: &[&str], words_max: usize) -> Vec<(String, usize, Vec<usize>)> {
    let is_some = |places: &Vec<usize>| places.len() >= GROUPS_MIN && places.len() < texts.len();
    let mut found: BTreeMap<String, (usize, Vec<usize>)> = BTreeMap::new();
    for words in 1..=words_max {
        for (phrase, places) in phrase_places(texts, words) {
            if is_some(&places) {
                found.insert(phrase, (words, places));
            }
        }
    }
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    if characters <= SHORT_TEXT * texts.len() {
        for (run, places) in run_places(texts) {
            if is_some(&places) {
                found.entry(run).or_insert((0, places));
            }
        }
    }
    found.into_iter().map(|(phrase, (words, places))| (phrase, words, places)).collect()
}

/// For each run of characters, the texts that have it, ascending.
fn run_places(texts: &[&str]) -> BTreeMap<String, Vec<usize>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        let characters: Vec<char> = text.chars().collect();
        let runs = (1..=RUN_MAX).flat_map(|length| characters.windows(length));
        let distinct: BTreeSet<&[char]> = runs.collect();
        for run in distinct {
            places.entry(run.iter().collect()).or_default().push(at);
        }
    }
    places
}

/// The moments of having a phrase, of each group that has rollouts with and without it.
fn moments(
    places: &[usize],
    rows: &[usize],
    group_of: &[usize],
    mixed: &[&PaidGroup],
) -> Vec<GroupMoments> {
    let with: BTreeSet<usize> = places.iter().filter_map(|at| rows.get(*at).copied()).collect();
    let of_groups: BTreeSet<usize> =
        places.iter().filter_map(|at| group_of.get(*at).copied()).collect();
    let groups = of_groups.into_iter().filter_map(|at| mixed.get(at));
    let has = |group: &PaidGroup| -> Vec<f64> {
        group.rows.iter().map(|row| f64::from(with.contains(row))).collect()
    };
    groups.filter_map(|group| group.moments(has(group))).collect()
}

fn prune(followed: &mut BTreeMap<String, FollowedPhrase>, most: usize) {
    followed.retain(|_, phrase| phrase.moments.weight() > 0.5);
    if followed.len() <= most {
        return;
    }
    let surely = |phrase: &FollowedPhrase| {
        let pays = phrase.moments.feature_pays();
        pays.map_or(f64::NEG_INFINITY, |pays| pays.value / pays.error.max(1e-9))
    };
    let mut order: Vec<(f64, String)> =
        followed.iter().map(|(name, phrase)| (surely(phrase), name.clone())).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    for (_, name) in order.into_iter().skip(most) {
        followed.remove(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{repeated, rollout};
    use super::*;

    fn followed(config: &MonitorConfig) -> BTreeMap<String, FollowedPhrase> {
        let report = repeated(
            3,
            4,
            &[
                rollout(0, 1.0, 0.0).text("I am sure it is 4"),
                rollout(0, -1.0, 1.0).text("it is 5"),
            ],
        );
        let groups = PaidGroup::of(&report);
        let mixed: Vec<&PaidGroup> = groups.iter().collect();
        let mut followed = BTreeMap::new();
        follow(&mut followed, &report, &mixed, config);
        followed
    }

    #[test]
    fn phrases_that_tell_rollouts_apart_are_followed() {
        let found = followed(&MonitorConfig::default());
        let sure = &found["i am sure"];
        assert_eq!((sure.since, sure.words, sure.moments.weight()), (3, 3, 4.0));
        assert!((sure.moments.feature_pays().unwrap().value - 2.0).abs() < 1e-12);
        assert!((sure.moments.feature_is_right().unwrap().value + 1.0).abs() < 1e-12);
        // All have it.
        assert!(!found.contains_key("it is"));
        // The texts are short: runs of characters are followed too.
        assert_eq!((found["am"].words, found["ur"].words), (1, 0));
    }

    #[test]
    fn what_is_paid_the_most_surely_is_kept() {
        let few = MonitorConfig { phrases_max: 2, ..MonitorConfig::default() };
        let found = followed(&few);
        assert_eq!(found.len(), 2);
        assert!(found.values().all(|own| own.moments.feature_pays().unwrap().value > 0.0));
        let none = MonitorConfig { phrase_words: 0, ..MonitorConfig::default() };
        assert_eq!(followed(&none).len(), 0);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(beginning("aé", 2), "a");
        assert_eq!((beginning("aé", 3), beginning("", 3)), ("aé", ""));
    }
}
