//! RM-NLHF: the critique of a judge is rewarded by its similarity to that of people.
//!
//! "Reward Modeling from Natural Language Human Feedback" (2026), section on the process reward.

use assay_verifiers::stats::{are_shares, float, ratio};

/// The F1 of matched arguments: `2 m / (judge + people)`, 0 to 1. `matched` arguments of the critique of
/// the judge, out of `judge`, are among those of people, of which there are `people`. `None` where more
/// are matched than there are, or people name none.
pub fn critique_f1(matched: usize, judge: usize, people: usize) -> Option<f64> {
    if matched > judge.min(people) || people == 0 {
        return None;
    }
    ratio(2.0 * float(matched), float(judge) + float(people))
}

/// The reward of a judge: `1[label right] + lambda f1`, 0 to `1 + lambda`. `lambda` is 1, reconstructed.
/// The similarity may be that which a meta reward model predicts.
pub fn critique_reward(right: bool, similarity: f64, lambda: f64) -> Option<f64> {
    let valid = are_shares(&[similarity]) && lambda >= 0.0 && lambda.is_finite();
    valid.then(|| f64::from(right) + lambda * similarity)
}
