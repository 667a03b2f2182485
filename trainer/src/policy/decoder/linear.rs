//! Linear layers, with or without low-rank adapters, over the weights of [`Parameters`].

use std::ops::Range;

use assay_kernels::buffers::Buffers;
use assay_kernels::matmul::{Packed, ShapeMismatch, matrix, product, strided};
use assay_kernels::{outer, simd};
use rten_tensor::{Matrix, MatrixLayout};

use crate::policy::parameters::TensorInfo;
use crate::policy::{Parameters, PolicyError};

/// Where weights lie, and where their gradients, if they are trained.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Span {
    pub(crate) values: Range<usize>,
    pub(crate) gradient: Range<usize>,
}

impl Span {
    /// The place of one tensor.
    pub(crate) fn of(info: &TensorInfo) -> Self {
        Self { values: info.range.clone(), gradient: info.gradient.clone() }
    }

    /// The place of this one and of the next ones, which lie right after it.
    pub(crate) fn to(&self, last: &Self) -> Self {
        Self {
            values: self.values.start..last.values.end,
            gradient: self.gradient.start..last.gradient.end,
        }
    }

    /// Whether gradients are wanted.
    pub(crate) fn is_trained(&self) -> bool {
        !self.gradient.is_empty()
    }

    /// The weights.
    pub(crate) fn weights<'p>(&self, parameters: &'p Parameters) -> &'p [f32] {
        &parameters.values()[self.values.clone()]
    }

    /// The gradient; empty where it is not trained.
    pub(crate) fn gradient<'g>(&self, gradients: &'g mut [f32]) -> &'g mut [f32] {
        &mut gradients[self.gradient.clone()]
    }
}

/// `y = x @ weight^T + bias`, and what its adapters add.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// `[outputs, inputs]`; of several tensors, one after another.
    pub(crate) weight: Span,
    /// `[outputs]`.
    pub(crate) bias: Option<Span>,
    pub(crate) adapters: Vec<Adapter>,
    /// The weight for one of the directions, as long as weights stay as they are.
    pub(super) packed: Option<(Direction, Packed)>,
}

/// Which way values go through a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// `y[first..] += scale * (x @ down^T) @ up^T`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adapter {
    /// The first of the outputs that it adds to.
    pub(crate) first: usize,
    pub(crate) outputs: usize,
    pub(crate) rank: usize,
    pub(crate) scale: f32,
    /// `lora_A`, `[rank, inputs]`.
    pub(crate) down: Span,
    /// `lora_B`, `[outputs, rank]`.
    pub(crate) up: Span,
}

impl Linear {
    /// The same layer, faster in one direction until weights change.
    pub(crate) fn packed(&self, parameters: &Parameters, direction: Direction) -> Self {
        let packed = self.matrix(parameters).ok().map(|weight| match direction {
            Direction::Forward => (direction, Packed::new(weight.transposed())),
            Direction::Backward => (direction, Packed::new(weight)),
        });
        Self { packed, ..self.clone() }
    }

