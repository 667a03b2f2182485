//! Agreement of numbers: correlations and the mean error.

use assay_verifiers::stats::{CorrelationSums, float, mean, ranks, ratio};

/// Pearson's correlation, -1 to 1. `None` where one side has no spread or a number is not finite.
pub fn pearson(cases: &[(f64, f64)]) -> Option<f64> {
    let (x, y) = columns(cases)?;
    CorrelationSums::of(&x, &y).pearson()
}

/// Spearman's correlation: Pearson's of the ranks, equal values sharing the mean of theirs. -1 to 1.
pub fn spearman(cases: &[(f64, f64)]) -> Option<f64> {
    let (x, y) = columns(cases)?;
    CorrelationSums::of(&ranks(&x), &ranks(&y)).pearson()
}

/// Kendall's tau-b: "The Treatment of Ties in Ranking Problems" (Kendall 1945). -1 to 1. `None` where
/// one side has no spread. The time grows with the square of the cases.
pub fn kendall_tau_b(cases: &[(f64, f64)]) -> Option<f64> {
    if !all_finite(cases) {
        return None;
    }
    let (mut agree, mut pairs_x, mut pairs_y) = (0_i64, 0_usize, 0_usize);
    for (at, (x, y)) in cases.iter().enumerate() {
        for (other_x, other_y) in cases.iter().skip(at + 1) {
            let (by_x, by_y) = (sign(*x, *other_x), sign(*y, *other_y));
            agree += by_x * by_y;
            pairs_x += usize::from(by_x != 0);
            pairs_y += usize::from(by_y != 0);
        }
    }
    let whole = (float(pairs_x) * float(pairs_y)).sqrt();
    let size = float(agree.unsigned_abs());
    let tau = ratio(if agree < 0 { -size } else { size }, whole)?;
    Some(tau.clamp(-1.0, 1.0))
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

fn sign(a: f64, b: f64) -> i64 {
    i64::from(a > b) - i64::from(a < b)
}

fn all_finite(cases: &[(f64, f64)]) -> bool {
    cases.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}
