//! Agreement of numbers: correlations and the mean error.

use std::cmp::Ordering;

use crate::number;

/// Pearson's correlation, -1 to 1. `None` where one side has no spread or a number is not finite.
pub fn pearson(cases: &[(f64, f64)]) -> Option<f64> {
    if !all_finite(cases) {
        return None;
    }
    let (x, y): (Vec<f64>, Vec<f64>) = cases.iter().copied().unzip();
    let (mean_x, mean_y) = (number::mean(&x)?, number::mean(&y)?);
    let spread = number::variance(&x)?.sqrt() * number::variance(&y)?.sqrt();
    let both: f64 = cases.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let correlation = number::share(both / number::of(cases.len()), spread)?;
    Some(correlation.clamp(-1.0, 1.0))
}

/// Spearman's correlation: Pearson's of the ranks, equal values sharing the mean of theirs. -1 to 1.
pub fn spearman(cases: &[(f64, f64)]) -> Option<f64> {
    if !all_finite(cases) {
        return None;
    }
    let (x, y): (Vec<f64>, Vec<f64>) = cases.iter().copied().unzip();
    let ranked: Vec<(f64, f64)> = ranks(&x).into_iter().zip(ranks(&y)).collect();
    pearson(&ranked)
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
    let whole = (number::of(pairs_x) * number::of(pairs_y)).sqrt();
    let size = number::of(usize::try_from(agree.unsigned_abs()).ok()?);
    let tau = number::share(if agree < 0 { -size } else { size }, whole)?;
    Some(tau.clamp(-1.0, 1.0))
}

/// The mean distance of the two numbers of a case, at least 0. `None` without cases, or where one is
/// not finite.
pub fn mean_absolute_error(cases: &[(f64, f64)]) -> Option<f64> {
    let errors: Vec<f64> = cases.iter().map(|(judge, truth)| (judge - truth).abs()).collect();
    number::mean(&errors).filter(|_| all_finite(cases))
}

/// The rank of each value from 1, equal values sharing the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    // Zero and negative zero are equal.
    for equal in order.chunk_by(|a, b| a.1.partial_cmp(&b.1) == Some(Ordering::Equal)) {
        let rank = number::of(before) + number::of(equal.len() + 1) / 2.0;
        before += equal.len();
        for (place, _) in equal {
            if let Some(own) = ranks.get_mut(*place) {
                *own = rank;
            }
        }
    }
    ranks
}

fn sign(a: f64, b: f64) -> i64 {
    i64::from(a > b) - i64::from(a < b)
}

fn all_finite(cases: &[(f64, f64)]) -> bool {
    cases.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}
