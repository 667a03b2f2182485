//! Tests of process rewards on scores that are given: the first wrong step, its place, and repeated
//! scoring.

use assay_verifiers::stats::{bounds, corrected_mean, present, ratio, sample_variance, share};
use serde::Serialize;

/// How well the first wrong step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepDetection {
    /// The share of the solutions with a wrong step of which the very step was found.
    pub erroneous: Option<f64>,
    /// The share of the right solutions in which none was found.
    pub correct: Option<f64>,
    /// The harmonic mean of the two; 0 where both are.
    pub f1: Option<f64>,
}

/// Compares the first wrong step by people with that by scores: the first step below `threshold`. Each
/// solution is the labelled step, from 0, or `None` where all are right, and the scores of its steps.
///
/// Source: "`ProcessBench`: Identifying Process Errors in Mathematical Reasoning" (Zheng et al. 2024),
/// section on evaluation.
pub fn step_detection(solutions: &[(Option<usize>, &[f64])], threshold: f64) -> StepDetection {
    let (mut erroneous, mut correct) = ((0, 0), (0, 0));
    for (labelled, scores) in solutions {
        let found = scores.iter().position(|score| *score < threshold);
        let count = if labelled.is_some() { &mut erroneous } else { &mut correct };
        count.0 += usize::from(found == *labelled);
        count.1 += 1;
    }
    let (erroneous, correct) = (share(erroneous.0, erroneous.1), share(correct.0, correct.1));
    let f1 = erroneous.zip(correct).map(|(a, b)| ratio(2.0 * a * b, a + b).unwrap_or(0.0));
    StepDetection { erroneous, correct, f1 }
}

/// The score of a wrong step, by where it stands in the solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PositionBias {
    /// The mean score of errors in the first third of the steps.
    pub early: Option<f64>,
    /// In the second third.
    pub middle: Option<f64>,
    /// In the last third.
    pub late: Option<f64>,
    /// Greatest minus least of the three.
    pub gap: Option<f64>,
}

/// Compares the scores of the same error at different places. Each solution is the place of the error,
/// from 0, and the scores of its steps; the same error has to be put at each place, else the places
/// differ in more than their place.
///
/// There is no paper to follow: the thirds are ours.
pub fn position_bias(solutions: &[(usize, &[f64])]) -> PositionBias {
    let mut thirds = [Vec::new(), Vec::new(), Vec::new()];
    for (error, scores) in solutions {
        let Some(score) = scores.get(*error).filter(|score| score.is_finite()) else { continue };
        // The middle of the step decides: a solution of one step has its error in the middle.
        let third = (2 * error + 1) * 3 / (2 * scores.len());
        if let Some(third) = thirds.get_mut(third) {
            third.push(*score);
        }
    }
    let [early, middle, late] = thirds.map(|scores| corrected_mean(&scores));
    let means: Vec<f64> = [early, middle, late].into_iter().flatten().collect();
    let gap = bounds(&means).filter(|_| means.len() > 1).map(|(least, most)| most - least);
    PositionBias { early, middle, late, gap }
}

/// The mean standard deviation (denominator n - 1) of the scores that each text got when it was scored
/// several times. `None` where none was scored twice.
///
/// A scorer without randomness has 0; generative judges do not. There is no paper to follow.
pub fn repeated_scoring(scores: &[Vec<f64>]) -> Option<f64> {
    let deviation = |scores: &Vec<f64>| sample_variance(&present(scores)).map(f64::sqrt);
    corrected_mean(&scores.iter().filter_map(deviation).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_step_by_hand() {
        let found = step_detection(
            &[
                (Some(1), &[0.9, 0.2, 0.1]),
                (Some(1), &[0.9, 0.9, 0.1]),
                (None, &[0.9, 0.9]),
                (None, &[0.9, 0.9]),
                (None, &[0.9, 0.4]),
            ],
            0.5,
        );
        assert_eq!((found.erroneous, found.correct), (Some(0.5), Some(2.0 / 3.0)));
        assert!((found.f1.unwrap() - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(step_detection(&[], 0.5), StepDetection::default());
        assert_eq!(step_detection(&[(Some(0), &[0.9]), (None, &[0.1])], 0.5).f1, Some(0.0));
    }

    #[test]
    fn errors_by_their_place() {
        let scores = [0.1, 0.1, 0.3, 0.3, 0.7, 0.7];
        let found =
            position_bias(&[(0, &scores), (1, &scores), (2, &scores), (5, &scores), (9, &scores)]);
        assert_eq!((found.early, found.middle, found.late), (Some(0.1), Some(0.3), Some(0.7)));
        assert!((found.gap.unwrap() - 0.6).abs() < 1e-12);
        let one = position_bias(&[(0, &[0.4])]);
        assert_eq!((one.middle, one.gap), (Some(0.4), None));
    }

    #[test]
    fn repeated_scores() {
        let found = repeated_scoring(&[vec![1.0, 3.0], vec![2.0, 2.0], vec![5.0]]);
        assert!((found.unwrap() - 2.0_f64.sqrt() / 2.0).abs() < 1e-12);
        assert_eq!(repeated_scoring(&[vec![1.0]]), None);
    }
}
