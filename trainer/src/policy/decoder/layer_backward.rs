//! The way back through one layer.

use assay_kernels::attention::{AttentionBackward, Scratch};
use assay_kernels::buffers::Buffers;
use assay_kernels::norm::NormBackward;
use assay_kernels::rope::Turn;
use assay_kernels::{simd, swiglu};

use super::batch::Chunk;
use super::layer::{LayerActivations, Model, Rows};
use super::weights::LayerWeights;
use crate::policy::{Parameters, PolicyError};

/// What the backward pass of a layer leaves for the gradients of its weights.
#[derive(Debug, Default)]
pub(crate) struct LayerGradients {
    /// The results of the two norms.
    attention_input: Vec<f32>,
    mlp_input: Vec<f32>,
    /// The result of `SwiGLU`.
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
    /// The gradient of what a layer was given, `[tokens, hidden]`, from that of its result, `[rows,
    /// hidden]`, and what the gradients of its weights are made of.
    pub(crate) fn layer_backward(
        &self,
        layer: &LayerWeights,
        (chunk, rows): (&Chunk, Rows),
        mut kept: LayerActivations,
        gradient: Vec<f32>,
    ) -> Result<(Vec<f32>, LayerGradients), PolicyError> {
        let mut left = LayerGradients { output: gradient, ..LayerGradients::default() };
        left.middle = self.buffers.copy(&left.output);
        self.mlp_backward(layer, &mut kept, &mut left)?;
        let mut attended = self.buffers.take(kept.attended.len());
        layer.output.backward_input(self.parameters, &left.middle, &mut attended, 0.0)?;
        left.attended = std::mem::take(&mut kept.attended);
        let mut gradient = self.buffers.copy(&left.middle);
        if rows == Rows::Predicting {
            let spread = |from: Vec<f32>, width: usize| {
                let mut to = self.buffers.zeros(chunk.tokens.len() * width);
                for (row, from) in chunk.predicting.iter().zip(from.chunks_exact(width.max(1))) {
                    let to = &mut to[row * width..(row + 1) * width];
                    to.copy_from_slice(from);
                }
                self.buffers.give([from]);
                to
            };
            attended = spread(attended, layer.output.inputs);
            gradient = spread(gradient, layer.output.outputs);
        }
        self.attention_backward(chunk, (layer, &kept), &attended, &mut left);
        self.buffers.give([attended]);
        let weight = layer.attention_norm.weights(self.parameters);
        left.attention_input = self.normed(&kept.input, weight);
        let mut normed = self.buffers.take(kept.input.len());
        layer.qkv.backward_input(self.parameters, &left.qkv, &mut normed, 0.0)?;
        left.attention_norm = vec![0.0; layer.attention_norm.gradient.len()];
        NormBackward {
            x: &kept.input,
            weight,
            epsilon: self.epsilon(),
            gradient: &normed,
            into: &mut gradient,
            into_weight: &mut left.attention_norm,
        }
        .run();
        self.buffers.give([normed]);
        self.buffers.give(kept.buffers());
        Ok((gradient, left))
    }

    /// From the gradient of the result to that of the stream before the feed-forward, in
    /// `left.middle`.
    fn mlp_backward(
        &self,
        layer: &LayerWeights,
        kept: &mut LayerActivations,
        left: &mut LayerGradients,
    ) -> Result<(), PolicyError> {
        let (parameters, rows) = (self.parameters, kept.middle.len() / layer.down.outputs.max(1));
        let weight = layer.mlp_norm.weights(parameters);
        left.mlp_inner = self.buffers.take(rows * layer.down.inputs);
        layer.down.backward_input(parameters, &left.output, &mut left.mlp_inner, 0.0)?;
        left.gate_up = std::mem::take(&mut kept.gate_up);
        swiglu::backward(&mut left.gate_up, layer.down.inputs, &mut left.mlp_inner);
        left.mlp_input = self.normed(&kept.middle, weight);
        let mut normed = self.buffers.take(kept.middle.len());
        layer.gate_up.backward_input(parameters, &left.gate_up, &mut normed, 0.0)?;
        left.mlp_norm = vec![0.0; layer.mlp_norm.gradient.len()];
        NormBackward {
            x: &kept.middle,
            weight,
            epsilon: self.epsilon(),
            gradient: &normed,
            into: &mut left.middle,
            into_weight: &mut left.mlp_norm,
        }
        .run();
        self.buffers.give([normed]);
        Ok(())
    }

    /// From the gradient of what the attention gave to that of queries, keys and values, in `left.qkv`.
    fn attention_backward(
        &self,
        chunk: &Chunk,
        (layer, kept): (&LayerWeights, &LayerActivations),
        attended: &[f32],
        left: &mut LayerGradients,
    ) {
        left.qkv = self.buffers.take(kept.qkv.len());
        left.head_norms = layer.head_norms.as_ref().map_or_else(Default::default, |norms| {
            norms.each_ref().map(|norm| vec![0.0; norm.gradient.len()])
        });
        let (heads, mut scratch) = (self.heads(), Scratch::default());
        for sequence in &chunk.sequences {
            let rows = sequence.start * heads.row()..sequence.end * heads.row();
            let out_rows = sequence.start * heads.out_row()..sequence.end * heads.out_row();
            let into = &mut left.qkv[rows.clone()];
            AttentionBackward {
                heads,
                qkv: &kept.qkv[rows.clone()],
                gradient: &attended[out_rows],
                into: &mut *into,
            }
            .run(&mut scratch);
            let plain = if layer.head_norms.is_some() { &kept.plain_qkv[rows] } else { &[] };
            self.place_backward(layer, plain, into, &mut left.head_norms);
        }
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
            let turned = &mut gradient[..queries + keys];
            self.rotations.turn(turned, position, Turn::Back);
        }
        let Some(norms) = &layer.head_norms else { return };
        for (plain, gradient) in plain.chunks_exact(row).zip(gradient.chunks_exact_mut(row)) {
            let spans = [0..queries, queries..queries + keys];
            for ((norm, into_weight), span) in norms.iter().zip(into_norms.iter_mut()).zip(spans) {
                let gradient = &mut gradient[span.clone()];
                let before = gradient.to_vec();
                gradient.fill(0.0);
                NormBackward {
                    x: &plain[span],
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
        context: (&Parameters, &Buffers),
        layer: &LayerWeights,
        into: &mut [f32],
    ) -> Result<(), PolicyError> {
        layer.down.backward_weights(context, &self.mlp_inner, &self.output, into)?;
        layer.gate_up.backward_weights(context, &self.mlp_input, &self.gate_up, into)?;
        layer.output.backward_weights(context, &self.attended, &self.middle, into)?;
        layer.qkv.backward_weights(context, &self.attention_input, &self.qkv, into)?;
        simd::add(layer.mlp_norm.gradient(into), &self.mlp_norm);
        simd::add(layer.attention_norm.gradient(into), &self.attention_norm);
        for (norm, gradient) in layer.head_norms.iter().flatten().zip(&self.head_norms) {
            simd::add(norm.gradient(into), gradient);
        }
        Ok(())
    }

    /// Its memory, to be used again.
    pub(crate) fn buffers(self) -> [Vec<f32>; 8] {
        [
            self.attention_input,
            self.mlp_input,
            self.mlp_inner,
            self.attended,
            self.qkv,
            self.middle,
            self.gate_up,
            self.output,
        ]
    }
}
