//! pass@k over the prompts of a run: with intervals, and as curves that two runs are compared by.

use assay_verifiers::stats::{corrected_mean, float};

use super::estimate::{ClusteredMean, Estimate, Resampling, clustered_mean, resampled};
use super::pass_at_k::pass_at_k;
use crate::prelude::*;

/// How many samples of a prompt were judged, and how many of them are correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PromptCounts {
    /// Judged samples.
    pub samples: usize,
    /// Correct ones.
    pub correct: usize,
}

/// pass@k at one k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassPoint {
    /// The samples that are allowed.
    pub k: usize,
    /// The mean over prompts, and its bootstrap interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The standard error of the mean over prompts; `null` of one prompt.
    pub standard_error: Option<f64>,
    /// Prompts with at least k samples. Where these are fewer than at another k, the points are not
    /// of one set of prompts.
    pub prompts: usize,
}

/// pass@k for several k.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassCurve {
    /// The points, in the order that was asked for. A k above the samples of every prompt is left out.
    pub points: Vec<PassPoint>,
    /// The mean over all samples, its error clustered by prompt: mean@n. `null` of no samples.
    pub mean: Option<ClusteredMean>,
    /// Prompts with at least one sample.
    pub prompts: usize,
    /// Judged samples.
    pub samples: usize,
}

/// A place where one curve overtakes the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurveCrossing {
    /// The last k at which the first order holds.
    pub from: usize,
    /// The first k at which the other order holds.
    pub to: usize,
    /// The k between them at which the curves meet, if they are straight over `ln k`.
    pub at: f64,
    /// Whether the second curve is above the first after the crossing.
    pub second_is_above: bool,
}

/// The counts of each group. A label that is `None` is a sample that was not judged: it does not count
/// as wrong.
///
/// # Errors
/// Not one label for each row of the groups.
pub fn prompt_counts(
    groups: &Groups,
    correct: &[Option<bool>],
) -> Result<Vec<PromptCounts>, TrainerError> {
    groups.along("labels", correct.len())?;
    let counts = groups.iter().map(|members| {
        let labels: Vec<bool> =
            members.rows().filter_map(|row| correct.get(row).copied().flatten()).collect();
        let right = labels.iter().filter(|label| **label).count();
        PromptCounts { samples: labels.len(), correct: right }
    });
    Ok(counts.collect())
}

/// pass@k over prompts, for each k. Each prompt has the same weight; prompts are drawn again for the
/// interval, never samples alone, as samples of a prompt are not independent.
pub fn pass_curve(prompts: &[PromptCounts], ks: &[usize], how: Resampling) -> PassCurve {
    let point = |k: &usize| {
        let at = |counts: &PromptCounts| pass_at_k(counts.samples, counts.correct, *k);
        let values: Vec<f64> = prompts.iter().filter_map(at).collect();
        let mean_of = |drawn: &[usize]| {
            let drawn: Vec<f64> = drawn.iter().filter_map(|at| values.get(*at).copied()).collect();
            corrected_mean(&drawn)
        };
        Some(PassPoint {
            k: *k,
            estimate: resampled(values.len(), how, mean_of)?,
            standard_error: clustered_mean(values.chunks(1))?.standard_error,
            prompts: values.len(),
        })
    };
    let samples = |counts: &PromptCounts| {
        let wrong = counts.samples.saturating_sub(counts.correct);
        let mut values = vec![1.0; counts.correct];
        values.resize(counts.correct + wrong, 0.0);
        values
    };
    let rows: Vec<Vec<f64>> = prompts.iter().map(samples).collect();
    PassCurve {
        points: ks.iter().filter_map(point).collect(),
        mean: clustered_mean(rows.iter().map(Vec::as_slice)),
        prompts: prompts.iter().filter(|counts| counts.samples > 0).count(),
        samples: prompts.iter().map(|counts| counts.samples).sum(),
    }
}

