//! Sequences of tokens, and what a policy says of them.

use crate::prelude::*;

/// Prompts and their completions, as token ids: row `i` of one belongs to row `i` of the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequences {
    /// What was asked. No row is empty.
    pub prompts: Ragged<u32>,
    /// What was answered. A row may be empty.
    pub completions: Ragged<u32>,
}

impl Sequences {
    /// A sequence more.
    pub fn push(&mut self, prompt: &[u32], completion: &[u32]) {
        self.prompts.push(prompt.iter().copied());
        self.completions.push(completion.iter().copied());
    }

    /// How many there are.
    pub fn rows(&self) -> usize {
        self.completions.rows()
    }

    /// Tokens of all of them, prompts and completions.
    pub fn tokens(&self) -> usize {
        self.prompts.values().len() + self.completions.values().len()
    }

    /// Those of these rows.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut selected = Self::default();
        for row in rows {
            selected.push(self.prompts.row(*row), self.completions.row(*row));
        }
        selected
    }
}

/// What a policy says of each token of each completion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenScores {
    /// The log-probability of the token, in nats.
    pub log_probs: Ragged<f64>,
    /// The entropy of the distribution that the token is drawn from, in nats.
    pub entropies: Ragged<f64>,
}

/// The derivative of a loss with respect to [`TokenScores`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenGradients {
    /// With respect to each log-probability.
    pub log_probs: Ragged<f64>,
    /// With respect to each entropy, where the loss has a term for it.
    pub entropies: Option<Ragged<f64>>,
}

/// A completion that was sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Its tokens, with the stop token that ended it.
    pub tokens: Vec<u32>,
    /// The log-probability of each under the policy at the temperature (at 1 where that is 0), before
    /// `top_k` and `top_p`.
    pub log_probs: Vec<f32>,
    /// Why it ended.
    pub finish: FinishReason,
}

/// Why a completion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// By a stop token.
    Stop,
    /// At the most tokens.
    Length,
}
