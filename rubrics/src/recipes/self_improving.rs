//! Self-improving pretraining: continuations are compared with the original one.

use crate::compare::{PairResult, scores::win_rate};

/// "Self-Improving Pretraining" (2026): the share of its comparisons with the pivot (the original
/// continuation) that each candidate wins, a tie counted half; 0 where it is not safe. Reconstructed.
///
/// `results` of pairs without the pivot are left out. `None` for the pivot itself, and for a safe
/// candidate that was not compared with it. `safe` has a value for each candidate.
pub fn pivot_win_rate(pivot: usize, safe: &[bool], results: &[PairResult]) -> Vec<Option<f64>> {
    let with_pivot: Vec<PairResult> =
        results.iter().filter(|one| one.first == pivot || one.second == pivot).copied().collect();
    let rates = win_rate(safe.len(), &with_pivot);
    let gated = |(at, (rate, safe)): (usize, (Option<f64>, &bool))| match (at == pivot, safe) {
        (true, _) => None,
        (false, false) => Some(0.0),
        (false, true) => rate,
    };
    rates.into_iter().zip(safe).enumerate().map(gated).collect()
}
