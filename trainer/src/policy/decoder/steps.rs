//! One token more for many rows at once, with the keys and values of those before in a cache.

use assay_kernels::rope::Rotations;
use assay_kernels::{norm, swiglu};
use rayon::prelude::*;

use super::batch::Chunk;
use super::cache::{CachedRow, KvCache};
use super::layer::{Model, Rows};
use super::linear::{Direction, Linear};
use super::model::Decoder;
use super::passes;
use super::weights::LayerWeights;
use crate::policy::PolicyError;
use crate::ragged::Ragged;

/// Rows that go through the layers together. It does not depend on the number of threads.
const ROWS: usize = 64;
/// Positions that a new row has at least for tokens after its prompt.
const ROOM: usize = 16;

/// Runs a decoder step by step.
pub(crate) struct CachedSteps<'a> {
    decoder: &'a Decoder,
    rotations: Rotations,
    positions: usize,
    layers: Vec<LayerWeights>,
    head: Linear,
}

impl Decoder {
    /// Steps over sequences of at most `positions` tokens.
    pub(crate) fn steps(&self, positions: usize) -> CachedSteps<'_> {
        let positions = positions.min(self.bounds().positions);
        let rotations = Rotations::new(&self.architecture().rope_frequencies(), positions);
        let (weights, parameters) = (&self.weights, self.weights_of());
        let packed = |layer: &LayerWeights| layer.packed(parameters, Direction::Forward);
        CachedSteps {
            decoder: self,
            rotations,
            positions,
            layers: weights.layers.iter().map(packed).collect(),
            head: weights.head.packed(parameters, Direction::Forward),
        }
    }
}

