//! SwiGLU ("GLU Variants Improve Transformer", section 2): `silu(gate) * up`, where a row of the input
//! is the gate and then the other half.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp, SimdUnaryOp};
use rten_vecmath::Sigmoid;

use super::simd::store_first;

/// `out = silu(gate) * up`; `gate_up` is `[rows, 2 * width]`, `out` `[rows, width]`.
pub(crate) fn forward(gate_up: &[f32], width: usize, out: &mut [f32]) {
    for (row, out) in gate_up.chunks(2 * width).zip(out.chunks_mut(width)) {
        let (gate, up) = row.split_at(width.min(row.len()));
        Product { gate, up, out }.dispatch();
    }
}

/// `gate_up` becomes its own gradient, `gradient` is that of the result, and becomes the result, which
/// the weights after it need.
pub(crate) fn backward(gate_up: &mut [f32], width: usize, gradient: &mut [f32]) {
    for (row, gradient) in gate_up.chunks_mut(2 * width).zip(gradient.chunks_mut(width)) {
        let (gate, up) = row.split_at_mut(width.min(row.len()));
        Backward { gate, up, gradient }.dispatch();
    }
}

struct Product<'a> {
    gate: &'a [f32],
    up: &'a [f32],
    out: &'a mut [f32],
}

impl SimdOp for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let inputs = self.gate.chunks(ops.len()).zip(self.up.chunks(ops.len()));
        for (out, (gate, up)) in self.out.chunks_mut(ops.len()).zip(inputs) {
            let (gate, up) = (ops.load_pad(gate).0, ops.load_pad(up).0);
            let sigmoid = Sigmoid {}.eval(isa, gate);
            store_first(ops, ops.mul(ops.mul(gate, sigmoid), up), out);
        }
    }
}

struct Backward<'a> {
    gate: &'a mut [f32],
    up: &'a mut [f32],
    gradient: &'a mut [f32],
}

impl SimdOp for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let one = ops.one();
        let inputs = self.gate.chunks_mut(ops.len()).zip(self.up.chunks_mut(ops.len()));
        for ((gate_to, up_to), gradient_to) in inputs.zip(self.gradient.chunks_mut(ops.len())) {
            let (gate, up) = (ops.load_pad(gate_to).0, ops.load_pad(up_to).0);
            let gradient = ops.load_pad(gradient_to).0;
            let sigmoid = Sigmoid {}.eval(isa, gate);
            let silu = ops.mul(gate, sigmoid);
            // silu' = sigmoid * (1 + gate * (1 - sigmoid)) = sigmoid + silu * (1 - sigmoid)
            let slope = ops.mul_add(silu, ops.sub(one, sigmoid), sigmoid);
            store_first(ops, ops.mul(ops.mul(gradient, up), slope), gate_to);
            store_first(ops, ops.mul(gradient, silu), up_to);
            store_first(ops, ops.mul(silu, up), gradient_to);
        }
    }
}

#[cfg(test)]
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
