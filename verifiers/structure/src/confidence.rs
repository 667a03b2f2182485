//! Confidence that an answer states, and what proper scoring rules make of it.

use crate::number;

/// A scoring rule for a stated probability and an outcome that is right (1) or wrong (0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `1 - (p - y)^2` (Brier 1950), from 0 to 1.
    Brier,
    /// `y - (p - y)^2` (RLCR, Damani et al. 2025), from -1 to 1.
    Rlcr,
    /// `ln p` or `ln (1 - p)` with p within `[floor, 1 - floor]`, from `ln floor` to `ln (1 - floor)`.
    Log,
    /// `1 - |p - y|`, which is not proper; from 0 to 1.
    Linear,
}

impl Rule {
    /// What a probability scores. `floor` is that of [`Rule::Log`].
    pub fn score(self, probability: f64, right: bool, floor: f64) -> f64 {
        let outcome = f64::from(u8::from(right));
        let off = (probability - outcome).abs();
        match self {
            Self::Brier => 1.0 - off * off,
            Self::Rlcr => outcome - off * off,
            Self::Log => (1.0 - off).clamp(floor, 1.0 - floor).ln(),
            Self::Linear => 1.0 - off,
        }
    }

    /// The least and the greatest score.
    pub fn range(self, floor: f64) -> [f64; 2] {
        match self {
            Self::Brier | Self::Linear => [0.0, 1.0],
            Self::Rlcr => [-1.0, 1.0],
            Self::Log => [floor.ln(), (1.0 - floor).ln()],
        }
    }
}

/// A probability: `0.8`, `80 %`, `8/10`, or `8` where `scale` is 10. `None` for any other text, and for a
/// number out of range.
pub fn probability(text: &str, scale: f64) -> Option<f64> {
    let text = text.trim().trim_end_matches('.');
    let value = number::whole(text)?;
    let is_share = text.contains(['%', '/']);
    let value = if text.ends_with('%') {
        value / 100.0
    } else if is_share {
        value
    } else {
        value / scale
    };
    (0.0..=1.0).contains(&value).then_some(value)
}
