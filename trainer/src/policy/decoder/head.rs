//! From the hidden states that predict a token to scores, and back. Logits are made for some rows at a
//! time, and again in the backward pass: a large vocabulary never needs those of all rows at once.

use assay_kernels::norm::{self, NormBackward};
use assay_kernels::scores::{self, RowGradient, RowScore};
use assay_kernels::simd;
use rayon::prelude::*;

use super::batch::PackedBatch;
use super::model::Decoder;
use crate::policy::{PolicyError, TokenGradients, TokenScores};
use crate::ragged::Ragged;

/// Logits that are in memory at a time, unless [`ROWS`] have more.
const LOGITS: usize = 1 << 24;
/// Rows of one task of a thread, and the fewest of a block of logits.
const ROWS: usize = 64;

/// What the head keeps for the backward pass.
#[derive(Debug)]
pub(crate) struct HeadActivations {
    /// `[predicting, hidden]`.
    hidden: Vec<f32>,
    /// The same after the last norm.
    normed: Vec<f32>,
    inverse_temperature: f32,
}

impl HeadActivations {
    /// Takes the hidden states of the rows that predict.
    ///
    /// # Errors
    /// A temperature that is not above 0.
    pub(crate) fn new(
        decoder: &Decoder,
        hidden: Vec<f32>,
        temperature: f64,
    ) -> Result<Self, PolicyError> {
        if !(temperature.is_finite() && temperature > 0.0) {
            let message = format!("{temperature}, expected above 0");
            return Err(PolicyError::invalid("temperature", message));
        }
        let weight = decoder.weights.norm.weights(decoder.weights_of());
        let mut normed = vec![0.0; hidden.len()];
        norm::forward(&hidden, weight, epsilon(decoder), &mut normed);
        #[expect(clippy::cast_possible_truncation, reason = "logits are f32")]
        let inverse_temperature = (1.0 / temperature) as f32;
        Ok(Self { hidden, normed, inverse_temperature })
    }
}

fn epsilon(decoder: &Decoder) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    let epsilon = decoder.architecture().rms_norm_eps as f32;
    epsilon
}

fn rows_at_once(vocabulary: usize) -> usize {
    (LOGITS / vocabulary.max(1)).max(ROWS).next_multiple_of(ROWS)
}

/// The scores of all tokens of the completions.
pub(crate) fn forward(
    decoder: &Decoder,
    kept: &HeadActivations,
    batch: &PackedBatch,
) -> Result<TokenScores, PolicyError> {
    let head = &decoder.weights.head;
    let rows = rows_at_once(head.outputs);
    let mut scored = vec![RowScore::default(); batch.targets.len()];
    let blocks = kept.normed.chunks(rows * head.inputs).zip(batch.targets.chunks(rows));
    for ((normed, targets), scored) in blocks.zip(scored.chunks_mut(rows)) {
        let mut logits = vec![0.0; targets.len() * head.outputs];
        head.forward(decoder.weights_of(), normed, &mut logits, 0.0)?;
        let tasks = logits.par_chunks_mut(ROWS * head.outputs).zip(targets.par_chunks(ROWS));
        tasks.zip(scored.par_chunks_mut(ROWS)).for_each(|((logits, targets), scored)| {
            let rows = logits.chunks_exact_mut(head.outputs).zip(targets);
            for ((logits, token), score) in rows.zip(scored) {
                *score = scores::score(logits, *token, kept.inverse_temperature);
            }
        });
    }
    let ragged = |value: fn(&RowScore) -> f64| {
        let values = scored.iter().map(value).collect();
        Ragged::from_parts(values, batch.lengths.iter().copied()).unwrap_or_default()
    };
    Ok(TokenScores {
        log_probs: ragged(|score| score.log_prob),
        entropies: ragged(|score| score.entropy),
    })
}

/// The gradient of the hidden states that predict; adds those of the head and of the last norm.
pub(crate) fn backward(
    decoder: &Decoder,
    kept: &HeadActivations,
    (batch, gradients): (&PackedBatch, &TokenGradients),
    into: &mut [f32],
) -> Result<Vec<f32>, PolicyError> {
    let (head, parameters) = (&decoder.weights.head, decoder.weights_of());
    let rows = rows_at_once(head.outputs);
    let by_row = row_gradients(batch, gradients)?;
    let mut normed_gradient = vec![0.0; kept.normed.len()];
    let blocks = kept.normed.chunks(rows * head.inputs).zip(batch.targets.chunks(rows));
    let blocks = blocks.zip(by_row.chunks(rows));
    let blocks = blocks.zip(normed_gradient.chunks_mut(rows * head.inputs));
    for (((normed, targets), by_row), gradient) in blocks {
        let mut logits = vec![0.0; targets.len() * head.outputs];
        head.forward(parameters, normed, &mut logits, 0.0)?;
        let tasks = logits.par_chunks_mut(ROWS * head.outputs).zip(targets.par_chunks(ROWS));
        tasks.zip(by_row.par_chunks(ROWS)).for_each(|((logits, targets), by_row)| {
            let rows = logits.chunks_exact_mut(head.outputs).zip(targets);
            for ((logits, token), gradient) in rows.zip(by_row) {
                scores::backward(logits, *token, kept.inverse_temperature, *gradient);
            }
        });
        head.backward_input(parameters, &logits, gradient, 0.0)?;
        head.backward_weights((parameters, decoder.buffers()), normed, &logits, into)?;
    }
    Ok(norm_backward(decoder, kept, &normed_gradient, into))
}

/// The way back through the last norm. The gradient of its weights is added up by tasks of some rows.
fn norm_backward(
    decoder: &Decoder,
    kept: &HeadActivations,
    gradient: &[f32],
    into: &mut [f32],
) -> Vec<f32> {
    let span = &decoder.weights.norm;
    let weight = span.weights(decoder.weights_of());
    let size = ROWS * weight.len().max(1);
    let mut hidden = vec![0.0; kept.hidden.len()];
    let tasks = kept.hidden.par_chunks(size).zip(gradient.par_chunks(size));
    let parts: Vec<Vec<f32>> = tasks
        .zip(hidden.par_chunks_mut(size))
        .map(|((x, gradient), into)| {
            let mut into_weight = vec![0.0; span.gradient.len()];
            NormBackward {
                x,
                weight,
                epsilon: epsilon(decoder),
                gradient,
                into,
                into_weight: &mut into_weight,
            }
            .run();
            into_weight
        })
        .collect();
    for part in &parts {
        simd::add(span.gradient(into), part);
    }
    hidden
}

/// The gradients of each row, which have to be along the completions.
fn row_gradients(
    batch: &PackedBatch,
    gradients: &TokenGradients,
) -> Result<Vec<RowGradient>, PolicyError> {
    let along = |rows: &Ragged<f64>| rows.lengths().eq(batch.lengths.iter().copied());
    if !along(&gradients.log_probs) || gradients.entropies.as_ref().is_some_and(|rows| !along(rows))
    {
        let message = "not along the completions of the forward pass";
        return Err(PolicyError::invalid("gradients", message));
    }
    let entropies = gradients.entropies.as_ref().map(Ragged::values).unwrap_or_default();
    let entropies = entropies.iter().copied().chain(std::iter::repeat(0.0));
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    let row = |(log_prob, entropy): (&f64, f64)| RowGradient {
        log_prob: *log_prob as f32,
        entropy: entropy as f32,
    };
    Ok(gradients.log_probs.values().iter().zip(entropies).map(row).collect())
}
