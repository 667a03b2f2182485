//! Votes as intuitionistic fuzzy sets: support, opposition, and what is left open.
//!
//! For votes that say how sure they are. No `vote_by` joins votes so: replies of judges carry no
//! confidence, and without one, each vote wholly sure, one yes of four would come to 0.968.
//!
//! The algebra is that of "Intuitionistic Fuzzy Sets" (Atanassov 1986) and "Intuitionistic Fuzzy
//! Aggregation Operators" (Xu 2007). How votes become sets, the consensus and the weights are
//! reconstructed.

use assay_verifiers::stats::{are_shares, mean, ratio};
use serde::{Deserialize, Serialize};

use crate::reply::pair::Winner;

/// The largest support, and the least opposition, that a set has in an aggregate: beyond, one vote
/// would decide alone.
const EDGE: f64 = 1e-6;

/// An intuitionistic fuzzy set of one element: `mu >= 0`, `nu >= 0`, `mu + nu <= 1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intuitionistic {
    mu: f64,
    nu: f64,
}

impl Intuitionistic {
    /// A set with support `mu` and opposition `nu`. `None` where they are out of range.
    pub fn new(mu: f64, nu: f64) -> Option<Self> {
        let valid = mu >= 0.0 && nu >= 0.0 && mu + nu <= 1.0 + 1e-12;
        valid.then_some(Self { mu, nu })
    }

    /// A share and a confidence, each 0 to 1: `(c x, c (1 - x))`.
    pub fn of_share(share: f64, confidence: f64) -> Option<Self> {
        let valid = are_shares(&[share, confidence]);
        valid.then_some(Self { mu: confidence * share, nu: confidence * (1.0 - share) })
    }

    /// A level of a Likert scale of 1 to 7 and a confidence of 0 to 1: `mu = c (x - 1) / 6`,
    /// `nu = c (7 - x) / 6`.
    pub fn of_likert(level: f64, confidence: f64) -> Option<Self> {
        Self::of_share((level - 1.0) / 6.0, confidence)
    }

    /// The support, 0 to 1.
    pub fn mu(self) -> f64 {
        self.mu
    }

    /// The opposition, 0 to 1.
    pub fn nu(self) -> f64 {
        self.nu
    }

    /// What is left open, `1 - mu - nu`, 0 to 1.
    pub fn hesitation(self) -> f64 {
        (1.0 - self.mu - self.nu).clamp(0.0, 1.0)
    }

    /// `mu - nu`, -1 to 1.
    pub fn score(self) -> f64 {
        self.mu - self.nu
    }

    /// `mu + nu`, 0 to 1.
    pub fn accuracy(self) -> f64 {
        self.mu + self.nu
    }

    /// What is preferred: a tie where the score is not beyond `threshold` (0.1 is usual).
    pub fn preference(self, threshold: f64) -> Winner {
        match self.score() {
            score if score > threshold => Winner::First,
            score if score < -threshold => Winner::Second,
            _ => Winner::Tie,
        }
    }

    /// The distance of two sets, 0 to 1: half the sum of the differences of support, opposition and
    /// hesitation.
    pub fn distance(self, other: Self) -> f64 {
        let open = (self.hesitation() - other.hesitation()).abs();
        ((self.mu - other.mu).abs() + (self.nu - other.nu).abs() + open) / 2.0
    }
}

/// The weighted aggregate: `mu = 1 - prod (1 - mu_i)^w_i`, `nu = prod nu_i^w_i`, the weights taken as
/// shares of their sum. `None` without sets, or where a weight is negative or their sum is 0.
pub fn aggregate(sets: &[(Intuitionistic, f64)]) -> Option<Intuitionistic> {
    let whole: f64 = sets.iter().map(|(_, weight)| weight).sum();
    if !(whole > 0.0 && whole.is_finite() && sets.iter().all(|(_, weight)| *weight >= 0.0)) {
        return None;
    }
    let (first, _) = sets.first()?;
    if sets.iter().all(|(set, _)| set == first) {
        return Some(*first);
    }
    let (mut against, mut opposed) = (1.0, 1.0);
    for (set, weight) in sets {
        against *= (1.0 - set.mu.min(1.0 - EDGE)).powf(weight / whole);
        opposed *= set.nu.max(EDGE).powf(weight / whole);
    }
    // The edges may bring the sum above 1 by a millionth.
    let mu = 1.0 - against;
    Some(Intuitionistic { mu, nu: opposed.min(against) })
}

/// How far the sets agree: 1 less the mean distance of two of them, 0 to 1; 1 for a single set. `None`
/// without sets.
pub fn consensus(sets: &[Intuitionistic]) -> Option<f64> {
    sets.first()?;
    let pairs = sets
        .iter()
        .enumerate()
        .flat_map(|(at, one)| sets.iter().skip(at + 1).map(move |other| one.distance(*other)));
    let distances: Vec<f64> = pairs.collect();
    Some(1.0 - mean(&distances).unwrap_or(0.0))
}

/// New weights: in proportion to the agreement of each set with the aggregate, times what it does not
/// leave open, `(1 - d(i, aggregate)) (1 - pi_i)`. They sum to 1. `None` where all are 0.
pub fn reweighted(sets: &[(Intuitionistic, f64)]) -> Option<Vec<f64>> {
    let whole = aggregate(sets)?;
    let raw: Vec<f64> = sets
        .iter()
        .map(|(set, _)| (1.0 - set.distance(whole)).max(0.0) * (1.0 - set.hesitation()))
        .collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|weight| ratio(*weight, sum)).collect()
}
