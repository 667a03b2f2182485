//! Products of small matrices that are in padded scratch memory, for the attention of one head.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

/// Rows of a tile.
pub(crate) const ROWS: usize = 8;
/// Columns are padded to a multiple of this, the widest vector.
pub(crate) const COLUMNS: usize = 16;

/// `out[i, j] = sum_k a[k, i] * b[k, j]`, or added to `out`. Strides are those of rows. Rows of `out`
/// are a multiple of [`ROWS`], its columns one of [`COLUMNS`].
pub(crate) struct TileProduct<'a> {
    pub(crate) a: &'a [f32],
    pub(crate) a_stride: usize,
    pub(crate) b: &'a [f32],
    pub(crate) b_stride: usize,
    pub(crate) depth: usize,
    pub(crate) out: &'a mut [f32],
    pub(crate) out_stride: usize,
    pub(crate) rows: usize,
    pub(crate) add: bool,
}

impl SimdOp for TileProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let lanes = ops.len();
        let a_rows = || self.a.chunks(self.a_stride).take(self.depth);
        let b_rows = || self.b.chunks(self.b_stride).take(self.depth);
        let tiles = self.out.chunks_mut(ROWS * self.out_stride).take(self.rows / ROWS);
        for (tile, rows) in tiles.enumerate() {
            for column in (0..self.b_stride).step_by(lanes) {
                let mut sums = [ops.zero(); ROWS];
                for (a, b) in a_rows().zip(b_rows()) {
                    let (Some(a), Some(b)) = (a.as_chunks::<ROWS>().0.get(tile), b.get(column..))
                    else {
                        break;
                    };
                    let b = ops.load(b);
                    for (sum, a) in sums.iter_mut().zip(a) {
                        *sum = ops.mul_add(ops.splat(*a), b, *sum);
                    }
                }
                for (row, sum) in rows.chunks_mut(self.out_stride).zip(sums) {
                    let Some(out) = row.get_mut(column..) else { break };
                    let sum = if self.add { ops.add(sum, ops.load(out)) } else { sum };
                    ops.store(sum, out);
                }
            }
        }
    }
}

/// The next multiple of the columns of a tile.
pub(crate) fn padded(length: usize) -> usize {
    length.next_multiple_of(COLUMNS)
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
    fn a_product_of_tiles_is_that_of_a_loop() {
        let (depth, rows, columns) = (5, 16, 32);
        let a: Vec<f32> = (0..depth * rows).map(|at| ((at * 7) % 13) as f32).collect();
        let b: Vec<f32> = (0..depth * columns).map(|at| ((at * 5) % 11) as f32).collect();
        let mut out = vec![1.0; rows * columns];
        for (add, extra) in [(true, 1.0), (false, 0.0)] {
            TileProduct {
                a: &a,
                a_stride: rows,
                b: &b,
                b_stride: columns,
                depth,
                out: &mut out,
                out_stride: columns,
                rows,
                add,
            }
            .dispatch();
            for (at, value) in out.iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                let sum: f32 =
                    (0..depth).map(|k| a[k * rows + row] * b[k * columns + column]).sum();
                assert_eq!(*value, sum + extra);
            }
        }
        assert_eq!((padded(1), padded(16), padded(17)), (16, 16, 32));
    }
}