/// 1, 2, 4, ... up to `most`, and `most` itself.
pub fn powers_of_two(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |k| k.checked_mul(2));
    let mut ks: Vec<usize> = powers.take_while(|k| *k <= most).collect();
    if ks.last().is_some_and(|last| *last < most) {
        ks.push(most);
    }
    ks
}

/// Where two curves cross, at the k that both have. A base model that is below at k = 1 and above
/// from some k on has a wider support than the trained one.
///
/// Source: "Does Reinforcement Learning Really Incentivize Reasoning Capacity in LLMs Beyond the Base
/// Model?" (Yue et al. 2025), section 3.
pub fn crossings(first: &PassCurve, second: &PassCurve) -> Vec<CurveCrossing> {
    let gap = |point: &PassPoint| {
        let other = second.points.iter().find(|other| other.k == point.k)?;
        Some((point.k, other.estimate.value - point.estimate.value))
    };
    let mut gaps: Vec<(usize, f64)> = first.points.iter().filter_map(gap).collect();
    gaps.sort_by_key(|(k, _)| *k);
    // Where the curves touch, no order holds: the orders before and after it tell.
    gaps.retain(|(_, gap)| *gap != 0.0);
    let crossing = |pair: &[(usize, f64)]| match pair {
        [(from, before), (to, after)] if (*before > 0.0) != (*after > 0.0) => {
            let logs = (float(*from).ln(), float(*to).ln());
            let at = (logs.0 + (logs.1 - logs.0) * before / (before - after)).exp();
            let (from, to) = (*from, *to);
            Some(CurveCrossing { from, to, at, second_is_above: *after > 0.0 })
        }
        _ => None,
    };
    gaps.windows(2).filter_map(crossing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(counts: &[(usize, usize)], ks: &[usize]) -> PassCurve {
        let counts = counts
            .iter()
            .map(|(samples, correct)| PromptCounts { samples: *samples, correct: *correct });
        pass_curve(&counts.collect::<Vec<_>>(), ks, Resampling::default())
    }

    #[test]
    fn a_sample_that_was_not_judged_is_not_wrong() {
        let groups = Groups::by_key(["a", "a", "b", "a"]);
        let labels = [Some(true), None, Some(false), Some(false)];
        let counts = prompt_counts(&groups, &labels).unwrap();
        assert_eq!(
            counts,
            [PromptCounts { samples: 2, correct: 1 }, PromptCounts { samples: 1, correct: 0 }]
        );
        assert!(prompt_counts(&groups, &labels[..2]).is_err());
    }

    #[test]
    fn a_curve_by_hand() {
        // 2 samples, 1 correct: 1/2 and 1. 2 samples, none correct: 0 and 0.
        let curve = curve(&[(2, 1), (2, 0), (1, 1)], &[1, 2, 3]);
        let values: Vec<(usize, f64, usize)> = curve
            .points
            .iter()
            .map(|point| (point.k, point.estimate.value, point.prompts))
            .collect();
        assert_eq!(values, [(1, 0.5, 3), (2, 0.5, 2)]);
        assert_eq!((curve.prompts, curve.samples), (3, 5));
        let mean = curve.mean.unwrap();
        assert_eq!((mean.mean, mean.clusters), (0.4, 3));
        // Values 1/2, 0, 1: variance 1/4 over three prompts.
        let error = curve.points[0].standard_error.unwrap();
        assert!((error - (0.25_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_narrower_model_is_overtaken() {
        // Trained: half of the prompts always, the others never. Base: a quarter of the samples of
        // every prompt. pass@1: 0.5 and 0.25; pass@8: 0.5 and 1.
        let trained = curve(&[(8, 8), (8, 0)], &[1, 2, 4, 8]);
        let base = curve(&[(8, 2), (8, 2)], &[1, 2, 4, 8]);
        let found = crossings(&trained, &base);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].from, found[0].to, found[0].second_is_above), (2, 4, true));
        assert!(found[0].at > 2.0 && found[0].at < 4.0);
        assert_eq!(crossings(&trained, &trained), []);
        assert_eq!(powers_of_two(6), [1, 2, 4, 6]);
        assert_eq!(powers_of_two(0), [0_usize; 0]);
    }
}
