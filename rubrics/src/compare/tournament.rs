//! The pairs of a schedule, round by round.

use super::knockout::Knockout;
use super::result::PairResult;
use super::swiss::Swiss;

/// The comparison of one group under way.
#[derive(Clone, Debug)]
pub enum Tournament {
    /// One round of these pairs.
    Fixed(Vec<(usize, usize)>),
    /// The loser leaves.
    Knockout(Knockout),
    /// Those with like points meet.
    Swiss(Swiss),
}

impl Tournament {
    /// The pairs that are judged next; none at the end. The pairs of a round may be judged at once.
    ///
    /// `results` are those of the round before, in any order and of either orientation; a pair that is
    /// not among them has failed. The results of the last round are given too: placement and standings
    /// count what was given.
    pub fn next_round(&mut self, results: &[PairResult]) -> Vec<(usize, usize)> {
        match self {
            Self::Fixed(pairs) => std::mem::take(pairs),
            Self::Knockout(knockout) => knockout.next_round(results),
            Self::Swiss(swiss) => swiss.next_round(results),
        }
    }
}
