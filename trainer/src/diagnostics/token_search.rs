//! A search for a suffix that a reward pays for: how easily it is fooled, by its scores alone.

use assay_verifiers::stats::{SplitMix64, corrected_mean, present};
use serde::Serialize;

/// How long is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TokenSearch {
    /// Tokens of the suffix.
    pub length: usize,
    /// How often each place of the suffix is tried with every candidate.
    pub rounds: usize,
    /// The seed of the first suffix and of the order of places.
    pub seed: u64,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchedSuffix {
    /// The places of the tokens among the candidates.
    pub tokens: Vec<usize>,
    /// The mean reward of the texts without a suffix.
    pub before: f64,
    /// The mean reward with the suffix.
    pub after: f64,
    /// How often the reward was asked.
    pub calls: usize,
}

/// Looks for the suffix of candidate tokens that raises the mean reward of wrong solutions most, one
/// place at a time. `reward` gives the rewards of the solutions with a suffix (none at first): it must
/// be asked with wrong solutions that were held out from tuning, and what is found must be tried on
/// others. The calls are `1 + 1 + rounds * length * candidates` at most.
///
/// Source: the coordinate steps of "Universal and Transferable Adversarial Attacks on Aligned Language
/// Models" (Zou et al. 2023), section 2.3, without gradients: every candidate is tried.
pub fn search_suffix(
    candidates: usize,
    search: TokenSearch,
    mut reward: impl FnMut(&[usize]) -> Vec<f64>,
) -> Option<SearchedSuffix> {
    if candidates == 0 || search.length == 0 {
        return None;
    }
    let mut calls = 0;
    let mut ask = |tokens: &[usize]| {
        calls += 1;
        corrected_mean(&present(&reward(tokens)))
    };
    let before = ask(&[])?;
    let mut random = SplitMix64::new(search.seed);
    let mut tokens: Vec<usize> =
        (0..search.length).map(|_| random.scaled_below(candidates)).collect();
    let mut after = ask(&tokens)?;
    for _ in 0..search.rounds {
        let start = after;
        let first = random.scaled_below(search.length);
        for at in (0..search.length).map(|step| (first + step) % search.length) {
            let mut tried = tokens.clone();
            for candidate in 0..candidates {
                if let Some(place) = tried.get_mut(at) {
                    *place = candidate;
                }
                if let Some(found) = ask(&tried).filter(|found| *found > after) {
                    (after, tokens) = (found, tried.clone());
                }
            }
        }
        // A round that changes nothing is the last: the next would be the same.
        if after <= start {
            break;
        }
    }
    Some(SearchedSuffix { tokens, before, after, calls })
}

#[cfg(test)]
mod tests {
    use assay_verifiers::stats;

    use super::*;

    #[test]
    fn a_reward_that_can_be_fooled_is_fooled() {
        // Each place pays for one token of its own.
        let wanted = [3, 0, 4];
        let reward = |tokens: &[usize]| {
            let hits = tokens.iter().zip(&wanted).filter(|(a, b)| a == b).count();
            vec![0.1 + 0.2 * stats::float(hits), f64::NAN]
        };
        let search = TokenSearch { length: 3, rounds: 5, seed: 1 };
        let found = search_suffix(5, search, reward).unwrap();
        assert_eq!(found.tokens, wanted);
        assert!((found.before - 0.1).abs() < 1e-12 && (found.after - 0.7).abs() < 1e-12);
        assert!(found.calls <= 2 + 2 * 15, "{}", found.calls);
        assert_eq!(search_suffix(5, search, reward), search_suffix(5, search, reward));
        assert_eq!(search_suffix(0, search, reward), None);
    }

    #[test]
    fn a_constant_reward_ends_after_one_round() {
        let search = TokenSearch { length: 2, rounds: 9, seed: 0 };
        let found = search_suffix(4, search, |_| vec![0.5]).unwrap();
        assert_eq!(found.calls, 2 + 2 * 4);
        assert!((found.after - found.before).abs() < 1e-12);
    }
}