    fn matrix<'p>(&self, parameters: &'p Parameters) -> Result<Matrix<'p>, ShapeMismatch> {
        matrix(self.weight.weights(parameters), self.outputs, self.inputs)
    }

    /// `out = y + keep * out`; `x` is `[rows, inputs]`, `out` `[rows, outputs]`.
    pub(crate) fn forward(
        &self,
        parameters: &Parameters,
        x: &[f32],
        out: &mut [f32],
        keep: f32,
    ) -> Result<(), PolicyError> {
        let rows = x.len() / self.inputs.max(1);
        let x = matrix(x, rows, self.inputs)?;
        match &self.packed {
            Some((Direction::Forward, packed)) => packed.product(x, out, keep)?,
            _ => product(x, self.matrix(parameters)?.transposed(), out, keep)?,
        }
        self.finish(parameters, x, out)
    }

    /// Adds the bias and what the adapters say.
    fn finish(
        &self,
        parameters: &Parameters,
        x: Matrix<'_>,
        out: &mut [f32],
    ) -> Result<(), PolicyError> {
        if let Some(bias) = &self.bias {
            simd::add_to_rows(out, bias.weights(parameters));
        }
        for adapter in &self.adapters {
            let inner = adapter.inner(parameters, x)?;
            let up = adapter.up(parameters)?;
            let mut added = vec![0.0; x.rows() * adapter.outputs];
            product(matrix(&inner, x.rows(), adapter.rank)?, up.transposed(), &mut added, 0.0)?;
            let rows = out.chunks_exact_mut(self.outputs);
            for (row, added) in rows.zip(added.chunks_exact(adapter.outputs)) {
                let row = &mut row[adapter.first..];
                simd::add_scaled(row, added, adapter.scale);
            }
        }
        Ok(())
    }

    /// `into = dx + keep * into`, where `gradient` is that of the result.
    pub(crate) fn backward_input(
        &self,
        parameters: &Parameters,
        gradient: &[f32],
        into: &mut [f32],
        keep: f32,
    ) -> Result<(), PolicyError> {
        let rows = gradient.len() / self.outputs.max(1);
        let outer = matrix(gradient, rows, self.outputs)?;
        match &self.packed {
            Some((Direction::Backward, packed)) => packed.product(outer, into, keep)?,
            _ => product(outer, self.matrix(parameters)?, into, keep)?,
        }
        for adapter in &self.adapters {
            let inner = adapter.inner_gradient(parameters, gradient, self.outputs)?;
            let down = adapter.down(parameters, self.inputs)?;
            product(matrix(&inner, rows, adapter.rank)?, down, into, 1.0)?;
        }
        Ok(())
    }

    /// Adds the gradients of the weights to `into`, the gradients of all parameters. `x` is what the
    /// layer was given, `gradient` that of its result.
    pub(crate) fn backward_weights(
        &self,
        (parameters, buffers): (&Parameters, &Buffers),
        x: &[f32],
        gradient: &[f32],
        into: &mut [f32],
    ) -> Result<(), PolicyError> {
        let rows = x.len() / self.inputs.max(1);
        if self.weight.is_trained() {
            let (left, right) = ((gradient, self.outputs), (x, self.inputs));
            outer::add_product(left, right, self.weight.gradient(into), buffers);
        }
        let x = matrix(x, rows, self.inputs)?;
        if let Some(bias) = self.bias.as_ref().filter(|bias| bias.is_trained()) {
            simd::add_rows(bias.gradient(into), gradient);
        }
        for adapter in &self.adapters {
            let inner = adapter.inner_gradient(parameters, gradient, self.outputs)?;
            let inner = matrix(&inner, rows, adapter.rank)?;
            product(inner.transposed(), x, adapter.down.gradient(into), 1.0)?;
            let mut inner = adapter.inner(parameters, x)?;
            scale(&mut inner, adapter.scale);
            let inner = matrix(&inner, rows, adapter.rank)?;
            let outer = adapter.part(gradient, self.outputs)?;
            product(outer.transposed(), inner, adapter.up.gradient(into), 1.0)?;
        }
        Ok(())
    }
}

impl Adapter {
    fn down<'p>(
        &self,
        parameters: &'p Parameters,
        inputs: usize,
    ) -> Result<Matrix<'p>, ShapeMismatch> {
        matrix(self.down.weights(parameters), self.rank, inputs)
    }

    fn up<'p>(&self, parameters: &'p Parameters) -> Result<Matrix<'p>, ShapeMismatch> {
        matrix(self.up.weights(parameters), self.outputs, self.rank)
    }

    /// `x @ down^T`, `[rows, rank]`.
    fn inner(&self, parameters: &Parameters, x: Matrix<'_>) -> Result<Vec<f32>, PolicyError> {
        let mut inner = vec![0.0; x.rows() * self.rank];
        product(x, self.down(parameters, x.cols())?.transposed(), &mut inner, 0.0)?;
        Ok(inner)
    }

    /// The gradient of `x @ down^T`, with the scale.
    fn inner_gradient(
        &self,
        parameters: &Parameters,
        gradient: &[f32],
        outputs: usize,
    ) -> Result<Vec<f32>, PolicyError> {
        let part = self.part(gradient, outputs)?;
        let mut inner = vec![0.0; part.rows() * self.rank];
        product(part, self.up(parameters)?, &mut inner, 0.0)?;
        scale(&mut inner, self.scale);
        Ok(inner)
    }

    /// The columns of the gradient of a layer that are those of the adapter.
    fn part<'g>(&self, gradient: &'g [f32], outputs: usize) -> Result<Matrix<'g>, ShapeMismatch> {
        let rows = gradient.len() / outputs.max(1);
        let columns = &gradient[self.first..];
        strided(columns, [rows, self.outputs], outputs)
    }
}

fn scale(values: &mut [f32], by: f32) {
    for value in values {
        *value *= by;
    }
}
