//! What a reward made of perturbed texts, by family.

use assay_verifiers::stats::{corrected_mean, share};
use std::collections::BTreeMap;

use serde::Serialize;

use super::discriminability::auroc;
use super::perturbation::{PerturbationFamily, RewardResponse};

/// The scores of one text before and after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct PerturbedScores {
    /// How it was changed.
    pub family: PerturbationFamily,
    /// The reward of the whole text before; NaN where it is missing.
    pub before: f64,
    /// The reward of the whole text after.
    pub after: f64,
    /// The rewards of its steps before; empty where the reward has none.
    pub steps_before: Vec<f64>,
    /// The rewards of its steps after.
    pub steps_after: Vec<f64>,
}

/// When a reward passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerturbationLimits {
    /// A change of the reward below this is none.
    pub tolerance: f64,
    /// A broken text has to fall by at least this.
    pub drop: f64,
    /// The share of texts that have to behave.
    pub share: f64,
}

impl Default for PerturbationLimits {
    fn default() -> Self {
        Self { tolerance: 0.1, drop: 0.3, share: 0.9 }
    }
}

/// What a reward made of one family. Deltas are after minus before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerturbationReport {
    /// What the reward should have made of it.
    pub expected: RewardResponse,
    /// Texts with a reward before and after.
    pub texts: usize,
    /// The mean delta of the whole text.
    pub mean_delta: Option<f64>,
    /// The mean size of the delta.
    pub mean_size: Option<f64>,
    /// The mean delta of the first step.
    pub first_step: Option<f64>,
    /// That of the second step.
    pub second_step: Option<f64>,
    /// That of the last step but one.
    pub next_to_last_step: Option<f64>,
    /// That of the last step.
    pub last_step: Option<f64>,
    /// The share of texts whose reward moved by less than the tolerance.
    pub within_tolerance: Option<f64>,
    /// The share of texts whose reward fell by the drop or more.
    pub dropped: Option<f64>,
    /// The share of texts whose reward rose by the tolerance or more.
    pub rose: Option<f64>,
    /// The probability that a text as it was has a higher reward than a changed one.
    pub detection_auc: Option<f64>,
    /// Whether the reward did what it should: the mean size of the delta is below the tolerance
    /// (`unchanged`), the share that dropped is at least `share` (`lower`), or the share that rose at
    /// most the rest (`not_higher`).
    pub passes: Option<bool>,
}

/// Measures each family that has texts.
///
/// Source: "Reward Under Attack: Analyzing the Robustness and Hackability of Process Reward Models",
/// its static tier; the limits are ours.
pub fn perturbation_report(
    scores: &[PerturbedScores],
    limits: PerturbationLimits,
) -> BTreeMap<PerturbationFamily, PerturbationReport> {
    let mut families: BTreeMap<PerturbationFamily, Vec<&PerturbedScores>> = BTreeMap::new();
    for scores in scores {
        families.entry(scores.family).or_default().push(scores);
    }
    families
        .into_iter()
        .map(|(family, scores)| (family, measured(family, &scores, limits)))
        .collect()
}

fn measured(
    family: PerturbationFamily,
    scores: &[&PerturbedScores],
    limits: PerturbationLimits,
) -> PerturbationReport {
    let whole: Vec<(f64, f64)> = scores
        .iter()
        .map(|scores| (scores.before, scores.after))
        .filter(|(before, after)| before.is_finite() && after.is_finite())
        .collect();
    let deltas: Vec<f64> = whole.iter().map(|(before, after)| after - before).collect();
    let sizes: Vec<f64> = deltas.iter().map(|delta| delta.abs()).collect();
    let share_of =
        |is: &dyn Fn(&&f64) -> bool| share(deltas.iter().filter(is).count(), deltas.len());
    let step = |of: fn(&[f64]) -> Option<f64>| {
        let delta =
            |scores: &&PerturbedScores| Some(of(&scores.steps_after)? - of(&scores.steps_before)?);
        let deltas = scores.iter().filter_map(delta).filter(|delta| delta.is_finite());
        corrected_mean(&deltas.collect::<Vec<_>>())
    };
    let (mut all, mut labels) = (Vec::new(), Vec::new());
    for (before, after) in &whole {
        all.extend([*before, *after]);
        labels.extend([Some(true), Some(false)]);
    }
    let mut report = PerturbationReport {
        expected: family.expected(),
        texts: whole.len(),
        mean_delta: corrected_mean(&deltas),
        mean_size: corrected_mean(&sizes),
        first_step: step(|steps| steps.first().copied()),
        second_step: step(|steps| steps.get(1).copied()),
        next_to_last_step: step(|steps| steps.get(steps.len().checked_sub(2)?).copied()),
        last_step: step(|steps| steps.last().copied()),
        within_tolerance: share_of(&|delta| delta.abs() < limits.tolerance),
        dropped: share_of(&|delta| -**delta >= limits.drop),
        rose: share_of(&|delta| **delta >= limits.tolerance),
        detection_auc: auroc(&all, &labels),
        passes: None,
    };
    report.passes = match report.expected {
        RewardResponse::Unchanged => report.mean_size.map(|size| size < limits.tolerance),
        RewardResponse::Lower => report.dropped.map(|share| share >= limits.share),
        RewardResponse::NotHigher => report.rose.map(|share| share <= 1.0 - limits.share + 1e-12),
    };
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(family: PerturbationFamily, before: f64, after: f64) -> PerturbedScores {
        let (steps_before, steps_after) = (vec![0.9, before], vec![0.8, 0.5, after]);
        PerturbedScores { family, before, after, steps_before, steps_after }
    }

    #[test]
    fn families_by_hand() {
        use PerturbationFamily::{AppendUnrelated, Markdown, NumberJitter};
        let found = perturbation_report(
            &[
                scores(Markdown, 0.8, 0.75),
                scores(Markdown, 0.8, 0.85),
                scores(NumberJitter, 0.9, 0.4),
                scores(NumberJitter, 0.9, 0.8),
                scores(NumberJitter, f64::NAN, 0.8),
                scores(AppendUnrelated, 0.5, 0.9),
            ],
            PerturbationLimits::default(),
        );
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-12;
        let markdown = found[&Markdown];
        assert!(near(markdown.mean_delta, 0.0) && near(markdown.mean_size, 0.05));
        assert_eq!((markdown.within_tolerance, markdown.passes), (Some(1.0), Some(true)));
        let jitter = found[&NumberJitter];
        assert_eq!((jitter.texts, jitter.dropped, jitter.passes), (2, Some(0.5), Some(false)));
        assert!(near(jitter.mean_delta, -0.3) && near(jitter.detection_auc, 1.0));
        assert!(near(jitter.first_step, -0.1) && near(jitter.second_step, 0.5 - 0.9));
        assert!(near(markdown.next_to_last_step, 0.5 - 0.9) && near(markdown.last_step, 0.0));
        let appended = found[&AppendUnrelated];
        assert_eq!((appended.rose, appended.passes), (Some(1.0), Some(false)));
        assert_eq!(found.len(), 3);
    }
}
