//! R1-Reward: a verdict is worth more where the analysis supports it.

use assay_verifiers::stats::are_shares;

/// "R1-Reward: Training Multimodal Reward Model Through Stable Reinforcement Learning" (2025), section on
/// the consistency reward: `result (1 + 0.5 consistent) + 0.5 format`, 0 to 2. So consistency never pays
/// a wrong verdict.
pub fn consistency_reward(result: f64, consistent: bool, format: bool) -> Option<f64> {
    let reward = result * (1.0 + 0.5 * f64::from(consistent)) + 0.5 * f64::from(format);
    are_shares(&[result]).then_some(reward)
}
