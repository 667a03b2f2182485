//! Means over the comparisons of a sample.

use assay_verifiers::stats::mean;

use crate::compare::result::{PairResult, points};

/// The mean strength for each sample over its comparisons, failed ones skipped: the advantage of
/// "Think-RM", section on pairwise RLHF. From -3 to 3; `None` for a sample without a result.
pub fn mean_strength(samples: usize, results: &[PairResult]) -> Vec<Option<f64>> {
    means(samples, results, |strength| strength)
}

/// The share of its comparisons that each sample wins, a tie counted half. `None` for a sample
/// without a result.
pub fn win_rate(samples: usize, results: &[PairResult]) -> Vec<Option<f64>> {
    means(samples, results, points)
}

fn means(samples: usize, results: &[PairResult], value: impl Fn(f64) -> f64) -> Vec<Option<f64>> {
    let mut seen: Vec<Vec<f64>> = vec![Vec::new(); samples];
    for result in results.iter().filter(|one| one.first < samples && one.second < samples) {
        for place in [result.first, result.second] {
            if let (Some((_, strength)), Some(own)) = (result.seen_by(place), seen.get_mut(place)) {
                own.push(value(strength));
            }
        }
    }
    seen.iter().map(mean).collect()
}
