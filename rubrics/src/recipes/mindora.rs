//! Mindora: contradictions within the reasoning, and between reasoning and answer, cost the reward.

use assay_verifiers::stats::{are_shares, float};

/// The contradictions at which nothing of the accuracy is left.
const CONTRADICTIONS_MAX: f64 = 3.0;

/// "`MentraSuite`", the inconsistency detector of Mindora: `accuracy (1 - min(1, n / 3)) + 0.1 format`, 0
/// to 1.1. A wrong answer earns nothing, its format included. Reconstructed.
pub fn inconsistency_reward(accuracy: f64, contradictions: usize, format: bool) -> Option<f64> {
    if !are_shares(&[accuracy]) {
        return None;
    }
    if accuracy <= 0.0 {
        return Some(0.0);
    }
    let lost = (float(contradictions) / CONTRADICTIONS_MAX).min(1.0);
    Some(accuracy * (1.0 - lost) + 0.1 * f64::from(format))
}
