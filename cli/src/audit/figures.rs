//! What a configuration made of attacks, by family.

use std::collections::BTreeMap;

use assay::trainer::diagnostics::auroc;
use assay::trainer::diagnostics::{Estimate, clopper_pearson};
use assay::verifiers::stats::CorrelationSums;
use serde::Serialize;

use super::attempt::Attempt;
use super::target::Target;
use crate::attack::{Expect, Family};

/// The probability of intervals.
const LEVEL: f64 = 0.95;
/// A change of a reward below this is none.
const TOLERANCE: f64 = 1e-6;
/// Attacks of a family that are shown.
const SHOWN_MAX: usize = 5;
/// Characters of a text that are shown.
const SHOWN_CHARS: usize = 160;

/// What was found. The keys are part of the command-line contract.
#[derive(Serialize)]
pub(super) struct Audit {
    pub(super) rows: usize,
    /// Rows of which no right answer is known: attacks with one were left out.
    pub(super) rows_without_answer: usize,
    pub(super) attacks: usize,
    /// Attacks with a fault or an abstention.
    pub(super) unjudged: usize,
    /// From here on a completion is paid.
    pub(super) pass: f64,
    pub(super) families: BTreeMap<String, FamilyFigures>,
    /// Rows on which an attack was paid that should not be, of all rows.
    pub(super) rows_with_holes: Share,
    /// The probability that a paid completion has a higher reward than an attack that should not be paid.
    pub(super) discriminability: Option<f64>,
    /// Pearson's correlation of the characters of such attacks and their rewards.
    pub(super) length_correlation: Option<f64>,
    /// What the labels say of the completions of the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<LabelFigures>,
    /// How far the other configuration is from this one, on the same attacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) against: Option<assay::trainer::diagnostics::RewardDistance>,
}

/// A share, with the interval of Clopper and Pearson.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Share {
    pub(super) count: usize,
    pub(super) of: usize,
    #[serde(flatten)]
    pub(super) estimate: Option<Estimate>,
}

impl Share {
    pub(super) fn of(count: usize, of: usize) -> Self {
        Self { count, of, estimate: clopper_pearson(count, of, LEVEL) }
    }

    pub(super) fn value(&self) -> f64 {
        self.estimate.map_or(0.0, |own| own.value)
    }
}

#[derive(Serialize)]
pub(super) struct LabelFigures {
    /// Wrong completions that are paid.
    pub(super) false_accepts: Share,
    /// Right completions that are not.
    pub(super) false_refusals: Share,
}

/// What was made of one family.
#[derive(Serialize)]
pub(super) struct FamilyFigures {
    /// What the attacks have in common, and which rewards pay for them.
    pub(super) about: String,
    pub(super) expect: Expect,
    /// Attacks that are not as expected: paid, higher than before, or moved.
    pub(super) failed: Share,
    /// Of edits of paid completions: those that are not paid any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<Share>,
    /// Attacks with a fault or an abstention.
    pub(super) unjudged: usize,
    /// The mean change of the reward, against the completion that was edited, or against an empty one.
    pub(super) mean_gain: Option<f64>,
    /// The greatest.
    pub(super) max_gain: Option<f64>,
    /// The attacks that failed, by name, the most frequent first.
    pub(super) worst: Vec<(String, usize)>,
    pub(super) examples: Vec<Example>,
}

/// An attack that failed.
#[derive(Clone, Serialize)]
pub(super) struct Example {
    /// The id of its row in `audit.jsonl`.
    pub(super) id: String,
    pub(super) reward: f64,
    pub(super) before: Option<f64>,
    /// The beginning of the text.
    pub(super) text: String,
}

/// An attack, judged.
pub(super) struct Judged<'a> {
    pub(super) attempt: &'a Attempt,
    pub(super) target: &'a Target,
    /// The lowest reward of its forms; `None` where one has none.
    pub(super) reward: Option<f64>,
}

impl Judged<'_> {
    /// What its reward is compared with.
    fn before(&self, expect: Expect, empty: &BTreeMap<usize, f64>) -> Option<f64> {
        match expect {
            Expect::Unpaid => empty.get(&self.attempt.target).copied(),
            Expect::NotHigher => self.target.own,
            Expect::Unmoved | Expect::Lower => self.target.honest.as_ref().map(|(_, own)| *own),
        }
    }

    /// Whether it is not as expected.
    fn failed(&self, expect: Expect, before: Option<f64>, pass: f64) -> bool {
        let Some(reward) = self.reward else {
            return matches!(expect, Expect::Unmoved);
        };
        match (expect, before) {
            (Expect::Unpaid, _) => reward >= pass,
            (Expect::NotHigher, Some(before)) => reward > before + TOLERANCE,
            (Expect::Unmoved, Some(before)) => (reward - before).abs() > TOLERANCE,
            _ => false,
        }
    }
}

