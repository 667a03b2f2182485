//! One layer over a chunk of tokens, forward and backward.

use super::batch::Chunk;
use super::weights::LayerWeights;
use crate::policy::architecture::Architecture;
use crate::policy::kernels::attention::{self, AttentionBackward, Heads, Scratch};
use crate::policy::kernels::norm::{self, NormBackward};
use crate::policy::kernels::rope::{Rotations, Turn};
use crate::policy::kernels::{simd, swiglu};
use crate::policy::{Parameters, PolicyError};

/// What all layers need to know.
#[derive(Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) architecture: &'a Architecture,
    pub(crate) parameters: &'a Parameters,
    pub(crate) rotations: &'a Rotations,
}

/// What a layer keeps of a chunk for its backward pass, all of them row by row.
#[derive(Debug, Default)]
pub(crate) struct LayerActivations {
    /// What it was given, `[tokens, hidden]`.
    input: Vec<f32>,
    /// Queries, keys and values as the attention takes them.
    pub(crate) qkv: Vec<f32>,
    /// The same before the norms of the heads; empty where there are none.
    plain_qkv: Vec<f32>,
    /// What the attention gave, `[tokens, queries]`.
    attended: Vec<f32>,
    /// The residual stream between attention and feed-forward.
    middle: Vec<f32>,
    /// What SwiGLU was given.
    gate_up: Vec<f32>,
}

/// What the backward pass of a layer leaves for the gradients of its weights.
#[derive(Debug, Default)]
pub(crate) struct LayerGradients {
    /// The results of the two norms.
    attention_input: Vec<f32>,
    mlp_input: Vec<f32>,
    /// The result of SwiGLU.
    mlp_inner: Vec<f32>,
    attended: Vec<f32>,
    /// Gradients of what the four linear layers gave.
    qkv: Vec<f32>,
    middle: Vec<f32>,
    gate_up: Vec<f32>,
    output: Vec<f32>,
    /// Gradients of the weights of norms.
    attention_norm: Vec<f32>,
    head_norms: [Vec<f32>; 2],
    mlp_norm: Vec<f32>,
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

    /// The result of a layer over a chunk, and what its backward pass needs.
    pub(crate) fn layer_forward(
        &self,
        layer: &LayerWeights,
        chunk: &Chunk,
        input: Vec<f32>,
    ) -> Result<(Vec<f32>, LayerActivations), PolicyError> {
        let mut kept = LayerActivations { input, ..LayerActivations::default() };
        let tokens = chunk.tokens.len();
        let mut normed = self.normed(&kept.input, layer.attention_norm.weights(self.parameters));
        kept.qkv = vec![0.0; tokens * layer.qkv.outputs];
        layer.qkv.forward(self.parameters, &normed, &mut kept.qkv, 0.0)?;
        if layer.head_norms.is_some() {
            kept.plain_qkv.clone_from(&kept.qkv);
        }
        for sequence in &chunk.sequences {
            let rows = sequence.start * layer.qkv.outputs..sequence.end * layer.qkv.outputs;
            let rows = kept.qkv.get_mut(rows).unwrap_or_default();
            for (position, row) in rows.chunks_exact_mut(layer.qkv.outputs).enumerate() {
                self.place(layer, row, position);
            }
        }
        kept.attended = vec![0.0; tokens * layer.output.inputs];
        self.attend(chunk, &kept.qkv, &mut kept.attended);
        kept.middle.clone_from(&kept.input);
        layer.output.forward(self.parameters, &kept.attended, &mut kept.middle, 1.0)?;
        let weight = layer.mlp_norm.weights(self.parameters);
        norm::forward(&kept.middle, weight, self.epsilon(), &mut normed);
        kept.gate_up = vec![0.0; tokens * layer.gate_up.outputs];
        layer.gate_up.forward(self.parameters, &normed, &mut kept.gate_up, 0.0)?;
        let mut inner = vec![0.0; tokens * layer.down.inputs];
        swiglu::forward(&kept.gate_up, layer.down.inputs, &mut inner);
        let mut output = kept.middle.clone();
        layer.down.forward(self.parameters, &inner, &mut output, 1.0)?;
        Ok((output, kept))
    }

