//! Clip-Cov: the clipped objective, where some of the tokens that lower the entropy most have no
//! gradient.
//!
//! Tokens whose covariance of advantage and log-probability is between two bounds, and that are not
//! clipped, are candidates; of these, a share of all tokens is drawn by chance and has no term (The
//! Entropy Mechanism of Reinforcement Learning for Reasoning Language Models, section 4.2; verl 0.9,
//! `core_algos.compute_policy_loss_clip_cov`). The draw depends on the seed of the batch and on the
//! candidates, not on the order of the rows.

use std::cmp::Ordering;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;

use crate::losses::kinds::clip::ClipObjective;
use crate::losses::kinds::covariance::{TokenCovariance, covariances, share_of};
use crate::losses::prelude::*;

/// The clipped objective without some of the tokens that lower the entropy most.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ClipCovObjective {
    /// How far below 1 the ratio is clipped.
    #[default(0.2)]
    pub eps_low: f64,
    /// How far above 1 the ratio is clipped.
    #[default(0.2)]
    pub eps_high: f64,
    /// The share of all tokens that have no term.
    #[default(2e-4)]
    pub share: f64,
    /// The covariance that a candidate is above.
    #[default(1.0)]
    pub cov_low: f64,
    /// The covariance that a candidate is below.
    #[default(5.0)]
    pub cov_high: f64,
    /// The ratio.
    pub ratio: RatioSettings,
}

impl ClipCovObjective {
    fn clip(&self) -> ClipObjective {
        ClipObjective {
            eps_low: self.eps_low,
            eps_high: self.eps_high,
            ratio: self.ratio,
            ..ClipObjective::default()
        }
    }

    /// The tokens that have no term.
    fn drawn(&self, tokens: &TrainedTokens<'_>) -> Result<Vec<usize>, TrainerError> {
        let ratios = self.ratio.detached(tokens)?;
        let is_clipped = |token: LossToken| {
            let ratio = ratios.log(token).exp();
            (token.advantage < 0.0 && ratio < 1.0 - self.eps_low)
                || (token.advantage > 0.0 && ratio > 1.0 + self.eps_high)
        };
        let is_candidate = |found: &TokenCovariance| {
            let is_between = found.covariance > self.cov_low && found.covariance < self.cov_high;
            is_between && !is_clipped(found.token)
        };
        // The small number is that of verl's masked mean.
        let mut candidates = covariances(tokens, 1e-8);
        candidates.retain(is_candidate);
        candidates.sort_by(by_numbers);
        let mut rng = StdRng::seed_from_u64(tokens.batch.seed);
        let (drawn, _) = candidates.partial_shuffle(&mut rng, share_of(tokens, self.share));
        Ok(drawn.iter().map(|found| found.token.at).collect())
    }
}

impl Objective for ClipCovObjective {
    fn check(&self) -> Result<(), TrainerError> {
        above("share", self.share, 0.0)?;
        within("cov_high - cov_low", self.cov_high - self.cov_low, 0.0..)?;
        self.clip().check()
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let mut terms = self.clip().terms(tokens)?;
        let drawn = self.drawn(tokens)?;
        for token in &drawn {
            terms.silence(*token);
        }
        let is_drawn = |token: LossToken| drawn.contains(&token.at);
        let share = tokens.mean(|token| f64::from(is_drawn(token)));
        terms.metrics.push(("covariance_fraction", share));
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}

/// An order that does not depend on where the tokens stand.
fn by_numbers(a: &TokenCovariance, b: &TokenCovariance) -> Ordering {
    let numbers =
        |found: &TokenCovariance| [found.covariance, found.token.fixed, found.token.advantage];
    let both = numbers(a).into_iter().zip(numbers(b));
    both.fold(Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
}
