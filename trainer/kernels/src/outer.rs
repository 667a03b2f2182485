//! `out += a^T @ b`: the gradient of the weights of a linear layer, where a row of `a` and of `b` belongs
//! to a token. Both are copied into panels row by row, which a product of a transposed matrix cannot do.

use rayon::prelude::*;
use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use crate::buffers::Buffers;
use crate::simd::{load, store};

/// Columns of `a` in a panel: rows of a tile of the result.
const ROWS: usize = 6;
/// Columns of `b` in a panel: columns of a tile, two of the widest vectors.
const COLUMNS: usize = 32;
/// The most rows of both in a panel.
const DEPTH: usize = 256;
/// Rows of the result that are one task of a thread.
const TASK: usize = 16 * ROWS;

/// Adds to `out`, which is `[a_width, b_width]`; `a` is `[tokens, a_width]`, `b` `[tokens, b_width]`.
pub fn add_product(a: (&[f32], usize), b: (&[f32], usize), out: &mut [f32], buffers: &Buffers) {
    let ((a, a_width), (b, b_width)) = (a, b);
    if a_width == 0 || b_width == 0 {
        return;
    }
    let tokens = a.len() / a_width;
    let depth = tokens.div_ceil(tokens.div_ceil(DEPTH).max(1)).max(1);
    let panels = pack::<COLUMNS>((b, b_width), 0..b_width, depth, buffers);
    out.par_chunks_mut(TASK * b_width).enumerate().for_each(|(at, out)| {
        let columns = at * TASK..(at * TASK + TASK).min(a_width);
        let a_panels = pack::<ROWS>((a, a_width), columns, depth, buffers);
        add_blocks(&a_panels, &panels, depth, (out, b_width));
        buffers.give([a_panels]);
    });
    buffers.give([panels]);
}

/// Some columns of a matrix as panels of `WIDTH` columns and `depth` rows, padded with zeros: all those
/// of the first rows, then those of the next.
fn pack<const WIDTH: usize>(
    (values, width): (&[f32], usize),
    columns: std::ops::Range<usize>,
    depth: usize,
    buffers: &Buffers,
) -> Vec<f32> {
    let count = columns.len().div_ceil(WIDTH);
    let blocks = (values.len() / width).div_ceil(depth);
    let mut panels = buffers.take(blocks * count * depth * WIDTH);
    let of_block = panels.chunks_exact_mut((count * depth * WIDTH).max(1));
    for (block, panels) in values.chunks(depth * width).zip(of_block) {
        for (at, panel) in panels.chunks_exact_mut(depth * WIDTH).enumerate() {
            let first = columns.start + at * WIDTH;
            let used = WIDTH.min(columns.end - first);
            let places = panel.as_chunks_mut::<WIDTH>().0.iter_mut();
            let rows = block[first..].chunks(width);
            for (to, row) in places.zip(rows) {
                match row.first_chunk::<WIDTH>() {
                    Some(row) if used == WIDTH => *to = *row,
                    _ => copy_padded(&row[..used], to),
                }
            }
        }
        let rest = (depth - block.len() / width) * WIDTH;
        for panel in panels.chunks_exact_mut(depth * WIDTH).filter(|_| rest > 0) {
            panel[depth * WIDTH - rest..].fill(0.0);
        }
    }
    panels
}

fn copy_padded<const WIDTH: usize>(from: &[f32], to: &mut [f32; WIDTH]) {
    to.fill(0.0);
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// Adds the products of all panels to some rows of the result.
fn add_blocks(a: &[f32], b: &[f32], depth: usize, (out, width): (&mut [f32], usize)) {
    let a_block = (out.len() / width).div_ceil(ROWS) * depth * ROWS;
    let b_block = width.div_ceil(COLUMNS) * depth * COLUMNS;
    for (a, b) in a.chunks_exact(a_block.max(1)).zip(b.chunks_exact(b_block.max(1))) {
        for (at, b) in b.chunks_exact(depth * COLUMNS).enumerate() {
            let tiles = out.chunks_mut(ROWS * width);
            for (out, a) in tiles.zip(a.chunks_exact(depth * ROWS)) {
                Tile { a, b, out, width, first: at * COLUMNS }.dispatch();
            }
        }
    }
}

struct Tile<'a> {
    a: &'a [f32],
    b: &'a [f32],
    /// The rows of the tile, of this width.
    out: &'a mut [f32],
    width: usize,
    /// The first column of the tile.
    first: usize,
}

impl SimdOp for Tile<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let (a_rows, _) = self.a.as_chunks::<ROWS>();
        let (b_rows, _) = self.b.as_chunks::<COLUMNS>();
        for part in (0..COLUMNS).step_by(2 * ops.len()) {
            let mut sums = [[ops.zero(); 2]; ROWS];
            for (a, b) in a_rows.iter().zip(b_rows) {
                let [left, right] = ops.load_many::<2>(&b[part..]);
                for (sums, a) in sums.iter_mut().zip(a) {
                    let a = ops.splat(*a);
                    *sums = [ops.mul_add(a, left, sums[0]), ops.mul_add(a, right, sums[1])];
                }
            }
            let first = self.first + part;
            for (row, sums) in self.out.chunks_exact_mut(self.width).zip(sums) {
                for (at, sum) in sums.into_iter().enumerate() {
                    let at = first + at * ops.len();
                    store(ops, ops.add(load(ops, row, at), sum), row, at);
                }
            }
        }
    }
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
    fn a_product_is_that_of_a_loop() {
        for (tokens, a_width, b_width) in [(1, 1, 1), (3, 6, 32), (300, 7, 33), (520, 100, 5)] {
            let value = |at: usize, by: usize| ((at * by) % 19) as f32 - 9.0;
            let a: Vec<f32> = (0..tokens * a_width).map(|at| value(at, 7)).collect();
            let b: Vec<f32> = (0..tokens * b_width).map(|at| value(at, 5)).collect();
            let mut out = vec![1.0; a_width * b_width];
            add_product((&a, a_width), (&b, b_width), &mut out, &Buffers::default());
            for (at, value) in out.iter().enumerate() {
                let (row, column) = (at / b_width, at % b_width);
                let sum: f32 =
                    (0..tokens).map(|k| a[k * a_width + row] * b[k * b_width + column]).sum();
                assert_eq!(*value, sum + 1.0, "{tokens} {a_width} {b_width}");
            }
        }
    }
}
