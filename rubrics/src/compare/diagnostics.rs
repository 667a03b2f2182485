//! How far a judge of pairs can be trusted.

use std::collections::BTreeMap;

use assay_verifiers::stats::{float, ratio};
use serde::Serialize;

use super::result::{OrderedResult, PairResult, verdict};

/// What the order in which two samples are shown does to the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OrderEffects {
    /// Judgements that prefer one of the two, each order counted.
    pub decided: usize,
    /// Those that prefer the one shown first.
    pub first_shown_wins: usize,
    /// `first_shown_wins / decided`: 0.5 is no position bias. `None` where nothing is decided.
    pub position_bias: Option<f64>,
    /// Pairs with a verdict in both orders.
    pub pairs: usize,
    /// Those whose verdict changes with the order; to or from a tie counts.
    pub flips: usize,
    /// `flips / pairs`. `None` without pairs.
    pub flip_rate: Option<f64>,
}

/// Position bias and flips over pairs that were judged in both orders.
pub fn order_effects(results: &[OrderedResult]) -> OrderEffects {
    let orders = || results.iter().flat_map(|one| [one.shown, one.swapped]).flatten().map(verdict);
    let both =
        || results.iter().filter_map(|one| Some((verdict(one.shown?), verdict(one.swapped?))));
    let decided = orders().filter(|verdict| *verdict != 0).count();
    let first_shown_wins = orders().filter(|verdict| *verdict > 0).count();
    let pairs = both().count();
    let flips = both().filter(|(shown, swapped)| *shown != -*swapped).count();
    OrderEffects {
        decided,
        first_shown_wins,
        position_bias: ratio(float(first_shown_wins), float(decided)),
        pairs,
        flips,
        flip_rate: ratio(float(flips), float(pairs)),
    }
}

/// Whether preferences fit an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Transitivity {
    /// Triples of samples whose three pairs are all decided.
    pub triples: usize,
    /// Those in which each beats another in a circle.
    pub cycles: usize,
    /// The share of triples without a cycle. `None` without triples.
    pub transitivity: Option<f64>,
}

/// Counts the cycles among the triples of a group. Ties and failed comparisons are not decided; where
/// a pair was judged several times, the sum of the strengths decides.
pub fn transitivity(samples: usize, results: &[PairResult]) -> Transitivity {
    let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for result in results {
        let Some(strength) = result.finite() else { continue };
        let (low, high) = (result.first.min(result.second), result.first.max(result.second));
        let signed = if low == result.first { strength } else { -strength };
        *sums.entry((low, high)).or_default() += signed;
    }
    let beats = |low: usize, high: usize| {
        sums.get(&(low, high)).map(|sum| verdict(*sum)).filter(|verdict| *verdict != 0)
    };
    let (mut triples, mut cycles) = (0, 0);
    for a in 0..samples {
        for b in a + 1..samples {
            let Some(ab) = beats(a, b) else { continue };
            for c in b + 1..samples {
                let (Some(bc), Some(ac)) = (beats(b, c), beats(a, c)) else { continue };
                triples += 1;
                cycles += usize::from(ab == bc && ac != ab);
            }
        }
    }
    let straight = float(triples - cycles);
    Transitivity { triples, cycles, transitivity: ratio(straight, float(triples)) }
}
