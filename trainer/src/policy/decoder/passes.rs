//! Whole passes over a batch: forward through all layers and to scores, and back to gradients.

use rayon::prelude::*;

use super::batch::{Chunk, PackedBatch};
use super::head::{self, HeadActivations};
use super::layer::LayerActivations;
use super::model::Decoder;
use crate::policy::kernels::rope::Rotations;
use crate::policy::kernels::simd;
use crate::policy::{PolicyError, TokenGradients, TokenScores};

/// What the forward pass of a [`Decoder`] keeps for its backward pass.
#[derive(Debug)]
pub struct DecoderActivations {
    batch: PackedBatch,
    /// For each chunk, for each layer.
    layers: Vec<Vec<LayerActivations>>,
    head: HeadActivations,
    rotations: Rotations,
}

/// What is kept of the layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Keep {
    /// All that the backward pass needs.
    All,
    /// Nothing.
    Nothing,
}

/// The forward pass.
pub(crate) fn forward(
    decoder: &Decoder,
    batch: PackedBatch,
    temperature: f64,
    keep: Keep,
) -> Result<(TokenScores, DecoderActivations), PolicyError> {
    let rotations = Rotations::new(decoder.architecture(), batch.positions);
    let chunks: Vec<(Vec<f32>, Vec<LayerActivations>)> = batch
        .chunks
        .par_iter()
        .map(|chunk| chunk_forward(decoder, &rotations, chunk, keep))
        .collect::<Result<_, _>>()?;
    let mut hidden = Vec::new();
    let mut layers = Vec::new();
    for (predicting, kept) in chunks {
        hidden.extend(predicting);
        layers.push(kept);
    }
    let head = HeadActivations::new(decoder, hidden, temperature)?;
    let scores = head::forward(decoder, &head, &batch)?;
    Ok((scores, DecoderActivations { batch, layers, head, rotations }))
}

/// The embeddings of tokens, `[tokens, hidden]`.
pub(crate) fn embed(decoder: &Decoder, tokens: &[u32]) -> Vec<f32> {
    let width = decoder.architecture().hidden_size;
    let table = decoder.weights.embedding.weights(decoder.weights_of());
    let mut rows = Vec::with_capacity(tokens.len() * width);
    for token in tokens {
        let start = *token as usize * width;
        rows.extend_from_slice(table.get(start..start + width).unwrap_or_default());
    }
    rows
}

/// The hidden states of the rows of a chunk that predict, and what the layers keep.
fn chunk_forward(
    decoder: &Decoder,
    rotations: &Rotations,
    chunk: &Chunk,
    keep: Keep,
) -> Result<(Vec<f32>, Vec<LayerActivations>), PolicyError> {
    let model = decoder.model(rotations);
    let width = decoder.architecture().hidden_size;
    let mut kept = Vec::new();
    let mut hidden = embed(decoder, &chunk.tokens);
    for layer in &decoder.weights.layers {
        let (next, activations) = model.layer_forward(layer, chunk, hidden)?;
        hidden = next;
        if keep == Keep::All {
            kept.push(activations);
        }
    }
    let mut predicting = Vec::with_capacity(chunk.predicting.len() * width);
    for row in &chunk.predicting {
        predicting
            .extend_from_slice(hidden.get(row * width..(row + 1) * width).unwrap_or_default());
    }
    Ok((predicting, kept))
}

/// The backward pass: adds to `into`, the gradients of all parameters.
pub(crate) fn backward(
    decoder: &Decoder,
    activations: DecoderActivations,
    gradients: &TokenGradients,
    into: &mut [f32],
) -> Result<(), PolicyError> {
    let DecoderActivations { batch, mut layers, head, rotations } = activations;
    let width = decoder.architecture().hidden_size;
    let predicting = head::backward(decoder, head, (&batch, gradients), into)?;
    let mut rest = predicting.as_slice();
    let mut hidden: Vec<Vec<f32>> = Vec::new();
    for chunk in &batch.chunks {
        let (rows, later) = rest.split_at((chunk.predicting.len() * width).min(rest.len()));
        rest = later;
        let mut gradient = vec![0.0; chunk.tokens.len() * width];
        for (row, from) in chunk.predicting.iter().zip(rows.chunks_exact(width)) {
            let to = gradient.get_mut(row * width..(row + 1) * width).unwrap_or_default();
            to.copy_from_slice(from);
        }
        hidden.push(gradient);
    }
    let model = decoder.model(&rotations);
    for layer in decoder.weights.layers.iter().rev() {
        let left = batch
            .chunks
            .par_iter()
            .zip(&mut layers)
            .zip(&mut hidden)
            .map(|((chunk, kept), gradient)| {
                model.layer_backward(layer, chunk, kept.pop().unwrap_or_default(), gradient)
            })
            .collect::<Result<Vec<_>, _>>()?;
        for left in &left {
            left.add_to(decoder.weights_of(), layer, into)?;
        }
    }
    let embedding = decoder.weights.embedding.gradient(into);
    for (chunk, gradient) in batch.chunks.iter().zip(&hidden) {
        for (token, gradient) in chunk.tokens.iter().zip(gradient.chunks_exact(width)) {
            let start = *token as usize * width;
            simd::add(embedding.get_mut(start..start + width).unwrap_or_default(), gradient);
        }
    }
    Ok(())
}
