//! One layer over a chunk of tokens.

use assay_kernels::attention::{self, Heads, Scratch};
use assay_kernels::buffers::Buffers;
use assay_kernels::rope::{Rotations, Turn};
use assay_kernels::{norm, swiglu};

use super::batch::Chunk;
use super::weights::LayerWeights;
use crate::policy::architecture::Architecture;
use crate::policy::{Parameters, PolicyError};

/// What all layers need to know.
#[derive(Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) architecture: &'a Architecture,
    pub(crate) parameters: &'a Parameters,
    pub(crate) buffers: &'a Buffers,
    pub(crate) rotations: &'a Rotations,
}

/// Which rows of a chunk go on after the attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rows {
    /// All of them.
    All,
    /// Those that predict a token: nothing comes of the others after the last attention.
    Predicting,
}

/// What a layer keeps of a chunk for its backward pass, all of them row by row.
#[derive(Debug, Default)]
pub(crate) struct LayerActivations {
    /// What it was given, `[tokens, hidden]`.
    pub(super) input: Vec<f32>,
    /// Queries, keys and values as the attention takes them, `[tokens, qkv]`.
    pub(super) qkv: Vec<f32>,
    /// The same before the norms of the heads; empty where there are none.
    pub(super) plain_qkv: Vec<f32>,
    /// What the attention gave, `[rows, queries]`.
    pub(super) attended: Vec<f32>,
    /// The residual stream between attention and feed-forward, `[rows, hidden]`.
    pub(super) middle: Vec<f32>,
    /// What `SwiGLU` was given, `[rows, 2 * inner]`.
    pub(super) gate_up: Vec<f32>,
}

impl LayerActivations {
    /// Its memory, to be used again.
    pub(crate) fn buffers(self) -> [Vec<f32>; 6] {
        [self.input, self.qkv, self.plain_qkv, self.attended, self.middle, self.gate_up]
    }
}

impl Model<'_> {
    pub(crate) fn epsilon(&self) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
        let epsilon = self.architecture.rms_norm_eps as f32;
        epsilon
    }

    pub(crate) fn heads(&self) -> Heads {
        Heads {
            queries: self.architecture.num_attention_heads,
            keys: self.architecture.num_key_value_heads,
            width: self.architecture.head_dim,
        }
    }

    /// The result of a layer over a chunk, `[rows, hidden]`, and what its backward pass needs.
    pub(crate) fn layer_forward(
        &self,
        layer: &LayerWeights,
        chunk: &Chunk,
        input: Vec<f32>,
        rows: Rows,
    ) -> Result<(Vec<f32>, LayerActivations), PolicyError> {
        let mut kept = LayerActivations { input, ..LayerActivations::default() };
        self.attention_forward(layer, chunk, &mut kept)?;
        match rows {
            Rows::All => kept.middle = self.buffers.copy(&kept.input),
            Rows::Predicting => {
                kept.middle = self.gather(&kept.input, layer.qkv.inputs, &chunk.predicting);
                let attended = self.gather(&kept.attended, layer.output.inputs, &chunk.predicting);
                self.buffers.give([std::mem::replace(&mut kept.attended, attended)]);
            }
        }
        layer.output.forward(self.parameters, &kept.attended, &mut kept.middle, 1.0)?;
        let rows = kept.middle.len() / layer.down.outputs.max(1);
        let normed = self.normed(&kept.middle, layer.mlp_norm.weights(self.parameters));
        kept.gate_up = self.buffers.take(rows * layer.gate_up.outputs);
        layer.gate_up.forward(self.parameters, &normed, &mut kept.gate_up, 0.0)?;
        let mut inner = self.buffers.take(rows * layer.down.inputs);
        swiglu::forward(&kept.gate_up, layer.down.inputs, &mut inner);
        let mut output = self.buffers.copy(&kept.middle);
        layer.down.forward(self.parameters, &inner, &mut output, 1.0)?;
        self.buffers.give([normed, inner]);
        Ok((output, kept))
    }

    fn attention_forward(
        &self,
        layer: &LayerWeights,
        chunk: &Chunk,
        kept: &mut LayerActivations,
    ) -> Result<(), PolicyError> {
        let tokens = chunk.tokens.len();
        let normed = self.normed(&kept.input, layer.attention_norm.weights(self.parameters));
        kept.qkv = self.buffers.take(tokens * layer.qkv.outputs);
        layer.qkv.forward(self.parameters, &normed, &mut kept.qkv, 0.0)?;
        self.buffers.give([normed]);
        if layer.head_norms.is_some() {
            kept.plain_qkv = self.buffers.copy(&kept.qkv);
        }
        for sequence in &chunk.sequences {
            let rows = sequence.start * layer.qkv.outputs..sequence.end * layer.qkv.outputs;
            let rows = &mut kept.qkv[rows];
            for (position, row) in rows.chunks_exact_mut(layer.qkv.outputs).enumerate() {
                self.place(layer, row, position);
            }
        }
        kept.attended = self.buffers.take(tokens * layer.output.inputs);
        let (heads, mut scratch) = (self.heads(), Scratch::default());
        for sequence in &chunk.sequences {
            let from = kept.qkv.get(sequence.start * heads.row()..sequence.end * heads.row());
            let into = sequence.start * heads.out_row()..sequence.end * heads.out_row();
            if let (Some(from), Some(into)) = (from, kept.attended.get_mut(into)) {
                attention::forward(heads, from, into, &mut scratch);
            }
        }
        Ok(())
    }

    /// The norms of the heads of a row, and its position.
    pub(crate) fn place(&self, layer: &LayerWeights, row: &mut [f32], position: usize) {
        let (queries, keys) = (self.architecture.query_size(), self.architecture.key_size());
        let (queries, rest) = row.split_at_mut(queries.min(row.len()));
        let keys = &mut rest[..keys];
        if let Some([query_norm, key_norm]) = &layer.head_norms {
            norm::forward_in_place(queries, query_norm.weights(self.parameters), self.epsilon());
            norm::forward_in_place(keys, key_norm.weights(self.parameters), self.epsilon());
        }
        self.rotations.turn(queries, position, Turn::Forward);
        self.rotations.turn(keys, position, Turn::Forward);
    }

    pub(super) fn normed(&self, x: &[f32], weight: &[f32]) -> Vec<f32> {
        let mut out = self.buffers.take(x.len());
        norm::forward(x, weight, self.epsilon(), &mut out);
        out
    }

    /// Some rows of a matrix.
    fn gather(&self, from: &[f32], width: usize, rows: &[usize]) -> Vec<f32> {
        let mut out = self.buffers.take(rows.len() * width);
        for (row, into) in rows.iter().zip(out.chunks_exact_mut(width.max(1))) {
            into.copy_from_slice(&from[row * width..(row + 1) * width]);
        }
        out
    }
}