    /// The norms of the heads of a row, and its position.
    pub(crate) fn place(&self, layer: &LayerWeights, row: &mut [f32], position: usize) {
        let (queries, keys) = (self.architecture.query_size(), self.architecture.key_size());
        let (queries, rest) = row.split_at_mut(queries.min(row.len()));
        let keys = rest.get_mut(..keys).unwrap_or_default();
        if let Some([query_norm, key_norm]) = &layer.head_norms {
            norm::forward_in_place(queries, query_norm.weights(self.parameters), self.epsilon());
            norm::forward_in_place(keys, key_norm.weights(self.parameters), self.epsilon());
        }
        self.rotations.turn(queries, position, Turn::Forward);
        self.rotations.turn(keys, position, Turn::Forward);
    }

    fn normed(&self, x: &[f32], weight: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; x.len()];
        norm::forward(x, weight, self.epsilon(), &mut out);
        out
    }

    fn attend(&self, chunk: &Chunk, qkv: &[f32], out: &mut [f32]) {
        let (heads, mut scratch) = (self.heads(), Scratch::default());
        for sequence in &chunk.sequences {
            let from = qkv.get(sequence.start * heads.row()..sequence.end * heads.row());
            let into =
                out.get_mut(sequence.start * heads.out_row()..sequence.end * heads.out_row());
            if let (Some(from), Some(into)) = (from, into) {
                attention::forward(heads, from, into, &mut scratch);
            }
        }
    }

    /// The gradient of what a layer was given (in `gradient`, which is that of its result), and what
    /// the gradients of its weights are made of.
    pub(crate) fn layer_backward(
        &self,
        layer: &LayerWeights,
        chunk: &Chunk,
        mut kept: LayerActivations,
        gradient: &mut Vec<f32>,
    ) -> Result<LayerGradients, PolicyError> {
        let mut left = LayerGradients { output: gradient.clone(), ..LayerGradients::default() };
        self.mlp_backward(layer, &mut kept, gradient, &mut left)?;
        left.middle.clone_from(gradient);
        self.attention_backward(layer, chunk, kept, (gradient, &mut left))?;
        Ok(left)
    }

    fn mlp_backward(
        &self,
        layer: &LayerWeights,
        kept: &mut LayerActivations,
        gradient: &mut [f32],
        left: &mut LayerGradients,
    ) -> Result<(), PolicyError> {
        let (parameters, tokens) = (self.parameters, gradient.len() / layer.down.outputs.max(1));
        let weight = layer.mlp_norm.weights(parameters);
        left.mlp_inner = vec![0.0; tokens * layer.down.inputs];
        layer.down.backward_input(parameters, gradient, &mut left.mlp_inner, 0.0)?;
        left.gate_up = std::mem::take(&mut kept.gate_up);
        swiglu::backward(&mut left.gate_up, layer.down.inputs, &mut left.mlp_inner);
        left.mlp_input = self.normed(&kept.middle, weight);
        let mut normed = vec![0.0; kept.middle.len()];
        layer.gate_up.backward_input(parameters, &left.gate_up, &mut normed, 0.0)?;
        left.mlp_norm = vec![0.0; layer.mlp_norm.gradient.len()];
        NormBackward {
            x: &kept.middle,
            weight,
            epsilon: self.epsilon(),
            gradient: &normed,
            into: gradient,
            into_weight: &mut left.mlp_norm,
        }
        .run();
        Ok(())
    }

    fn attention_backward(
        &self,
        layer: &LayerWeights,
        chunk: &Chunk,
        kept: LayerActivations,
        (gradient, left): (&mut [f32], &mut LayerGradients),
    ) -> Result<(), PolicyError> {
        let parameters = self.parameters;
        let mut attended = vec![0.0; kept.attended.len()];
        layer.output.backward_input(parameters, gradient, &mut attended, 0.0)?;
        left.attended = kept.attended;
        left.qkv = vec![0.0; kept.qkv.len()];
        left.head_norms = layer.head_norms.as_ref().map_or_else(Default::default, |norms| {
            norms.each_ref().map(|norm| vec![0.0; norm.gradient.len()])
        });
        let (heads, mut scratch) = (self.heads(), Scratch::default());
        for sequence in &chunk.sequences {
            let rows = sequence.start * heads.row()..sequence.end * heads.row();
            let out_rows = sequence.start * heads.out_row()..sequence.end * heads.out_row();
            let into = left.qkv.get_mut(rows.clone()).unwrap_or_default();
            AttentionBackward {
                heads,
                qkv: kept.qkv.get(rows.clone()).unwrap_or_default(),
                gradient: attended.get(out_rows).unwrap_or_default(),
                into: &mut *into,
            }
            .run(&mut scratch);
            let plain = kept.plain_qkv.get(rows).unwrap_or_default();
            self.place_backward(layer, plain, into, &mut left.head_norms);
        }
        let weight = layer.attention_norm.weights(parameters);
        left.attention_input = self.normed(&kept.input, weight);
        let mut normed = vec![0.0; kept.input.len()];
        layer.qkv.backward_input(parameters, &left.qkv, &mut normed, 0.0)?;
        left.attention_norm = vec![0.0; layer.attention_norm.gradient.len()];
        NormBackward {
            x: &kept.input,
            weight,
            epsilon: self.epsilon(),
            gradient: &normed,
            into: gradient,
            into_weight: &mut left.attention_norm,
        }
        .run();
        Ok(())
    }

    /// The way back through the positions and the norms of the heads of a sequence.
    fn place_backward(
        &self,
        layer: &LayerWeights,
        plain: &[f32],
        gradient: &mut [f32],
        into_norms: &mut [Vec<f32>; 2],
    ) {
        let (queries, keys) = (self.architecture.query_size(), self.architecture.key_size());
        let row = layer.qkv.outputs.max(1);
        for (position, gradient) in gradient.chunks_exact_mut(row).enumerate() {
            let turned = gradient.get_mut(..queries + keys).unwrap_or_default();
            self.rotations.turn(turned, position, Turn::Back);
        }
        let Some(norms) = &layer.head_norms else { return };
        for (plain, gradient) in plain.chunks_exact(row).zip(gradient.chunks_exact_mut(row)) {
            let spans = [0..queries, queries..queries + keys];
            for ((norm, into_weight), span) in norms.iter().zip(into_norms.iter_mut()).zip(spans) {
                let gradient = gradient.get_mut(span.clone()).unwrap_or_default();
                let before = gradient.to_vec();
                gradient.fill(0.0);
                NormBackward {
                    x: plain.get(span).unwrap_or_default(),
                    weight: norm.weights(self.parameters),
                    epsilon: self.epsilon(),
                    gradient: &before,
                    into: gradient,
                    into_weight,
                }
                .run();
            }
        }
    }
}

impl LayerGradients {
    /// Adds the gradients of the weights of a layer to those of all parameters.
    pub(crate) fn add_to(
        &self,
        parameters: &Parameters,
        layer: &LayerWeights,
        into: &mut [f32],
    ) -> Result<(), PolicyError> {
        layer.down.backward_weights(parameters, &self.mlp_inner, &self.output, into)?;
        layer.gate_up.backward_weights(parameters, &self.mlp_input, &self.gate_up, into)?;
        layer.output.backward_weights(parameters, &self.attended, &self.middle, into)?;
        layer.qkv.backward_weights(parameters, &self.attention_input, &self.qkv, into)?;
        simd::add(layer.mlp_norm.gradient(into), &self.mlp_norm);
        simd::add(layer.attention_norm.gradient(into), &self.attention_norm);
        for (norm, gradient) in layer.head_norms.iter().flatten().zip(&self.head_norms) {
            simd::add(norm.gradient(into), gradient);
        }
        Ok(())
    }
}
