//! `RMSNorm` ("Root Mean Square Layer Normalization", section 4): `y = weight * x / rms(x)`.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use crate::simd::{load, store};

/// Normalises each row of `x`; a row is as wide as `weight`.
pub fn forward(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    Normalise { x, weight, epsilon, out }.dispatch();
}

/// Normalises each row in place.
pub fn forward_in_place(x: &mut [f32], weight: &[f32], epsilon: f32) {
    let before = x.to_vec();
    forward(&before, weight, epsilon, x);
}

/// What the backward pass of a norm reads and writes. All but the weights are `[rows, width]`.
pub struct NormBackward<'a> {
    /// What was normalised.
    pub x: &'a [f32],
    /// `[width]`.
    pub weight: &'a [f32],
    /// Added to the mean square.
    pub epsilon: f32,
    /// The gradient of the result.
    pub gradient: &'a [f32],
    /// The gradient of `x` is added to it.
    pub into: &'a mut [f32],
    /// The gradient of the weights is added to it; empty where they are not trained.
    pub into_weight: &'a mut [f32],
}

impl NormBackward<'_> {
    /// Computes the gradients.
    pub fn run(self) {
        self.dispatch();
    }
}

/// One over the root of the mean square of a row.
#[inline(always)]
fn inverse_rms<I: Isa>(isa: I, row: &[f32], epsilon: f32) -> f32 {
    let ops = isa.f32();
    let mut sum = ops.zero();
    for at in (0..row.len()).step_by(ops.len()) {
        let x = load(ops, row, at);
        sum = ops.mul_add(x, x, sum);
    }
    1.0 / (ops.sum(sum) / width(row) + epsilon).sqrt()
}

#[inline(always)]
fn width(row: &[f32]) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "the width of a row is far below 2^24")]
    let width = row.len() as f32;
    width
}

struct Normalise<'a> {
    x: &'a [f32],
    weight: &'a [f32],
    epsilon: f32,
    out: &'a mut [f32],
}

impl SimdOp for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ops, width) = (isa.f32(), self.weight.len().max(1));
        for (x, out) in self.x.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            let scale = ops.splat(inverse_rms(isa, x, self.epsilon));
            for at in (0..width).step_by(ops.len()) {
                let scaled = ops.mul(load(ops, x, at), scale);
                store(ops, ops.mul(scaled, load(ops, self.weight, at)), out, at);
            }
        }
    }
}

/// `dx = (w * dy - x * sum(w * dy * x) / (width * rms^2)) / rms`, `dw = sum(dy * x / rms)`.
impl SimdOp for NormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let (lanes, size) = (ops.len(), self.weight.len().max(1));
        let rows = self.x.chunks_exact(size).zip(self.gradient.chunks_exact(size));
        for ((x, gradient), into) in rows.zip(self.into.chunks_exact_mut(size)) {
            let inverse = inverse_rms(isa, x, self.epsilon);
            let mut dot = ops.zero();
            for at in (0..size).step_by(lanes) {
                let direct = ops.mul(load(ops, self.weight, at), load(ops, gradient, at));
                dot = ops.mul_add(direct, load(ops, x, at), dot);
            }
            let along = -inverse * inverse * inverse * ops.sum(dot) / width(x);
            let (scale, along) = (ops.splat(inverse), ops.splat(along));
            for at in (0..size).step_by(lanes) {
                let (x, gradient) = (load(ops, x, at), load(ops, gradient, at));
                let direct = ops.mul(ops.mul(load(ops, self.weight, at), gradient), scale);
                let sum = ops.add(ops.mul_add(x, along, direct), load(ops, into, at));
                store(ops, sum, into, at);
                let sum = load(ops, self.into_weight, at);
                let sum = ops.mul_add(ops.mul(x, scale), gradient, sum);
                store(ops, sum, self.into_weight, at);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the same operations have the same bits")]
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
