//! Saturation, interactions and the top range: the shaping of Rubicon.
//!
//! Source: "Reinforcement Learning with Rubric Anchors" names veto, saturation-aware aggregation,
//! pairwise interactions and targeted reward shaping. It prints no equations; those here are
//! reconstructed.

use crate::rubric::{Aggregation, Interaction, TopRange};

impl Interaction {
    /// What the pair earns.
    pub(super) fn of(&self, share: impl Fn(&str) -> f64) -> f64 {
        let [a, b] = &self.between;
        self.gain * share(a) * share(b)
    }
}

impl TopRange {
    /// The spread reward.
    pub(super) fn of(&self, reward: f64) -> f64 {
        let width = 1.0 - self.from;
        let above = ((reward - self.from) / width).clamp(0.0, 1.0);
        if reward <= self.from { reward } else { self.from + width * above.powf(self.power) }
    }
}

impl Aggregation {
    /// A share, saturated where that is asked for: 0 stays 0 and 1 stays 1.
    pub(super) fn saturated(&self, share: f64) -> f64 {
        match self.saturation {
            Some(k) if k != 0.0 => (1.0 - (-k * share).exp()) / (1.0 - (-k).exp()),
            _ => share,
        }
    }
}
