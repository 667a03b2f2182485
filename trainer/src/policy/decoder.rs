//! A decoder on a processor: Llama, Qwen2 and Qwen3, forward and backward.

#![expect(clippy::indexing_slicing, reason = "rows and columns are those of the architecture")]

pub(crate) mod batch;
pub(crate) mod cache;
pub(crate) mod head;
pub(crate) mod layer;
pub(crate) mod layer_backward;
pub(crate) mod linear;
pub(crate) mod model;
pub(crate) mod passes;
pub(crate) mod steps;
pub(crate) mod weights;

#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
pub(crate) mod testing;

pub use model::Decoder;
pub use passes::DecoderActivations;

use batch::PackedBatch;
use passes::Keep;

use super::{
    EndsAt, Generated, GenerationConfig, Gradients, Parameters, PolicyError, PolicyModel,
    Sequences, TokenGradients, TokenScores, generation,
};
use crate::ragged::Ragged;

impl PolicyModel for Decoder {
    type Activations = DecoderActivations;

    fn vocabulary_size(&self) -> usize {
        self.bounds().vocabulary
    }

    fn positions_max(&self) -> usize {
        self.bounds().positions
    }

    fn parameters(&self) -> &Parameters {
        self.weights_of()
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        self.weights_of_mut()
    }

    fn generate(
        &self,
        prompts: &Ragged<u32>,
        config: &GenerationConfig,
        seeds: &[u64],
    ) -> Result<Vec<Generated>, PolicyError> {
        generation::generate(self, prompts, config, seeds)
    }

    fn generate_until(
        &self,
        prompts: &Ragged<u32>,
        config: &GenerationConfig,
        seeds: &[u64],
        ends: &EndsAt<'_>,
    ) -> Result<Vec<Generated>, PolicyError> {
        generation::generate_until(self, prompts, config, generation::Sampled { seeds, ends })
    }

    fn score(&self, sequences: &Sequences, temperature: f64) -> Result<TokenScores, PolicyError> {
        let batch = PackedBatch::new(sequences, self.bounds())?;
        Ok(passes::forward(self, batch, temperature, Keep::Nothing)?.0)
    }

    fn forward(
        &self,
        sequences: &Sequences,
        temperature: f64,
    ) -> Result<(TokenScores, Self::Activations), PolicyError> {
        let batch = PackedBatch::new(sequences, self.bounds())?;
        passes::forward(self, batch, temperature, Keep::All)
    }

    fn backward(
        &self,
        activations: Self::Activations,
        gradients: &TokenGradients,
        into: &mut Gradients,
    ) -> Result<(), PolicyError> {
        let (expected, given) = (self.weights_of().trained(), into.values().len());
        if given != expected {
            let message = format!("{given} of them, expected {expected}");
            return Err(PolicyError::invalid("gradients", message));
        }
        passes::backward(self, activations, gradients, into.values_mut())
    }
}
