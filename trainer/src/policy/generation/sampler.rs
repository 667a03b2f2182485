//! From the logits of a row to the token that is drawn.
//!
//! As transformers' logits processors do, in their order: temperature, then top-k, then top-p. Tokens
//! that are as probable as the last of the top k stay; of tokens that are equally probable where top-p
//! ends, those of lower ids stay.

use assay_kernels::scores;
use rand::RngExt as _;
use rand::rngs::StdRng;

use super::row::{Candidates, Row, kth_greatest};
use crate::policy::{GenerationConfig, PolicyError};

/// Draws tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampler {
    greedy: bool,
    inverse_temperature: f32,
    top_k: usize,
    top_p: f64,
}

/// A token that was drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draw {
    pub(super) token: u32,
    /// Its log-probability among all tokens, at the temperature.
    pub(super) log_prob: f32,
}

impl Sampler {
    /// That of a configuration.
    ///
    /// # Errors
    /// A temperature below 0, a `top_p` that is not from above 0 to 1.
    pub(super) fn new(config: &GenerationConfig) -> Result<Self, PolicyError> {
        let GenerationConfig { temperature, top_k, top_p, .. } = *config;
        let wrong = |key: &str, value: f64, expected: &str| {
            Err(PolicyError::invalid(key, format!("is {value}, expected {expected}")))
        };
        if !(top_p > 0.0 && top_p <= 1.0) {
            return wrong("top_p", top_p, "from above 0 to 1");
        }
        let greedy = temperature == 0.0;
        #[expect(clippy::cast_possible_truncation, reason = "logits are f32")]
        let inverse_temperature = if greedy { 1.0 } else { (1.0 / temperature) as f32 };
        if !(inverse_temperature.is_finite() && inverse_temperature > 0.0) {
            return wrong("temperature", temperature, "0 or more");
        }
        Ok(Self { greedy, inverse_temperature, top_k, top_p })
    }

    /// Draws from a row of logits, which are divided by the temperature. One number is taken from
    /// `random`, none if the most probable token is wanted.
    ///
    /// # Errors
    /// A logit that is NaN or infinite; minus infinity is a token that is never drawn.
    pub(super) fn draw(
        &self,
        logits: &mut [f32],
        random: &mut StdRng,
    ) -> Result<Draw, PolicyError> {
        let log_sum = scores::score(logits, 0, self.inverse_temperature).log_sum;
        if !log_sum.is_finite() {
            return Err(PolicyError::invalid("logits", "are not finite"));
        }
        let row = Row { logits, log_sum };
        let token = if self.greedy {
            row.greatest()
        } else if self.limits_tokens(row.logits.len()) {
            self.candidates(&row).draw(random.random())
        } else {
            row.draw(random.random())
        };
        #[expect(clippy::indexing_slicing, reason = "tokens are drawn from the logits")]
        let logit = f64::from(row.logits[token as usize]);
        #[expect(clippy::cast_possible_truncation, reason = "log-probabilities of tokens are f32")]
        let log_prob = (logit - log_sum) as f32;
        Ok(Draw { token, log_prob })
    }

    /// Whether some tokens of a vocabulary are never drawn.
    fn limits_tokens(&self, vocabulary: usize) -> bool {
        self.top_p < 1.0 || (1..vocabulary).contains(&self.top_k)
    }

