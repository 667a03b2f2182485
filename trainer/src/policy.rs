//! Policies: models that generate completions and are trained.
//!
//! A [`PolicyModel`] is all that the GRPO loop knows of a model. Log-probabilities and their gradients
//! are those of the tokens of completions, at the temperature of the sampling: the logits are divided
//! by it before the softmax, as trainers do.

pub mod architecture;
pub mod decoder;
mod files;
pub mod folder;
pub mod generation;
mod lora;
pub mod parameters;
pub mod sequences;
pub mod tokenizer;

pub use architecture::Architecture;
use assay_kernels::matmul::ShapeMismatch;
pub use decoder::Decoder;
pub use folder::PolicyFolder;
pub use parameters::{Gradients, Parameters, TensorId};
pub use sequences::{FinishReason, Generated, Sequences, TokenGradients, TokenScores};
pub use tokenizer::PolicyTokenizer;

pub use crate::config::GenerationConfig;
use crate::ragged::Ragged;

/// Why a policy could not be read, written or run.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file, a folder or a setting that is not what it has to be.
    #[error("{what}: {message}")]
    Invalid {
        /// Which file, key or tensor.
        what: String,
        /// Lower case, no final dot: what it has, and what was expected.
        message: String,
    },
}

impl From<ShapeMismatch> for PolicyError {
    fn from(ShapeMismatch { what, message }: ShapeMismatch) -> Self {
        Self::invalid(what, message)
    }
}

impl PolicyError {
    /// What is not as it has to be, and how.
    pub fn invalid(what: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), message: message.into() }
    }

    /// A file that cannot be read or written.
    pub fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Io { path: path.display().to_string(), source }
    }
}

/// How text becomes tokens, and tokens text.
pub trait TextTokenizer: Send + Sync {
    /// The tokens of a text. None are added; special tokens that stand in the text are tokens.
    ///
    /// # Errors
    /// A character that no token has.
    fn encode(&self, text: &str) -> Result<Vec<u32>, PolicyError>;

    /// The text of tokens, without special tokens.
    fn decode(&self, tokens: &[u32]) -> String;

    /// The byte of [`Self::decode`] at which each token ends.
    fn ends(&self, tokens: &[u32]) -> Vec<usize>;

    /// The tokens that end a completion; the first ends demonstrations.
    fn stop_tokens(&self) -> &[u32];
}

/// Whether a completion ends after these tokens, by its place.
pub type EndsAt<'a> = dyn Fn(usize, &[u32]) -> bool + Sync + 'a;

/// A model that generates completions and is trained.
///
/// What it computes depends on its parameters and its arguments alone, never on the number of threads.
pub trait PolicyModel: Send + Sync {
    /// What a forward pass keeps for the backward pass.
    type Activations: Send;

    /// How many tokens there are; ids are below it.
    fn vocabulary_size(&self) -> usize;

    /// The most tokens that a sequence may have.
    fn positions_max(&self) -> usize;

    /// The weights.
    fn parameters(&self) -> &Parameters;

    /// The weights, for an optimiser.
    fn parameters_mut(&mut self) -> &mut Parameters;

    /// Samples one completion for each seed. Completion `i` continues prompt
    /// `i / (seeds.len() / prompts.rows())`, and depends on its prompt, its seed and the parameters
    /// alone, not on the others of the call.
    ///
    /// # Errors
    /// A prompt that is empty, too long, or has an id outside of the vocabulary; seeds that the prompts
    /// do not divide.
    fn generate(
        &self,
        prompts: &Ragged<u32>,
        config: &GenerationConfig,
        seeds: &[u64],
    ) -> Result<Vec<Generated>, PolicyError>;

    /// The same, where a completion also ends after the token at which `ends` says so of its place and
    /// its tokens; its reason is then [`FinishReason::Length`].
    ///
    /// # Errors
    /// As for [`Self::generate`].
    fn generate_until(
        &self,
        prompts: &Ragged<u32>,
        config: &GenerationConfig,
        seeds: &[u64],
        ends: &EndsAt<'_>,
    ) -> Result<Vec<Generated>, PolicyError> {
        let mut generated = self.generate(prompts, config, seeds)?;
        for (at, one) in generated.iter_mut().enumerate() {
            let is_end =
                |length: &usize| one.tokens.get(..*length).is_some_and(|own| ends(at, own));
            if let Some(length) = (1..one.tokens.len()).find(is_end) {
                one.tokens.truncate(length);
                one.log_probs.truncate(length);
                one.finish = FinishReason::Length;
            }
        }
        Ok(generated)
    }

    /// The log-probability of each token of the completions, and the entropy at it, without anything
    /// kept for a backward pass.
    ///
    /// # Errors
    /// A sequence that is too long or has an id outside of the vocabulary, an empty prompt.
    fn score(&self, sequences: &Sequences, temperature: f64) -> Result<TokenScores, PolicyError>;

    /// The same, with what the backward pass needs.
    ///
    /// # Errors
    /// As for [`Self::score`].
    fn forward(
        &self,
        sequences: &Sequences,
        temperature: f64,
    ) -> Result<(TokenScores, Self::Activations), PolicyError>;

    /// Adds to `into` the gradient of `sum(log_probs * log_probability) + sum(entropies * entropy)`.
    ///
    /// # Errors
    /// Gradients that are not along the completions of the forward pass.
    fn backward(
        &self,
        activations: Self::Activations,
        gradients: &TokenGradients,
        into: &mut Gradients,
    ) -> Result<(), PolicyError>;
}
