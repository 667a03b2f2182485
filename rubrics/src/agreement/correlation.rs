//! Agreement of numbers: correlations and the mean error.

use assay_verifiers::stats::{CorrelationSums, mean, ranks};

/// Spearman's correlation: Pearson's of the ranks, equal values sharing the mean of theirs. -1 to 1.
pub fn spearman(cases: &[(f64, f64)]) -> Option<f64> {
    let (x, y) = columns(cases)?;
    CorrelationSums::of(&ranks(&x), &ranks(&y)).pearson()
}

/// The mean distance of the two numbers of a case, at least 0. `None` without cases, or where one is
/// not finite.
pub fn mean_absolute_error(cases: &[(f64, f64)]) -> Option<f64> {
    let errors: Vec<f64> = cases.iter().map(|(judge, truth)| (judge - truth).abs()).collect();
    mean(&errors).filter(|_| all_finite(cases))
}

fn columns(cases: &[(f64, f64)]) -> Option<(Vec<f64>, Vec<f64>)> {
    all_finite(cases).then(|| cases.iter().copied().unzip())
}

fn all_finite(cases: &[(f64, f64)]) -> bool {
    cases.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}
