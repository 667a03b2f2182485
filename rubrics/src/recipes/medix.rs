//! MediX-R1: a composite of a judge, an embedding, the modality and the format.

use assay_verifiers::stats::are_shares;

/// The parts of the reward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedixParts {
    /// Whether the judge says that the answer means the reference, or they are equal. `None`: the judge
    /// failed.
    pub judged: Option<bool>,
    /// The cosine of the embeddings of answer and reference, -1 to 1. `None`: it could not be had.
    pub cosine: Option<f64>,
    /// Whether the tag of the modality is right.
    pub modality: bool,
    /// Whether the format is right.
    pub format: bool,
}

/// The cosine from which the embeddings count as equal.
pub const MEDIX_COSINE: f64 = 0.8;

/// "MediX-R1: Open Ended Medical Reinforcement Learning" (2026), section on the composite reward:
/// `0.9 (0.575 J + 0.375 E + 0.05 M) + 0.1 F`, 0 to 1, where `E` is 1 for a cosine of at least 0.8.
///
/// An answer that is empty, has one character, or holds `__`, `:` or `?` has `J = E = 0`, as in the
/// public code. So an option letter alone earns nothing of these: read its text first.
pub fn medix_reward(answer: &str, parts: &MedixParts) -> Option<f64> {
    let (judged, embedded) = if is_refused(answer) {
        (0.0, 0.0)
    } else {
        let cosine = parts.cosine.filter(|cosine| cosine.is_finite())?;
        (f64::from(parts.judged?), f64::from(cosine >= MEDIX_COSINE))
    };
    let content = 0.575 * judged + 0.375 * embedded + 0.05 * f64::from(parts.modality);
    let reward = 0.9 * content + 0.1 * f64::from(parts.format);
    are_shares(&[reward]).then_some(reward)
}

fn is_refused(answer: &str) -> bool {
    let answer = answer.trim();
    answer.chars().nth(1).is_none() || answer.contains("__") || answer.contains([':', '?'])
}
