//! Loops over slices by vectors. The rest of a slice that fills no vector is padded with zeros, so that
//! a value is computed the same way wherever it lies.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp};
use rten_vecmath::Sum;

/// The vector of the values from `at` on, padded with zeros.
#[inline(always)]
pub(crate) fn load<O: NumOps<f32>>(ops: O, values: &[f32], at: usize) -> O::Simd {
    match values.get(at..at + ops.len()) {
        Some(values) => ops.load(values),
        None => ops.load_pad(&values[at.min(values.len())..]).0,
    }
}

/// Writes as much of a vector as fits from `at` on.
#[inline(always)]
pub(crate) fn store<O: NumOps<f32>>(ops: O, from: O::Simd, into: &mut [f32], at: usize) {
    if let Some(into) = into.get_mut(at..at + ops.len()) {
        ops.store(from, into);
    } else {
        into.iter_mut().skip(at).zip(from.to_array()).for_each(|(to, from)| *to = from);
    }
}

/// `out += scale * x` for each row of `x`, or for each row of `out`, whichever has more.
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
        let width = self.out.len().min(self.x.len()).max(1);
        let rows = self.x.len() / width;
        for out in self.out.chunks_mut(width) {
            for at in (0..out.len()).step_by(ops.len()) {
                let mut sum = load(ops, out, at);
                for x in self.x.chunks_exact(width).take(rows) {
                    sum = ops.mul_add(load(ops, x, at), scale, sum);
                }
                store(ops, sum, out, at);
            }
        }
    }
}

/// `out += scale * x`; both have the same length.
pub fn add_scaled(out: &mut [f32], x: &[f32], scale: f32) {
    let width = out.len().min(x.len());
    let (out, x) = (out.get_mut(..width), x.get(..width));
    AddScaled { out: out.unwrap_or_default(), x: x.unwrap_or_default(), scale }.dispatch();
}

/// `out += x`; both have the same length.
pub fn add(out: &mut [f32], x: &[f32]) {
    add_scaled(out, x, 1.0);
}

/// Adds `bias` to each row of `out`.
pub fn add_to_rows(out: &mut [f32], bias: &[f32]) {
    AddScaled { out, x: bias, scale: 1.0 }.dispatch();
}

/// Adds the sum of the rows of `x` to `sums`.
pub fn add_rows(sums: &mut [f32], x: &[f32]) {
    AddScaled { out: sums, x, scale: 1.0 }.dispatch();
}

/// The sum.
pub fn sum(x: &[f32]) -> f32 {
    Sum::new(x).dispatch()
}

/// Rows that are transposed together.
const BAND: usize = 8;

/// Transposes `from` `[rows, columns]` into rows of `into` that begin `stride` values apart.
pub(crate) fn transpose(from: &[f32], columns: usize, into: &mut [f32], stride: usize) {
    let (columns, stride) = (columns.max(1), stride.max(1));
    let mut bands = from.chunks_exact(BAND * columns);
    let mut first = 0;
    for band in bands.by_ref() {
        let (top, bottom) = band.split_at(BAND / 2 * columns);
        for (into, (top, bottom)) in
            into.chunks_mut(stride).zip(fours(top, columns).zip(fours(bottom, columns)))
        {
            if let Some(into) = into.get_mut(first..first + BAND) {
                let (left, right) = into.split_at_mut(BAND / 2);
                left.copy_from_slice(&top);
                right.copy_from_slice(&bottom);
            }
        }
        first += BAND;
    }
    for (at, row) in bands.remainder().chunks(columns).enumerate() {
        for (to, value) in into.iter_mut().skip(first + at).step_by(stride).zip(row) {
            *to = *value;
        }
    }
}

/// The columns of four rows.
fn fours(rows: &[f32], columns: usize) -> impl Iterator<Item = [f32; BAND / 2]> {
    let (upper, lower) = rows.split_at(2 * columns);
    let (first, second) = upper.split_at(columns);
    let (third, fourth) = lower.split_at(columns);
    let pairs = first.iter().zip(second).zip(third.iter().zip(fourth));
    pairs.map(|((first, second), (third, fourth))| [*first, *second, *third, *fourth])
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "numbers of a test are small and exact"
)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_rows() {
        let x: Vec<f32> = (0..42).map(|at| at as f32).collect();
        let mut sums = vec![1.0; 21];
        add_rows(&mut sums, &x);
        assert!(sums.iter().enumerate().all(|(at, sum)| *sum == 1.0 + 21.0 + 2.0 * at as f32));
        let mut rows = x.clone();
        add_to_rows(&mut rows, &x[..21]);
        assert_eq!((rows[20], rows[41]), (40.0, 61.0));
        add_scaled(&mut rows, &x[..2], 2.0);
        assert_eq!(rows[..4], [0.0, 4.0, 4.0, 6.0]);
        add_rows(&mut sums, &[]);
        add_rows(&mut [], &x);
    }

    #[test]
    fn transposed_rows_are_columns() {
        for (rows, columns) in [(1, 1), (2, 21), (8, 3), (19, 5), (24, 16)] {
            let x: Vec<f32> = (0..rows * columns).map(|at| at as f32).collect();
            let stride = rows + 3;
            let mut transposed = vec![-1.0; columns * stride];
            transpose(&x, columns, &mut transposed, stride);
            for (at, value) in transposed.iter().enumerate() {
                let (column, row) = (at / stride, at % stride);
                let expected = if row < rows { x[row * columns + column] } else { -1.0 };
                assert_eq!(*value, expected, "{rows} {columns} {at}");
            }
        }
    }
}
