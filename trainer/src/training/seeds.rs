//! Where each thing that is random in a training draws from: a seed of its own, so that nothing
//! depends on what was drawn before it, and a training can be taken up anywhere.

use assay_verifiers::stats::{GOLDEN_GAMMA, mix64};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Completion = 1,
    TaskOrder = 2,
    Minibatches = 3,
    Demonstrations = 4,
    Evaluation = 5,
    Loss = 6,
}

/// The seed of one thing: of the training, the purpose, and two numbers such as a step and a row.
pub(super) fn seed(training: u64, purpose: Purpose, first: u64, second: u64) -> u64 {
    [purpose as u64, first, second]
        .into_iter()
        .fold(mix64(training), |so_far, number| mix64(so_far ^ number.wrapping_add(GOLDEN_GAMMA)))
}

/// The numbers below `count` in a random order.
pub(super) fn order(count: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.shuffle(&mut StdRng::seed_from_u64(seed));
    numbers
}

/// A number of `weights`, drawn in proportion to them; `None` where none is above 0.
pub(super) fn weighted(weights: &[f64], seed: u64) -> Option<usize> {
    let total: f64 = weights.iter().filter(|weight| **weight > 0.0).sum();
    let mut left = StdRng::seed_from_u64(seed).random::<f64>() * total;
    let positive = || weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
    let drawn = positive().find(|(_, weight)| {
        left -= **weight;
        left < 0.0
    });
    drawn.or_else(|| positive().next_back()).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_thing_has_a_seed_of_its_own() {
        let purposes = [Purpose::Completion, Purpose::TaskOrder, Purpose::Evaluation];
        let seeds: BTreeSet<u64> = purposes
            .into_iter()
            .flat_map(|purpose| (0..20).map(move |first| (purpose, first)))
            .flat_map(|(purpose, first)| (0..20).map(move |second| seed(7, purpose, first, second)))
            .collect();
        assert_eq!(seeds.len(), 3 * 20 * 20);
    }

    #[test]
    fn orders_are_permutations() {
        let mut numbers = order(50, 3);
        assert_eq!(numbers, order(50, 3));
        assert_ne!(numbers, order(50, 4));
        numbers.sort_unstable();
        assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn weights_are_shares_of_the_draws() {
        let drawn = |seed| weighted(&[0.0, 1.0, 3.0, -1.0], seed);
        let counts = (0..4000).filter_map(drawn).fold([0_usize; 4], |mut counts, at| {
            counts[at] += 1;
            counts
        });
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!(counts[2].abs_diff(3000) < 150, "{counts:?}");
        assert_eq!(weighted(&[0.0], 1), None);
    }
}
