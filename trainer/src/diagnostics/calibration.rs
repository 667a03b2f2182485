//! Calibration of a reward that is a probability of being correct.

use assay_verifiers::stats::{corrected_mean, float, ratio};
use serde::Serialize;

use super::discriminability::auroc;

/// How far confidences are probabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// Rows with a confidence from 0 to 1 and a label.
    pub rows: usize,
    /// Rows with a label whose confidence is missing or is not a probability.
    pub left_out: usize,
    /// Expected calibration error over bins of equal width.
    pub expected_error: Option<f64>,
    /// The greatest error of a bin.
    pub greatest_error: Option<f64>,
    /// The mean of `(confidence - label)^2`.
    pub brier: Option<f64>,
    /// The mean of `-ln` of the probability that the label was given; confidences are kept `1e-12`
    /// from 0 and 1, so that one sure mistake costs 27.6 and not everything.
    pub negative_log_likelihood: Option<f64>,
    /// The probability that a correct row is more confident than a wrong one.
    pub auroc: Option<f64>,
    /// The area under the risk-coverage curve: the mean share of wrong rows among the most confident
    /// 1, 2, ... n. Lower is better.
    pub risk_coverage_area: Option<f64>,
    /// The bins, from the least confident.
    pub bins: Vec<CalibrationBin>,
}

/// Rows of like confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Rows.
    pub rows: usize,
    /// Their mean confidence.
    pub confidence: Option<f64>,
    /// The share of them that is correct.
    pub accuracy: Option<f64>,
}

/// Measures calibration over `bins` bins of equal width (10 by custom); a confidence on an edge is in
/// the bin above it, and 1 in the last.
///
/// Sources: "On Calibration of Modern Neural Networks" (Guo et al. 2017), section 2, for the expected
/// error; "Verification of Forecasts Expressed in Terms of Probability" (Brier 1950); "Bias-Reduced
/// Uncertainty Estimation for Deep Neural Classifiers" (Geifman et al. 2019), section 2, for the area
/// under the risk-coverage curve.
pub fn probability_calibration(
    confidences: &[f64],
    labels: &[Option<bool>],
    bins: usize,
) -> CalibrationReport {
    let labelled = confidences.iter().zip(labels);
    let labelled: Vec<(f64, bool)> =
        labelled.filter_map(|(confidence, label)| Some((*confidence, (*label)?))).collect();
    let rows: Vec<(f64, bool)> =
        labelled.iter().copied().filter(|(confidence, _)| is_probability(*confidence)).collect();
    let bins = binned(&rows, bins);
    let gap =
        |bin: &CalibrationBin| Some((float(bin.rows), (bin.confidence? - bin.accuracy?).abs()));
    let gaps: Vec<(f64, f64)> = bins.iter().filter_map(gap).collect();
    let scores: Vec<f64> = rows.iter().map(|(confidence, _)| *confidence).collect();
    let labels: Vec<Option<bool>> = rows.iter().map(|(_, label)| Some(*label)).collect();
    let mean_of = |value: fn(&(f64, bool)) -> f64| {
        corrected_mean(&rows.iter().map(value).collect::<Vec<_>>())
    };
    CalibrationReport {
        rows: rows.len(),
        left_out: labelled.len() - rows.len(),
        expected_error: ratio(gaps.iter().map(|(rows, gap)| rows * gap).sum(), float(rows.len())),
        greatest_error: gaps.iter().map(|(_, gap)| *gap).reduce(f64::max),
        brier: mean_of(|(confidence, label)| (confidence - f64::from(*label)).powi(2)),
        negative_log_likelihood: mean_of(|(confidence, label)| {
            let given = if *label { *confidence } else { 1.0 - confidence };
            -given.clamp(1e-12, 1.0 - 1e-12).ln()
        }),
        auroc: auroc(&scores, &labels),
        risk_coverage_area: corrected_mean(&risks(&rows)),
        bins,
    }
}

fn is_probability(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
fn binned(rows: &[(f64, bool)], bins: usize) -> Vec<CalibrationBin> {
    let mut sums = vec![(0_usize, 0.0, 0.0); bins];
    for (confidence, label) in rows {
        let place = (confidence * float(bins)) as usize;
        if let Some((count, confidences, correct)) = sums.get_mut(place.min(bins.saturating_sub(1)))
        {
            *count += 1;
            *confidences += confidence;
            *correct += f64::from(*label);
        }
    }
    let bin = |(rows, confidences, correct): (usize, f64, f64)| CalibrationBin {
        rows,
        confidence: ratio(confidences, float(rows)),
        accuracy: ratio(correct, float(rows)),
    };
    sums.into_iter().map(bin).collect()
}

/// The share of wrong rows among the most confident 1, 2, ... n. Rows of one confidence are taken in
/// the mean over their orders: each counts as the mean of them all.
fn risks(rows: &[(f64, bool)]) -> Vec<f64> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut wrong, mut risks) = (0.0, Vec::with_capacity(rows.len()));
    for equal in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let errors: f64 = equal.iter().map(|(_, label)| 1.0 - f64::from(*label)).sum();
        for _ in equal {
            wrong += errors / float(equal.len());
            risks.push(wrong / float(risks.len() + 1));
        }
    }
    risks
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Option<bool> = Some(true);
    const WRONG: Option<bool> = Some(false);

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn calibration_by_hand() {
        // Bins: {0.9, 0.9} half correct, gap 0.4; {0.2} wrong, gap 0.2: (2 * 0.4 + 0.2) / 3.
        let confidences = [0.9, 0.9, 0.2, 1.5, f64::NAN];
        let found = probability_calibration(&confidences, &[RIGHT, WRONG, WRONG, RIGHT, WRONG], 10);
        assert_eq!((found.rows, found.left_out, found.bins.len()), (3, 2, 10));
        assert!(near(found.expected_error, 1.0 / 3.0) && near(found.greatest_error, 0.4));
        assert!(near(found.brier, (0.01 + 0.81 + 0.04) / 3.0));
        let likelihood = -(0.9_f64.ln() + 0.1_f64.ln() + 0.8_f64.ln()) / 3.0;
        assert!(near(found.negative_log_likelihood, likelihood));
        assert!(near(found.auroc, 0.75));
        // Risks: 1/2, 1/2 (two rows of one confidence), 2/3.
        assert!(near(found.risk_coverage_area, (0.5 + 0.5 + 2.0 / 3.0) / 3.0));
    }

    #[test]
    fn the_sure_are_in_the_last_bin() {
        let found = probability_calibration(&[1.0, 0.0, 0.1], &[RIGHT, WRONG, WRONG], 10);
        let rows: Vec<usize> = found.bins.iter().map(|bin| bin.rows).collect();
        assert_eq!(rows, [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(probability_calibration(&[], &[], 10).expected_error, None);
    }
}