    /// The tokens that are drawn from.
    fn candidates(&self, row: &Row) -> Candidates {
        if (1..row.logits.len()).contains(&self.top_k) {
            let mut candidates = row.candidates(kth_greatest(row.logits, self.top_k));
            candidates.keep_nucleus(self.top_p * candidates.total());
            return candidates;
        }
        let mut candidates = row.candidates(row.negligible(1.0 - self.top_p));
        candidates.keep_nucleus(self.top_p);
        candidates
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn sampler(temperature: f64, top_k: usize, top_p: f64) -> Sampler {
        let config = GenerationConfig { temperature, top_k, top_p, ..Default::default() };
        Sampler::new(&config).unwrap()
    }

    /// How often each token is drawn from logits.
    fn counts(sampler: Sampler, logits: &[f32], draws: u64) -> Vec<f64> {
        let mut counts = vec![0.0; logits.len()];
        for seed in 0..draws {
            let mut random = StdRng::seed_from_u64(seed);
            let draw = sampler.draw(&mut logits.to_vec(), &mut random).unwrap();
            counts[draw.token as usize] += 1.0;
        }
        counts
    }

    /// Pearson's test of counts against weights. The bounds are those that one in a million passes by
    /// chance, for up to nine degrees of freedom.
    fn assert_shares(counts: &[f64], weights: &[f64]) {
        const BOUNDS: [f64; 10] = [0.0, 23.9, 27.6, 30.7, 33.4, 35.9, 38.3, 40.5, 42.7, 44.8];
        let scale = counts.iter().sum::<f64>() / weights.iter().sum::<f64>();
        let mut statistic = 0.0;
        for (count, weight) in counts.iter().zip(weights) {
            assert!(*weight > 0.0 || *count == 0.0, "{counts:?} {weights:?}");
            if *weight > 0.0 {
                statistic += (count - weight * scale).powi(2) / (weight * scale);
            }
        }
        let cells = weights.iter().filter(|weight| **weight > 0.0).count();
        assert!(statistic <= BOUNDS[cells - 1], "{statistic}: {counts:?} {weights:?}");
    }

    #[test]
    fn draws_have_the_shares_of_the_probabilities() {
        let logits = [1.0, -0.5, 3.0, 0.0, 2.0, -2.0, 1.5, f32::NEG_INFINITY];
        for temperature in [0.5, 1.0, 2.0] {
            let weight = |logit: &f32| (f64::from(*logit) / temperature).exp();
            let weights: Vec<f64> = logits.iter().map(weight).collect();
            assert_shares(&counts(sampler(temperature, 0, 1.0), &logits, 20_000), &weights);
        }
    }

    #[test]
    fn large_vocabularies_have_their_shares() {
        // Ten bands, of which token t has the logit t % 10 / 4: all blocks, and all places in them.
        let size = 5_000_u16;
        let logits: Vec<f32> = (0..size).map(|token| f32::from(token % 10) / 4.0).collect();
        let counts = counts(sampler(1.0, 0, 1.0), &logits, 5_000);
        let bands = |size: usize, band: fn(usize) -> usize| {
            let mut sums = vec![0.0; size];
            counts.iter().enumerate().for_each(|(token, count)| sums[band(token)] += count);
            sums
        };
        let weights: Vec<f64> = (0..10).map(|band| (f64::from(band) / 4.0).exp()).collect();
        assert_shares(&bands(10, |token| token % 10), &weights);
        assert_shares(&bands(10, |token| token / 500), &[1.0; 10]);
    }

    #[test]
    fn limits_leave_the_shares_of_what_is_kept() {
        let logits = [0.1_f32, 0.4, 0.2, 0.3].map(f32::ln);
        let shares = |sampler| counts(sampler, &logits, 8_000);
        assert_shares(&shares(sampler(1.0, 2, 1.0)), &[0.0, 0.4, 0.0, 0.3]);
        assert_shares(&shares(sampler(1.0, 0, 0.65)), &[0.0, 0.4, 0.0, 0.3]);
        assert_shares(&shares(sampler(1.0, 0, 0.75)), &[0.0, 0.4, 0.2, 0.3]);
        // Of the three that top-k leaves, two have 7/9 of the sum.
        assert_shares(&shares(sampler(1.0, 3, 0.75)), &[0.0, 0.4, 0.0, 0.3]);
        assert_shares(&shares(sampler(1.0, 3, 0.79)), &[0.0, 0.4, 0.2, 0.3]);
        // The temperature comes first: at 1/2 the probabilities are 1, 16, 4, 9 of 30.
        assert_shares(&shares(sampler(0.5, 0, 0.82)), &[0.0, 16.0, 0.0, 9.0]);
        assert_shares(&shares(sampler(0.5, 0, 0.85)), &[0.0, 16.0, 4.0, 9.0]);
        for all in [sampler(1.0, 4, 1.0), sampler(1.0, 9, 1.0), sampler(1.0, 0, 1.0)] {
            assert_shares(&shares(all), &[0.1, 0.4, 0.2, 0.3]);
        }
        for one in [sampler(1.0, 1, 1.0), sampler(1.0, 0, 1e-9), sampler(1.0, 3, 1e-9)] {
            assert_shares(&shares(one), &[0.0, 1.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn equals_of_the_last_of_the_top_k_stay() {
        let counts = counts(sampler(1.0, 2, 1.0), &[1.0, 3.0, 2.0, 2.0, 0.0], 4_000);
        let (two, three) = (2.0_f64.exp(), 3.0_f64.exp());
        assert_shares(&counts, &[0.0, three, two, two, 0.0]);
    }

    #[test]
    fn greedy_takes_the_lowest_of_equals() {
        let mut random = StdRng::seed_from_u64(0);
        let mut logits = [1.0, 2.0, 0.0, 2.0];
        let draw = sampler(0.0, 0, 1.0).draw(&mut logits, &mut random).unwrap();
        let sum = 2.0 * 2.0_f64.exp() + 1.0_f64.exp() + 1.0;
        assert_eq!(draw.token, 1);
        assert!((f64::from(draw.log_prob) - (2.0 - sum.ln())).abs() < 1e-6);
    }

    #[test]
    fn log_probabilities_are_those_before_the_limits() {
        let mut random = StdRng::seed_from_u64(0);
        let mut logits = [0.1_f32, 0.4, 0.2, 0.3].map(f32::ln);
        let draw = sampler(1.0, 1, 0.5).draw(&mut logits, &mut random).unwrap();
        assert_eq!(draw.token, 1);
        assert!((draw.log_prob - 0.4_f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn logits_that_are_not_finite_are_refused() {
        let mut random = StdRng::seed_from_u64(0);
        let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        for bad in bad.map(|bad| if bad == f32::NEG_INFINITY { [bad; 3] } else { [0.0, bad, 1.0] })
        {
            for sampler in [sampler(1.0, 0, 1.0), sampler(0.0, 0, 1.0), sampler(1.0, 2, 0.5)] {
                let error = sampler.draw(&mut bad.to_vec(), &mut random).unwrap_err();
                assert_eq!(error.to_string(), "logits: are not finite", "{bad:?}");
            }
        }
    }
}