impl CachedSteps<'_> {
    /// A cache with a row for each prompt, and the logits of the token after each prompt,
    /// `[prompts, vocabulary]`.
    ///
    /// # Errors
    /// A prompt that is empty, too long, or has an id outside of the vocabulary.
    pub(crate) fn prefill(
        &self,
        prompts: &Ragged<u32>,
    ) -> Result<(KvCache, Vec<f32>), PolicyError> {
        for (at, prompt) in prompts.iter().enumerate() {
            self.decoder.bounds().check(&format!("prompt {at}"), prompt, &[])?;
            if prompt.len() > self.positions {
                let message =
                    format!("{} tokens, expected at most {}", prompt.len(), self.positions);
                return Err(PolicyError::invalid(format!("prompt {at}"), message));
            }
        }
        let chunks = Chunk::of_prompts(prompts.iter());
        let parts: Vec<(Vec<CachedRow>, Vec<f32>)> =
            chunks.par_iter().map(|chunk| self.prefill_chunk(chunk)).collect::<Result<_, _>>()?;
        let mut cache = KvCache::default();
        let mut hidden = Vec::new();
        for (rows, last) in parts {
            cache.rows.extend(rows);
            hidden.extend(last);
        }
        Ok((cache, self.logits(&hidden)?))
    }

    /// Appends a token to each row, and gives the logits of the next one, `[rows, vocabulary]`.
    ///
    /// # Errors
    /// Tokens that are not as many as rows, an id outside of the vocabulary, a row that is full.
    pub(crate) fn step(
        &self,
        cache: &mut KvCache,
        tokens: &[u32],
    ) -> Result<Vec<f32>, PolicyError> {
        if tokens.len() != cache.rows() {
            let message = format!("{} tokens for {} rows", tokens.len(), cache.rows());
            return Err(PolicyError::invalid("step", message));
        }
        self.decoder.bounds().check_ids("step", tokens)?;
        let parts: Vec<Vec<f32>> = cache
            .rows
            .par_chunks_mut(ROWS)
            .zip(tokens.par_chunks(ROWS))
            .map(|(rows, tokens)| self.step_rows(rows, tokens))
            .collect::<Result<_, _>>()?;
        Ok(parts.concat())
    }

    fn model(&self) -> Model<'_> {
        self.decoder.model(&self.rotations)
    }

    /// The rows of some prompts, and the hidden state of the last token of each.
    fn prefill_chunk(&self, chunk: &Chunk) -> Result<(Vec<CachedRow>, Vec<f32>), PolicyError> {
        let (model, layers) = (self.model(), self.layers.len());
        let mut rows = vec![CachedRow::new(layers); chunk.sequences.len()];
        for (row, sequence) in rows.iter_mut().zip(&chunk.sequences) {
            row.reserve(model.heads(), (sequence.len() + ROOM).min(self.positions));
        }
        let mut hidden = passes::embed(self.decoder, &chunk.tokens);
        for (at, layer) in self.layers.iter().enumerate() {
            let after = if at + 1 == layers { Rows::Predicting } else { Rows::All };
            let (next, kept) = model.layer_forward(layer, chunk, hidden, after)?;
            hidden = next;
            let size = model.heads().row();
            for (row, sequence) in rows.iter_mut().zip(&chunk.sequences) {
                let qkv = &kept.qkv[sequence.start * size..sequence.end * size];
                for (position, qkv) in qkv.chunks_exact(size).enumerate() {
                    row.write(at, model.heads(), position, qkv);
                }
            }
            self.decoder.buffers().give(kept.buffers());
        }
        for (row, sequence) in rows.iter_mut().zip(&chunk.sequences) {
            row.advance(sequence.len());
        }
        Ok((rows, hidden))
    }

    fn step_rows(&self, rows: &mut [CachedRow], tokens: &[u32]) -> Result<Vec<f32>, PolicyError> {
        let heads = self.model().heads();
        for row in rows.iter_mut() {
            if row.length() >= self.positions {
                let message = format!("a row has {} tokens, and room for no more", row.length());
                return Err(PolicyError::invalid("step", message));
            }
            row.reserve(heads, 1);
        }
        let mut hidden = passes::embed(self.decoder, tokens);
        for (at, layer) in self.layers.iter().enumerate() {
            self.step_layer(at, layer, rows, &mut hidden)?;
        }
        for row in rows.iter_mut() {
            row.advance(1);
        }
        let logits = self.logits(&hidden);
        self.decoder.buffers().give([hidden]);
        logits
    }

    fn step_layer(
        &self,
        at: usize,
        layer: &LayerWeights,
        rows: &mut [CachedRow],
        hidden: &mut [f32],
    ) -> Result<(), PolicyError> {
        let (model, parameters) = (self.model(), self.decoder.weights_of());
        let buffers = self.decoder.buffers();
        let mut normed = model.normed(hidden, layer.attention_norm.weights(parameters));
        let mut qkv = buffers.take(rows.len() * layer.qkv.outputs);
        layer.qkv.forward(parameters, &normed, &mut qkv, 0.0)?;
        let mut attended = buffers.take(rows.len() * layer.output.inputs);
        let pairs = qkv.chunks_exact_mut(layer.qkv.outputs);
        let pairs = pairs.zip(attended.chunks_exact_mut(layer.output.inputs));
        let mut scores = Vec::new();
        for (row, (qkv, attended)) in rows.iter_mut().zip(pairs) {
            model.place(layer, qkv, row.length());
            row.write(at, model.heads(), row.length(), qkv);
            self.attend(row, at, qkv, (attended, &mut scores));
        }
        layer.output.forward(parameters, &attended, hidden, 1.0)?;
        norm::forward(hidden, layer.mlp_norm.weights(parameters), model.epsilon(), &mut normed);
        let mut gate_up = buffers.take(rows.len() * layer.gate_up.outputs);
        layer.gate_up.forward(parameters, &normed, &mut gate_up, 0.0)?;
        let mut inner = buffers.take(rows.len() * layer.down.inputs);
        swiglu::forward(&gate_up, layer.down.inputs, &mut inner);
        layer.down.forward(parameters, &inner, hidden, 1.0)?;
        buffers.give([normed, qkv, attended, gate_up, inner]);
        Ok(())
    }

    fn attend(
        &self,
        row: &CachedRow,
        layer: usize,
        qkv: &[f32],
        (attended, scores): (&mut [f32], &mut Vec<f32>),
    ) {
        let heads = self.model().heads();
        let queries = qkv.chunks_exact(heads.width).zip(attended.chunks_exact_mut(heads.width));
        for (at, (query, out)) in queries.enumerate() {
            if let Some(head) = row.head(layer, heads, heads.key_of(at), row.length() + 1) {
                head.attend(query, scores, out);
            }
        }
    }

    fn logits(&self, hidden: &[f32]) -> Result<Vec<f32>, PolicyError> {
        let parameters = self.decoder.weights_of();
        let normed = self.model().normed(hidden, self.decoder.weights.norm.weights(parameters));
        let rows = hidden.len() / self.head.inputs.max(1);
        let mut logits = vec![0.0; rows * self.head.outputs];
        self.head.forward(parameters, &normed, &mut logits, 0.0)?;
        self.decoder.buffers().give([normed]);
        Ok(logits)
    }
}
