//! Which pairs of a group are judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fixed;
use super::knockout::Knockout;
use super::swiss::Swiss;
use super::tournament::Tournament;

/// Which pairs of a group are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairSchedule {
    /// Each with each: `n (n - 1) / 2` pairs.
    #[default]
    AllPairs,
    /// Each with the one at this place: `n - 1` pairs.
    Pivot(usize),
    /// The loser leaves: `n - 1` pairs. Of a tie or a failed comparison the one drawn first goes on.
    Knockout,
    /// In each of these rounds those with like points meet: `n / 2` pairs a round, rounded down.
    Swiss(usize),
    /// Each meets at least this many others: `n m / 2` pairs, rounded up.
    Sampled(usize),
}

impl PairSchedule {
    /// How many times the judge is called for a group of `samples`: twice a pair where both orders are
    /// judged.
    pub fn calls(self, samples: usize, both_orders: bool) -> usize {
        let all = samples * samples.saturating_sub(1) / 2;
        let pairs = match self {
            Self::AllPairs => all,
            Self::Pivot(place) if place >= samples => 0,
            Self::Pivot(_) | Self::Knockout => samples.saturating_sub(1),
            Self::Swiss(rounds) => rounds.saturating_mul(samples / 2),
            Self::Sampled(opponents) if opponents >= samples.saturating_sub(1) => all,
            Self::Sampled(opponents) => (samples * opponents).div_ceil(2),
        };
        if both_orders { pairs.saturating_mul(2) } else { pairs }
    }

    /// Starts the comparison of a group. The same seed draws the same pairs.
    pub fn start(self, samples: usize, seed: u64) -> Tournament {
        match self {
            Self::AllPairs => Tournament::Fixed(fixed::all_pairs(samples)),
            Self::Pivot(place) => Tournament::Fixed(fixed::pivot(samples, place)),
            Self::Sampled(opponents) => Tournament::Fixed(fixed::sampled(samples, opponents, seed)),
            Self::Knockout => Tournament::Knockout(Knockout::new(samples, seed)),
            Self::Swiss(rounds) => Tournament::Swiss(Swiss::new(samples, rounds, seed)),
        }
    }
}
