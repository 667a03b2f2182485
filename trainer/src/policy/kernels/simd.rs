//! Loops over slices by vectors. The rest of a slice that fills no vector is padded with zeros, so that
//! a value is computed the same way wherever it lies.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp};
use rten_vecmath::{Sum, SumSquare};

/// Writes the first values of a vector, as many as fit.
#[inline(always)]
pub(crate) fn store_first<O: NumOps<f32>>(ops: O, from: O::Simd, into: &mut [f32]) {
    if into.len() >= ops.len() {
        ops.store(from, into);
    } else {
        for (to, from) in into.iter_mut().zip(from.to_array()) {
            *to = from;
        }
    }
}

struct AddScaled<'a> {
    out: &'a mut [f32],
    x: &'a [f32],
    scale: f32,
}

impl SimdOp for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let scale = ops.splat(self.scale);
        for (out, x) in self.out.chunks_mut(ops.len()).zip(self.x.chunks(ops.len())) {
            let sum = ops.mul_add(ops.load_pad(x).0, scale, ops.load_pad(out).0);
            store_first(ops, sum, out);
        }
    }
}

/// `out += scale * x`.
pub(crate) fn add_scaled(out: &mut [f32], x: &[f32], scale: f32) {
    AddScaled { out, x, scale }.dispatch();
}

/// `out += x`.
pub(crate) fn add(out: &mut [f32], x: &[f32]) {
    add_scaled(out, x, 1.0);
}

/// Adds `bias` to each row of `out`.
pub(crate) fn add_to_rows(out: &mut [f32], bias: &[f32]) {
    for row in out.chunks_mut(bias.len().max(1)) {
        add(row, bias);
    }
}

/// Adds the sum of the rows of `x` to `sums`.
pub(crate) fn add_rows(sums: &mut [f32], x: &[f32]) {
    for row in x.chunks(sums.len().max(1)) {
        add(sums, row);
    }
}

/// The sum.
pub(crate) fn sum(x: &[f32]) -> f32 {
    Sum::new(x).dispatch()
}

/// The sum of squares.
pub(crate) fn sum_of_squares(x: &[f32]) -> f32 {
    SumSquare::new(x).dispatch()
}

/// Transposes `from` `[rows, columns]` into rows of `into` that begin `stride` values apart.
pub(crate) fn transpose(from: &[f32], columns: usize, into: &mut [f32], stride: usize) {
    for (at, row) in from.chunks(columns.max(1)).enumerate() {
        for (to, value) in into.iter_mut().skip(at).step_by(stride.max(1)).zip(row) {
            *to = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_rows_and_transposes() {
        let x: Vec<f32> = (0..42).map(|at| at as f32).collect();
        let mut sums = vec![1.0; 21];
        add_rows(&mut sums, &x);
        assert!(sums.iter().enumerate().all(|(at, sum)| *sum == 1.0 + 21.0 + 2.0 * at as f32));
        let mut rows = x.clone();
        add_to_rows(&mut rows, &x[..21]);
        assert_eq!((rows[20], rows[41]), (40.0, 61.0));
        let mut transposed = vec![0.0; 42];
        transpose(&x, 21, &mut transposed, 2);
        assert_eq!(transposed[..4], [0.0, 21.0, 1.0, 22.0]);
        assert_eq!((sum(&x[..3]), sum_of_squares(&x[..3])), (3.0, 5.0));
    }
}
