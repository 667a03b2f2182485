//! `SwiGLU` ("GLU Variants Improve Transformer", section 2): `silu(gate) * up`, where a row of the input
//! is the gate and then the other half.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp, SimdUnaryOp};
use rten_vecmath::Sigmoid;

use crate::simd::{load, store};

/// `out = silu(gate) * up`; `gate_up` is `[rows, 2 * width]`, `out` `[rows, width]`.
pub fn forward(gate_up: &[f32], width: usize, out: &mut [f32]) {
    Forward { gate_up, width: width.max(1), out }.dispatch();
}

/// `gate_up` becomes its own gradient. `gradient` is that of the result, and becomes the result, which
/// the gradient of the weights after it needs.
pub fn backward(gate_up: &mut [f32], width: usize, gradient: &mut [f32]) {
    Backward { gate_up, width: width.max(1), gradient }.dispatch();
}

struct Forward<'a> {
    gate_up: &'a [f32],
    width: usize,
    out: &'a mut [f32],
}

impl SimdOp for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let rows = self.gate_up.chunks_exact(2 * self.width);
        for (row, out) in rows.zip(self.out.chunks_exact_mut(self.width)) {
            let (gate, up) = row.split_at(self.width);
            for at in (0..self.width).step_by(ops.len()) {
                let (gate, up) = (load(ops, gate, at), load(ops, up, at));
                let sigmoid = Sigmoid {}.eval(isa, gate);
                store(ops, ops.mul(ops.mul(gate, sigmoid), up), out, at);
            }
        }
    }
}

struct Backward<'a> {
    gate_up: &'a mut [f32],
    width: usize,
    gradient: &'a mut [f32],
}

impl SimdOp for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let one = ops.one();
        let rows = self.gate_up.chunks_exact_mut(2 * self.width);
        for (row, gradient_row) in rows.zip(self.gradient.chunks_exact_mut(self.width)) {
            let (gate_row, up_row) = row.split_at_mut(self.width);
            for at in (0..self.width).step_by(ops.len()) {
                let (gate, up) = (load(ops, gate_row, at), load(ops, up_row, at));
                let gradient = load(ops, gradient_row, at);
                let sigmoid = Sigmoid {}.eval(isa, gate);
                let silu = ops.mul(gate, sigmoid);
                // silu' = sigmoid * (1 + gate * (1 - sigmoid)) = sigmoid + silu * (1 - sigmoid)
                let slope = ops.mul_add(silu, ops.sub(one, sigmoid), sigmoid);
                store(ops, ops.mul(ops.mul(gradient, up), slope), gate_row, at);
                store(ops, ops.mul(gradient, silu), up_row, at);
                store(ops, ops.mul(silu, up), gradient_row, at);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the same operations have the same bits")]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_product() {
        let silu = |x: f32| x / (1.0 + (-x).exp());
        let gate_up = [0.5, -1.5, 2.0, 3.0];
        let mut out = [0.0; 2];
        forward(&gate_up, 2, &mut out);
        assert!((out[0] - silu(0.5) * 2.0).abs() < 1e-6);
        assert!((out[1] - silu(-1.5) * 3.0).abs() < 1e-6);
        let (mut gradients, mut gradient) = (gate_up, [1.0, -2.0]);
        backward(&mut gradients, 2, &mut gradient);
        assert_eq!(gradient, out);
        let slope = |x: f32| (silu(x + 1e-2) - silu(x - 1e-2)) / 2e-2;
        let expected = [slope(0.5) * 2.0, slope(-1.5) * -6.0, silu(0.5), silu(-1.5) * -2.0];
        assert!(gradients.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-3));
    }
}
