//! What is asked of a model, and what it says.

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::score::log_sum_exp;

/// How a text is continued.
#[derive(Clone)]
pub struct Writing {
    /// How many continuations.
    pub votes: usize,
    /// The most tokens of each.
    pub tokens_max: usize,
    /// 0 takes the likeliest token.
    pub temperature: f64,
    /// The share of the probability that is sampled from.
    pub top_p: f64,
    /// Where the random numbers start.
    pub seed: u64,
    /// Tokens that end a continuation.
    pub ends: Vec<u32>,
    /// Whether a continuation has come to a text that ends it. The same rule for every text of a
    /// queue, which takes texts for equal without asking it.
    pub stops: Stops,
}

/// Whether what was written so far has come to its end.
pub type Stops = Arc<dyn Fn(&[u32]) -> bool + Send + Sync>;

impl Writing {
    /// The random numbers of one continuation.
    pub(crate) fn random(&self, vote: usize) -> StdRng {
        let vote = u64::try_from(vote).unwrap_or(u64::MAX);
        StdRng::seed_from_u64(self.seed.wrapping_add(vote.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// The next token.
    pub(crate) fn next(&self, logits: &[f32], random: &mut StdRng) -> u32 {
        let likeliest = || {
            let best =
                logits.iter().enumerate().max_by(|(a, x), (b, y)| x.total_cmp(y).then(b.cmp(a)));
            best.map_or(0, |(token, _)| token)
        };
        let token = if self.temperature > 0.0 {
            self.sampled(logits, random).unwrap_or_else(likeliest)
        } else {
            likeliest()
        };
        u32::try_from(token).unwrap_or(u32::MAX)
    }

    fn sampled(&self, logits: &[f32], random: &mut StdRng) -> Option<usize> {
        let scaled: Vec<f64> =
            logits.iter().map(|logit| f64::from(*logit) / self.temperature).collect();
        let whole = log_sum_exp(&scaled);
        let mut shares: Vec<(usize, f64)> =
            scaled.iter().map(|logit| (logit - whole).exp()).enumerate().collect();
        shares.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        let mut sum = 0.0;
        let kept = shares.iter().take_while(|(_, share)| {
            let before = sum;
            sum += share;
            before < self.top_p
        });
        let kept: Vec<&(usize, f64)> = kept.collect();
        let mut left = random.random::<f64>() * kept.iter().map(|(_, share)| share).sum::<f64>();
        for (token, share) in &kept {
            left -= share;
            if left <= 0.0 {
                return Some(*token);
            }
        }
        kept.last().map(|(token, _)| *token)
    }
}

/// How likely a token was, as the logits of the place before it say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likelihood {
    /// The natural logarithm of its probability.
    pub log_prob: f64,
    /// The log-sum-exp of the logits: the value of the place in the sense of soft Q-learning.
    pub log_sum_exp: f64,
}

impl Likelihood {
    /// Of the token `target`; of none, where nothing follows.
    pub(crate) fn of(logits: &[f32], target: Option<u32>) -> Self {
        let wide: Vec<f64> = logits.iter().map(|logit| f64::from(*logit)).collect();
        let whole = log_sum_exp(&wide);
        let own = target.and_then(|target| wide.get(usize::try_from(target).ok()?));
        Self { log_prob: own.map_or(0.0, |own| own - whole), log_sum_exp: whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writing(temperature: f64, top_p: f64) -> Writing {
        Writing {
            votes: 1,
            tokens_max: 1,
            temperature,
            top_p,
            seed: 7,
            ends: Vec::new(),
            stops: Arc::new(|_| false),
        }
    }

    #[test]
    fn greedy_takes_the_first_of_the_likeliest() {
        let writing = writing(0.0, 1.0);
        assert_eq!(writing.next(&[0.0, 2.0, 2.0, 1.0], &mut writing.random(0)), 1);
    }

    #[test]
    fn samples_follow_the_probabilities_and_stay_in_the_nucleus() {
        let logits = [0.7_f32.ln(), 0.2_f32.ln(), 0.1_f32.ln()];
        let count = |top_p: f64| {
            let (writing, mut counts) = (writing(1.0, top_p), [0_u32; 3]);
            let mut random = writing.random(0);
            for _ in 0..4_000 {
                counts[writing.next(&logits, &mut random) as usize] += 1;
            }
            counts
        };
        let all = count(1.0);
        assert!((2_650..2_950).contains(&all[0]) && (300..500).contains(&all[2]), "{all:?}");
        assert_eq!(count(0.85)[2], 0);
        assert_eq!(count(0.5)[0], 4_000);
    }

    #[test]
    fn a_likelihood_is_that_of_the_softmax() {
        let logits = [1.0_f32, 2.0, 3.0];
        let sum: f64 = [1.0_f64, 2.0, 3.0].iter().map(|x| x.exp()).sum();
        let found = Likelihood::of(&logits, Some(2));
        assert!((found.log_prob - (3.0 - sum.ln())).abs() < 1e-12);
        assert!((Likelihood::of(&logits, None).log_sum_exp - sum.ln()).abs() < 1e-12);
    }
}
