//! The covariance of advantage and log-probability, token by token, which tells where a step lowers
//! the entropy (The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models,
//! section 4).

use crate::losses::tokens::{LossToken, TrainedTokens};

/// A token and its part of the covariance.
#[derive(Clone, Copy, Debug)]
pub struct TokenCovariance {
    /// The token.
    pub token: LossToken,
    /// `(A - mean A)(logp - mean logp)`.
    pub covariance: f64,
}

/// The covariance of each token that has a term, detached. `eps` is added to the number of tokens in
/// the means.
pub fn covariances(tokens: &TrainedTokens<'_>, eps: f64) -> Vec<TokenCovariance> {
    let count = tokens.trained() + eps;
    let mean = |value: fn(LossToken) -> f64| tokens.iter().map(value).sum::<f64>() / count;
    let (advantage, logp) = (mean(|token| token.advantage), mean(|token| token.fixed));
    let of = |token: LossToken| TokenCovariance {
        token,
        covariance: (token.advantage - advantage) * (token.fixed - logp),
    };
    tokens.iter().map(of).collect()
}

/// How many tokens a share of them is: rounded down, but one at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of tokens"
)]
pub fn share_of(tokens: &TrainedTokens<'_>, share: f64) -> usize {
    ((share * tokens.trained()) as usize).max(1)
}
