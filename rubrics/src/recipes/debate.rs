//! Debate: two debaters name evidence for two decisions, and a judge weighs it.
//!
//! "Reward Design for Justifiable Sequential Decision-Making" (Sukovic, Radanovic 2024), section on the
//! debate game. How invalid evidence is punished is reconstructed.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reply::pair::Winner;

/// The evidence of a debate that counts: that which is on offer and was not named before, with the turn
/// of each. A debater that repeats evidence, or names what is not there, loses that turn.
pub fn admitted(named: &[usize], on_offer: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut seen = BTreeSet::new();
    let valid =
        |(_, evidence): &(usize, &usize)| on_offer.contains(*evidence) && seen.insert(**evidence);
    named.iter().enumerate().filter(valid).map(|(turn, evidence)| (turn, *evidence)).collect()
}

/// Who wins by the values that a judge gives the two decisions. `None` where one is not finite.
pub fn debate_winner(first: f64, second: f64) -> Option<Winner> {
    if !(first.is_finite() && second.is_finite()) {
        return None;
    }
    Some(match first.partial_cmp(&second)? {
        Ordering::Greater => Winner::First,
        Ordering::Less => Winner::Second,
        Ordering::Equal => Winner::Tie,
    })
}

/// The payoffs of the two debaters: 1 and -1, or 0 for a tie. They sum to 0.
pub fn payoffs(winner: Winner) -> (f64, f64) {
    (winner.sign(), winner.swapped().sign())
}

/// The reward of the agent whose decision was debated against that of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Debate {
    /// `lambda`, the weight of the debate; 0.5.
    pub lambda: f64,
}

impl Default for Debate {
    fn default() -> Self {
        Self { lambda: 0.5 }
    }
}

impl Debate {
    /// `r + lambda U`, where `U` is 1 where the decision of the agent (shown first) wins, -1 where that
    /// of the baseline does.
    pub fn reward(&self, environment: f64, winner: Winner) -> f64 {
        environment + self.lambda * winner.sign()
    }
}
