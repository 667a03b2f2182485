//! Whole passes over a batch: forward through all layers and to scores, and back to gradients.

use assay_kernels::rope::Rotations;
use assay_kernels::simd;
use rayon::prelude::*;

use super::batch::PackedBatch;
use super::head::{self, HeadActivations};
use super::layer::{LayerActivations, Rows};
use super::linear::Direction;
use super::model::Decoder;
use super::weights::LayerWeights;
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
    let rotations = Rotations::new(&decoder.architecture().rope_frequencies(), batch.positions);
    let model = decoder.model(&rotations);
    let embedded = batch.chunks.par_iter().map(|chunk| embed(decoder, &chunk.tokens));
    let mut states: Vec<Vec<f32>> = embedded.collect();
    let mut layers: Vec<Vec<LayerActivations>> = states.iter().map(|_| Vec::new()).collect();
    for (layer, rows) in self::layers(decoder) {
        let layer = ready(decoder, layer, &batch, Direction::Forward);
        batch.chunks.par_iter().zip(&mut states).zip(&mut layers).try_for_each(
            |((chunk, state), kept)| {
                let input = std::mem::take(state);
                let (next, activations) = model.layer_forward(&layer, chunk, input, rows)?;
                *state = next;
                match keep {
                    Keep::All => kept.push(activations),
                    Keep::Nothing => decoder.buffers().give(activations.buffers()),
                }
                Ok::<_, PolicyError>(())
            },
        )?;
    }
    let hidden = states.concat();
    decoder.buffers().give(states);
    let head = HeadActivations::new(decoder, hidden, temperature)?;
    let scores = head::forward(decoder, &head, &batch)?;
    Ok((scores, DecoderActivations { batch, layers, head, rotations }))
}

/// The embeddings of tokens, `[tokens, hidden]`.
pub(crate) fn embed(decoder: &Decoder, tokens: &[u32]) -> Vec<f32> {
    let width = decoder.architecture().hidden_size;
    let table = decoder.weights.embedding.weights(decoder.weights_of());
    let mut rows = decoder.buffers().take(tokens.len() * width);
    for (token, row) in tokens.iter().zip(rows.chunks_exact_mut(width.max(1))) {
        let start = *token as usize * width;
        row.copy_from_slice(&table[start..start + width]);
    }
    rows
}

/// A layer in the form that is fastest for all chunks of a batch.
fn ready(
    decoder: &Decoder,
    layer: &LayerWeights,
    batch: &PackedBatch,
    direction: Direction,
) -> LayerWeights {
    if batch.chunks.len() > 1 {
        layer.packed(decoder.weights_of(), direction)
    } else {
        layer.clone()
    }
}

/// The layers, and which rows go on after the attention of each.
pub(crate) fn layers(
    decoder: &Decoder,
) -> impl DoubleEndedIterator<Item = (&LayerWeights, Rows)> + ExactSizeIterator {
    let last = decoder.weights.layers.len().saturating_sub(1);
    let rows = move |at| if at == last { Rows::Predicting } else { Rows::All };
    decoder.weights.layers.iter().enumerate().map(move |(at, layer)| (layer, rows(at)))
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
    let predicting = head::backward(decoder, &head, (&batch, gradients), into)?;
    let mut rest = predicting.as_slice();
    let mut hidden: Vec<Vec<f32>> = Vec::new();
    for chunk in &batch.chunks {
        let (rows, later) = rest.split_at((chunk.predicting.len() * width).min(rest.len()));
        rest = later;
        hidden.push(decoder.buffers().copy(rows));
    }
    decoder.buffers().give([predicting]);
    let model = decoder.model(&rotations);
    let context = (decoder.weights_of(), decoder.buffers());
    for (layer, rows) in self::layers(decoder).rev() {
        let layer = &ready(decoder, layer, &batch, Direction::Backward);
        let left = batch
            .chunks
            .par_iter()
            .zip(&mut layers)
            .zip(&mut hidden)
            .map(|((chunk, kept), gradient)| {
                let kept = kept.pop().unwrap_or_default();
                let given = std::mem::take(gradient);
                let (next, left) = model.layer_backward(layer, (chunk, rows), kept, given)?;
                *gradient = next;
                Ok(left)
            })
            .collect::<Result<Vec<_>, PolicyError>>()?;
        for left in left {
            left.add_to(context, layer, into)?;
            decoder.buffers().give(left.buffers());
        }
    }
    let embedding = decoder.weights.embedding.gradient(into);
    let trained = !embedding.is_empty();
    for (chunk, gradient) in batch.chunks.iter().zip(&hidden).filter(|_| trained) {
        for (token, gradient) in chunk.tokens.iter().zip(gradient.chunks_exact(width)) {
            let start = *token as usize * width;
            simd::add(&mut embedding[start..start + width], gradient);
        }
    }
    decoder.buffers().give(hidden);
    Ok(())
}