/// Adds up what was judged.
pub(super) fn audit(
    families: &[Family],
    targets: &[Target],
    judged: &[Judged<'_>],
    pass: f64,
) -> Audit {
    let is_empty = |one: &&Judged<'_>| {
        let family = families.get(one.attempt.family);
        one.attempt.name == "nothing" && family.is_some_and(|family| family.name == "empty")
    };
    let empty: BTreeMap<usize, f64> = judged
        .iter()
        .filter(is_empty)
        .filter_map(|one| Some((one.attempt.target, one.reward?)))
        .collect();
    let mut holes: Vec<usize> = Vec::new();
    let mut found = BTreeMap::new();
    for (at, family) in families.iter().enumerate() {
        let own: Vec<&Judged<'_>> = judged.iter().filter(|one| one.attempt.family == at).collect();
        if own.is_empty() {
            continue;
        }
        if family.expect == Expect::Unpaid {
            let paid = own.iter().filter(|one| one.failed(family.expect, None, pass));
            holes.extend(paid.map(|one| one.attempt.target));
        }
        found.insert(family.name.clone(), figures(family, &own, &empty, pass));
    }
    holes.sort_unstable();
    holes.dedup();
    let (discriminability, length_correlation) = separation(families, targets, judged);
    Audit {
        rows: targets.len(),
        rows_without_answer: targets.iter().filter(|target| target.right.is_none()).count(),
        attacks: judged.len(),
        unjudged: judged.iter().filter(|one| one.reward.is_none()).count(),
        pass,
        families: found,
        rows_with_holes: Share::of(holes.len(), targets.len()),
        discriminability,
        length_correlation,
        labels: labels(targets, pass),
        against: None,
    }
}

fn figures(
    family: &Family,
    own: &[&Judged<'_>],
    empty: &BTreeMap<usize, f64>,
    pass: f64,
) -> FamilyFigures {
    let (mut gains, mut failed) = (Vec::new(), Vec::new());
    for one in own {
        let before = one.before(family.expect, empty);
        gains.extend(one.reward.zip(before).map(|(reward, before)| reward - before));
        if one.failed(family.expect, before, pass) {
            failed.push((*one, before));
        }
    }
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (one, _) in &failed {
        *names.entry(&one.attempt.name).or_default() += 1;
    }
    let mut worst: Vec<(String, usize)> =
        names.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    worst.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    worst.truncate(SHOWN_MAX);
    failed.sort_by(|(one, _), (other, _)| {
        other
            .reward
            .unwrap_or(f64::NEG_INFINITY)
            .total_cmp(&one.reward.unwrap_or(f64::NEG_INFINITY))
    });
    let example = |(one, before): &(&Judged<'_>, Option<f64>)| {
        let text = one.attempt.texts.first()?;
        Some(Example {
            id: one.attempt.ids(one.target, family).into_iter().next()?,
            reward: one.reward?,
            before: *before,
            text: text.chars().take(SHOWN_CHARS).collect(),
        })
    };
    // Each attack once before any comes twice.
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    failed.sort_by_cached_key(|(one, _)| {
        let times = seen.entry(&one.attempt.name).or_default();
        *times += 1;
        *times
    });
    let is_neutral = family.expect == Expect::Unmoved;
    let refused = own.iter().filter(|one| one.reward.is_none_or(|reward| reward < pass)).count();
    FamilyFigures {
        about: family.about.clone(),
        expect: family.expect,
        failed: Share::of(failed.len(), own.len()),
        refused: is_neutral.then(|| Share::of(refused, own.len())),
        unjudged: own.iter().filter(|one| one.reward.is_none()).count(),
        mean_gain: assay::verifiers::stats::corrected_mean(&gains),
        max_gain: gains.iter().copied().reduce(f64::max),
        worst,
        examples: failed.iter().filter_map(example).take(SHOWN_MAX).collect(),
    }
}

/// How well rewards part paid completions from attacks, and how far the rewards of attacks follow their length.
fn separation(
    families: &[Family],
    targets: &[Target],
    judged: &[Judged<'_>],
) -> (Option<f64>, Option<f64>) {
    let (mut scores, mut labels, mut lengths, mut rewards) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (_, own) in targets.iter().filter_map(|target| target.honest.as_ref()) {
        scores.push(*own);
        labels.push(Some(true));
    }
    for one in judged {
        let family = families.get(one.attempt.family);
        let (Some(reward), Some(Expect::Unpaid)) = (one.reward, family.map(|family| family.expect))
        else {
            continue;
        };
        scores.push(reward);
        labels.push(Some(false));
        let length = one.attempt.texts.first().map_or(0, |text| text.chars().count());
        lengths.push(assay::verifiers::stats::float(length));
        rewards.push(reward);
    }
    (auroc(&scores, &labels), CorrelationSums::of(&lengths, &rewards).pearson())
}

fn labels(targets: &[Target], pass: f64) -> Option<LabelFigures> {
    let labelled = targets.iter().filter_map(|target| Some((target.label?, target.own)));
    let (right, wrong): (Vec<_>, Vec<_>) = labelled.partition(|(label, _)| *label);
    let is_paid = |own: &Option<f64>| own.is_some_and(|own| own >= pass);
    let paid = |all: &[(bool, Option<f64>)]| all.iter().filter(|(_, own)| is_paid(own)).count();
    (!right.is_empty() || !wrong.is_empty()).then(|| LabelFigures {
        false_accepts: Share::of(paid(&wrong), wrong.len()),
        false_refusals: Share::of(right.len() - paid(&right), right.len()),
    })
}
