//! What a judge says of a pair.

use serde::{Deserialize, Serialize};

/// Which of two outputs is preferred, in the order in which they were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// The output that was shown first.
    First,
    /// The output that was shown second.
    Second,
    /// Neither: they are equally good, or equally bad.
    Tie,
}

impl Winner {
    /// The same verdict where the outputs are counted the other way round.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Tie => Self::Tie,
        }
    }

    /// 1 for the first, -1 for the second, 0 for a tie.
    pub fn sign(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Second => -1.0,
            Self::Tie => 0.0,
        }
    }
}

/// The verdict of a reply about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairReply {
    /// Which output is preferred.
    pub winner: Winner,
    /// By how much: -3 (the second is far better) to 3 (the first is far better), 0 for a tie. `None`
    /// where the form of the verdict has no grades.
    pub strength: Option<f64>,
}

impl PairReply {
    /// The verdict of a strength: above 0 the first is preferred.
    pub(crate) fn of_strength(strength: f64) -> Self {
        let winner = match strength {
            above if above > 0.0 => Winner::First,
            below if below < 0.0 => Winner::Second,
            _ => Winner::Tie,
        };
        Self { winner, strength: Some(strength) }
    }

    pub(super) fn of(winner: Winner) -> Self {
        Self { winner, strength: None }
    }

    /// `by` is at least 0.
    pub(super) fn graded(winner: Winner, by: f64) -> Self {
        Self { winner, strength: Some(winner.sign() * by) }
    }
}
