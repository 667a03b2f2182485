//! RMSNorm ("Root Mean Square Layer Normalization", section 4): `y = weight * x / rms(x)`.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use super::simd::{store_first, sum_of_squares};

/// One over the root of the mean square of a row.
fn inverse_rms(row: &[f32], epsilon: f32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "the width of a row is far below 2^24")]
    let width = row.len() as f32;
    1.0 / (sum_of_squares(row) / width + epsilon).sqrt()
}

/// Normalises each row of `x`; a row is as wide as `weight`.
pub(crate) fn forward(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let width = weight.len().max(1);
    for (x, out) in x.chunks(width).zip(out.chunks_mut(width)) {
        let scale = inverse_rms(x, epsilon);
        Scaled { x, weight, scale, out }.dispatch();
    }
}

/// Normalises each row in place.
pub(crate) fn forward_in_place(x: &mut [f32], weight: &[f32], epsilon: f32) {
    let before = x.to_vec();
    forward(&before, weight, epsilon, x);
}

/// What the backward pass of a norm reads and writes. All but the weights are `[rows, width]`.
pub(crate) struct NormBackward<'a> {
    pub(crate) x: &'a [f32],
    pub(crate) weight: &'a [f32],
    pub(crate) epsilon: f32,
    /// The gradient of the result.
    pub(crate) gradient: &'a [f32],
    /// The gradient of `x` is added to it.
    pub(crate) into: &'a mut [f32],
    /// The gradient of the weights is added to it; empty where they are not trained.
    pub(crate) into_weight: &'a mut [f32],
}

impl NormBackward<'_> {
    /// `dx = (w * dy - x * sum(w * dy * x) / (width * rms^2)) / rms`, `dw = sum(dy * x / rms)`.
    pub(crate) fn run(self) {
        let width = self.weight.len().max(1);
        let rows = self.x.chunks(width).zip(self.gradient.chunks(width));
        for ((x, gradient), into) in rows.zip(self.into.chunks_mut(width)) {
            let scale = inverse_rms(x, self.epsilon);
            RowBackward {
                x,
                weight: self.weight,
                gradient,
                scale,
                into,
                into_weight: &mut *self.into_weight,
            }
            .dispatch();
        }
    }
}

struct Scaled<'a> {
    x: &'a [f32],
    weight: &'a [f32],
    scale: f32,
    out: &'a mut [f32],
}

impl SimdOp for Scaled<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let scale = ops.splat(self.scale);
        let inputs = self.x.chunks(ops.len()).zip(self.weight.chunks(ops.len()));
        for (out, (x, weight)) in self.out.chunks_mut(ops.len()).zip(inputs) {
            let scaled = ops.mul(ops.load_pad(x).0, scale);
            store_first(ops, ops.mul(scaled, ops.load_pad(weight).0), out);
        }
    }
}

struct RowBackward<'a> {
    x: &'a [f32],
    weight: &'a [f32],
    gradient: &'a [f32],
    scale: f32,
    into: &'a mut [f32],
    into_weight: &'a mut [f32],
}

impl SimdOp for RowBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let lanes = ops.len();
        let inputs = || {
            let pairs = self.x.chunks(lanes).zip(self.weight.chunks(lanes));
            pairs.zip(self.gradient.chunks(lanes)).map(|((x, weight), gradient)| {
                (ops.load_pad(x).0, ops.load_pad(weight).0, ops.load_pad(gradient).0)
            })
        };
        let mut dot = ops.zero();
        for (x, weight, gradient) in inputs() {
            dot = ops.mul_add(ops.mul(weight, gradient), x, dot);
        }
        #[expect(clippy::cast_precision_loss, reason = "the width of a row is far below 2^24")]
        let mean = ops.sum(dot) / self.x.len() as f32;
        let scale = ops.splat(self.scale);
        let along = ops.splat(-self.scale * self.scale * self.scale * mean);
        for ((x, weight, gradient), into) in inputs().zip(self.into.chunks_mut(lanes)) {
            let direct = ops.mul(ops.mul(weight, gradient), scale);
            let sum = ops.add(ops.mul_add(x, along, direct), ops.load_pad(into).0);
            store_first(ops, sum, into);
        }
        for ((x, _, gradient), into) in inputs().zip(self.into_weight.chunks_mut(lanes)) {
            let sum = ops.mul_add(ops.mul(x, scale), gradient, ops.load_pad(into).0);
            store_first(ops, sum, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_normalised_by_its_root_mean_square() {
        let mut out = [0.0; 4];
        forward(&[3.0, 4.0, 0.0, 0.0], &[1.0, 2.0], 0.0, &mut out);
        let rms = 12.5_f32.sqrt();
        assert!((out[0] - 3.0 / rms).abs() < 1e-6 && (out[1] - 8.0 / rms).abs() < 1e-6);
        assert!(out[2].is_nan(), "0 / 0 without an epsilon");
        let mut same = [3.0, 4.0];
        forward_in_place(&mut same, &[1.0, 2.0], 0.0);
        assert_eq!(same, out[..2]);
    }
}
