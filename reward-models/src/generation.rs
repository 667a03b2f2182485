//! Text generation: sampling (temperature, nucleus or top-p), and when a continuation ends.

use std::sync::Arc;

use assay_verifiers::stats::{GOLDEN_GAMMA, log_sum_exp};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// How a text is continued.
#[derive(Clone)]
pub struct SamplingParams {
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
    pub stops: StopCondition,
}

/// Whether what was written so far has come to its end.
pub type StopCondition = Arc<dyn Fn(&[u32]) -> bool + Send + Sync>;

impl SamplingParams {
    /// The random numbers of one continuation.
    pub(crate) fn random(&self, vote: usize) -> StdRng {
        let vote = u64::try_from(vote).unwrap_or(u64::MAX);
        StdRng::seed_from_u64(self.seed.wrapping_add(vote.wrapping_mul(GOLDEN_GAMMA)))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(temperature: f64, top_p: f64) -> SamplingParams {
        SamplingParams {
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
        let sampling = sampling(0.0, 1.0);
        assert_eq!(sampling.next(&[0.0, 2.0, 2.0, 1.0], &mut sampling.random(0)), 1);
    }

    #[test]
    fn samples_follow_the_probabilities_and_stay_in_the_nucleus() {
        let logits = [0.7_f32.ln(), 0.2_f32.ln(), 0.1_f32.ln()];
        let count = |top_p: f64| {
            let (sampling, mut counts) = (sampling(1.0, top_p), [0_u32; 3]);
            let mut random = sampling.random(0);
            for _ in 0..4_000 {
                counts[sampling.next(&logits, &mut random) as usize] += 1;
            }
            counts
        };
        let all = count(1.0);
        assert!((2_650..2_950).contains(&all[0]) && (300..500).contains(&all[2]), "{all:?}");
        assert_eq!(count(0.85)[2], 0);
        assert_eq!(count(0.5)[0], 4_000);
    }
}
