//! Causal attention with grouped heads over one sequence ("Attention Is All You Need", section 3.2;
//! "GQA", section 2.2). Queries go by blocks, and the backward pass computes the weights of a block
//! again, so that memory grows with the length of a sequence and not with its square.
//!
//! The weights of a block are kept as `[keys, queries]`: the softmax of all queries of a block then goes
//! along the lanes of vectors.

use rten_simd::ops::{BitOps, FloatOps, NumOps};
use rten_simd::{Isa, SimdOp, SimdUnaryOp};
use rten_vecmath::Exp;

use crate::simd::transpose;
use crate::tiles::{TileProduct, padded};

/// Queries of a block.
const BLOCK: usize = 64;

/// The heads of a row: queries, then keys, then values.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Heads of the queries.
    pub queries: usize,
    /// Heads of the keys, and of the values.
    pub keys: usize,
    /// Values of a head.
    pub width: usize,
}

impl Heads {
    /// Values of a row of queries, keys and values.
    pub fn row(self) -> usize {
        (self.queries + 2 * self.keys) * self.width
    }

    /// Values of a row of the result.
    pub fn out_row(self) -> usize {
        self.queries * self.width
    }

    fn scale(self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "the width of a head is far below 2^24")]
        let width = self.width as f32;
        1.0 / width.sqrt()
    }

    /// The head of the keys that serves a head of the queries.
    pub fn key_of(self, query: usize) -> usize {
        query / (self.queries / self.keys.max(1)).max(1)
    }
}

/// Memory that is used again from one sequence to the next.
#[derive(Default)]
pub struct Scratch {
    keys: Side,
    values: Side,
    queries: Side,
    gradients: Side,
    weights: Vec<f32>,
    weight_gradients: Vec<f32>,
    transposed: Vec<f32>,
    out: Vec<f32>,
    key_gradients: Vec<f32>,
    value_gradients: Vec<f32>,
}

/// One head of some rows, padded, as it is and transposed.
#[derive(Default)]
struct Side {
    rows: Vec<f32>,
    columns: Vec<f32>,
    width: usize,
    length: usize,
}

impl Side {
    /// Takes `width` values from `first` on of each row.
    fn fill(&mut self, rows: &[f32], row: usize, columns: std::ops::Range<usize>, scale: f32) {
        let count = rows.len() / row.max(1);
        self.width = padded(columns.len());
        self.length = padded(count);
        self.rows.clear();
        for row in rows.chunks_exact(row.max(1)) {
            let values = &row[columns.clone()];
            self.rows.extend(values.iter().map(|value| value * scale));
            self.rows.extend(std::iter::repeat_n(0.0, self.width - values.len()));
        }
        self.rows.resize(self.length * self.width, 0.0);
        self.columns.resize(self.length * self.width, 0.0);
        transpose(&self.rows, self.width, &mut self.columns, self.length);
    }
}

/// The attention of one sequence: `qkv` is `[tokens, row]`, `out` `[tokens, out_row]`.
pub fn forward(heads: Heads, qkv: &[f32], out: &mut [f32], scratch: &mut Scratch) {
    let (row, out_row) = (heads.row(), heads.out_row());
    for key in 0..heads.keys {
        scratch.load_keys(heads, qkv, key);
        for query in (0..heads.queries).filter(|query| heads.key_of(*query) == key) {
            let blocks = qkv.chunks(BLOCK * row).zip(out.chunks_mut(BLOCK * out_row));
            for (at, (qkv, out)) in blocks.enumerate() {
                scratch.weigh(heads, qkv, query, at * BLOCK);
                scratch.mix_values();
                let columns = query * heads.width..(query + 1) * heads.width;
                let target = Target { into: out, row: out_row, columns };
                target.write(&scratch.out, scratch.values.width, 1.0);
            }
        }
    }
}

/// What the backward pass of the attention reads and writes.
pub struct AttentionBackward<'a> {
    /// Those of a row of `qkv`.
    pub heads: Heads,
    /// `[tokens, row]`.
    pub qkv: &'a [f32],
    /// The gradient of the result, `[tokens, out_row]`.
    pub gradient: &'a [f32],
    /// The gradient of `qkv` is written to it.
    pub into: &'a mut [f32],
}

impl AttentionBackward<'_> {
    /// Computes the gradient.
    pub fn run(self, scratch: &mut Scratch) {
        let heads = self.heads;
        let (row, out_row, width) = (heads.row(), heads.out_row(), heads.width);
        for key in 0..heads.keys {
            scratch.load_keys(heads, self.qkv, key);
            for query in (0..heads.queries).filter(|query| heads.key_of(*query) == key) {
                let columns = query * width..(query + 1) * width;
                let blocks =
                    self.qkv.chunks(BLOCK * row).zip(self.gradient.chunks(BLOCK * out_row));
                let blocks = blocks.zip(self.into.chunks_mut(BLOCK * row));
                for (at, ((qkv, gradient), into)) in blocks.enumerate() {
                    scratch.weigh(heads, qkv, query, at * BLOCK);
                    scratch.gradients.fill(gradient, out_row, columns.clone(), 1.0);
                    scratch.block_backward();
                    let target = Target { into, row, columns: columns.clone() };
                    target.write(&scratch.out, scratch.keys.width, heads.scale());
                }
            }
            let key_side = (heads.queries + key, &scratch.key_gradients);
            let value_side = (heads.queries + heads.keys + key, &scratch.value_gradients);
            for (head, gradients) in [key_side, value_side] {
                let columns = head * width..(head + 1) * width;
                let target = Target { into: &mut *self.into, row, columns };
                target.write(gradients, scratch.keys.width, 1.0);
            }
        }
    }
}

impl Scratch {
    fn load_keys(&mut self, heads: Heads, qkv: &[f32], key: usize) {
        let first = (heads.queries + key) * heads.width;
        self.keys.fill(qkv, heads.row(), first..first + heads.width, 1.0);
        let first = first + heads.keys * heads.width;
        self.values.fill(qkv, heads.row(), first..first + heads.width, 1.0);
        for gradients in [&mut self.key_gradients, &mut self.value_gradients] {
            gradients.clear();
            gradients.resize(self.keys.rows.len(), 0.0);
        }
    }

    /// How many keys the queries of a block see at most, padded: those up to its end.
    fn seen(&self) -> usize {
        self.weights.len() / self.queries.length.max(1)
    }

    /// The weights `[keys, queries]` of a block of queries whose first is `first`.
    fn weigh(&mut self, heads: Heads, qkv: &[f32], query: usize, first: usize) {
        let columns = query * heads.width..(query + 1) * heads.width;
        self.queries.fill(qkv, heads.row(), columns, heads.scale());
        let queries = self.queries.length;
        let seen = (first + queries).min(self.keys.length);
        self.weights.resize(seen * queries, 0.0);
        TileProduct {
            a: &self.keys.columns,
            a_stride: self.keys.length,
            b: &self.queries.columns,
            b_stride: queries,
            depth: self.keys.width,
            out: &mut self.weights,
            out_stride: queries,
            rows: seen,
            add: false,
        }
        .dispatch();
        let later = self.weights.chunks_mut(queries).skip(first).enumerate();
        for (at, row) in later {
            let hidden = at.min(row.len());
            row.iter_mut().take(hidden).for_each(|weight| *weight = f32::NEG_INFINITY);
        }
        ColumnSoftmax { weights: &mut self.weights, columns: queries }.dispatch();
    }

    /// `out[i] = sum_j weight[j, i] * value[j]`.
    fn mix_values(&mut self) {
        let (queries, width, seen) = (self.queries.length, self.values.width, self.seen());
        self.out.resize(queries * width, 0.0);
        TileProduct {
            a: &self.weights,
            a_stride: queries,
            b: &self.values.rows,
            b_stride: width,
            depth: seen,
            out: &mut self.out,
            out_stride: width,
            rows: queries,
            add: false,
        }
        .dispatch();
    }

    /// The gradients of a block: of its queries into `out`, of keys and values added up.
    fn block_backward(&mut self) {
        let (queries, width, seen) = (self.queries.length, self.values.width, self.seen());
        self.weight_gradients.resize(seen * queries, 0.0);
        TileProduct {
            a: &self.values.columns,
            a_stride: self.values.length,
            b: &self.gradients.columns,
            b_stride: queries,
            depth: width,
            out: &mut self.weight_gradients,
            out_stride: queries,
            rows: seen,
            add: false,
        }
        .dispatch();
        self.transposed.resize(seen * queries, 0.0);
        add_to_keys(
            &self.weights,
            &mut self.transposed,
            &self.gradients,
            &mut self.value_gradients,
        );
        ColumnSoftmaxBackward {
            weights: &self.weights,
            gradients: &mut self.weight_gradients,
            columns: queries,
        }
        .dispatch();
        let scores = &self.weight_gradients;
        add_to_keys(scores, &mut self.transposed, &self.queries, &mut self.key_gradients);
        self.out.resize(queries * width, 0.0);
        TileProduct {
            a: &self.weight_gradients,
            a_stride: queries,
            b: &self.keys.rows,
            b_stride: width,
            depth: seen,
            out: &mut self.out,
            out_stride: width,
            rows: queries,
            add: false,
        }
        .dispatch();
    }
}

/// `into[j] += sum_i weights[j, i] * side[i]`.
fn add_to_keys(weights: &[f32], transposed: &mut [f32], side: &Side, into: &mut [f32]) {
    let seen = weights.len() / side.length.max(1);
    transpose(weights, side.length, transposed, seen);
    TileProduct {
        a: transposed,
        a_stride: seen,
        b: &side.rows,
        b_stride: side.width,
        depth: side.length,
        out: into,
        out_stride: side.width,
        rows: seen,
        add: true,
    }
    .dispatch();
}

/// Some columns of rows.
struct Target<'a> {
    into: &'a mut [f32],
    row: usize,
    columns: std::ops::Range<usize>,
}

impl Target<'_> {
    /// Writes padded rows of this width to it, times a factor.
    fn write(self, from: &[f32], width: usize, scale: f32) {
        let rows = self.into.chunks_exact_mut(self.row.max(1));
        for (from, into) in from.chunks(width.max(1)).zip(rows) {
            let into = &mut into[self.columns.clone()];
            for (to, from) in into.iter_mut().zip(from) {
                *to = from * scale;
            }
        }
    }
}

/// The softmax of each column, in place.
struct ColumnSoftmax<'a> {
    weights: &'a mut [f32],
    columns: usize,
}

impl SimdOp for ColumnSoftmax<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        for column in (0..self.columns).step_by(ops.len()) {
            let mut greatest = ops.splat(f32::MIN);
            for row in self.weights.chunks_exact(self.columns) {
                let Some(row) = row.get(column..) else { break };
                greatest = ops.max(greatest, ops.load(row));
            }
            let mut sum = ops.zero();
            for row in self.weights.chunks_exact_mut(self.columns) {
                let Some(row) = row.get_mut(column..) else { break };
                let weight = Exp {}.eval(isa, ops.sub(ops.load(row), greatest));
                sum = ops.add(sum, weight);
                ops.store(weight, row);
            }
            let scale = ops.div(ops.one(), sum);
            for row in self.weights.chunks_exact_mut(self.columns) {
                let Some(row) = row.get_mut(column..) else { break };
                ops.store(ops.mul(ops.load(row), scale), row);
            }
        }
    }
}

/// The gradients of weights become those of scores: `w * (dw - sum(w * dw))` in each column.
struct ColumnSoftmaxBackward<'a> {
    weights: &'a [f32],
    gradients: &'a mut [f32],
    columns: usize,
}

impl SimdOp for ColumnSoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let columns = self.columns;
        for column in (0..columns).step_by(ops.len()) {
            let mut dot = ops.zero();
            let rows = self.weights.chunks_exact(columns).zip(self.gradients.chunks_exact(columns));
            for (weights, gradients) in rows {
                let (Some(weights), Some(gradients)) =
                    (weights.get(column..), gradients.get(column..))
                else {
                    break;
                };
                dot = ops.mul_add(ops.load(weights), ops.load(gradients), dot);
            }
            let gradients = self.gradients.chunks_exact_mut(columns);
            for (weights, gradients) in self.weights.chunks_exact(columns).zip(gradients) {
                let (Some(weights), Some(gradients)) =
                    (weights.get(column..), gradients.get_mut(column..))
                else {
                    break;
                };
                let centred = ops.sub(ops.load(gradients), dot);
                ops.store(ops.mul(ops.load(weights), centred), gradients);
            }
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "numbers of a test are small"
)]
mod tests {
    use super::*;

    const HEADS: Heads = Heads { queries: 4, keys: 2, width: 6 };

    fn values(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 37 + seed * 11) % 29) as f32 / 14.0 - 1.0).collect()
    }

    /// One query after another, in `f64`.
    fn plain(heads: Heads, qkv: &[f32]) -> Vec<f32> {
        let (row, width) = (heads.row(), heads.width);
        let at =
            |token: usize, head: usize, of: usize| f64::from(qkv[token * row + head * width + of]);
        let mut out = Vec::new();
        for token in 0..qkv.len() / row {
            for query in 0..heads.queries {
                let key = heads.queries + query / (heads.queries / heads.keys);
                let weights: Vec<f64> = (0..=token)
                    .map(|other| {
                        let dot: f64 =
                            (0..width).map(|of| at(token, query, of) * at(other, key, of)).sum();
                        (dot / (width as f64).sqrt()).exp()
                    })
                    .collect();
                let sum: f64 = weights.iter().sum();
                out.extend((0..width).map(|of| {
                    let value = |other| at(other, key + heads.keys, of) * weights[other] / sum;
                    (0..=token).map(value).sum::<f64>() as f32
                }));
            }
        }
        out
    }

    #[test]
    fn attention_is_that_of_a_loop() {
        for tokens in [1, 2, 17, 63, 64, 65, 150] {
            let qkv = values(tokens * HEADS.row(), tokens);
            let mut out = vec![0.0; tokens * HEADS.out_row()];
            forward(HEADS, &qkv, &mut out, &mut Scratch::default());
            let worst = out.iter().zip(plain(HEADS, &qkv)).map(|(one, other)| (one - other).abs());
            assert!(worst.fold(0.0, f32::max) < 1e-5, "{tokens} tokens");
        }
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for tokens in [1, 5, 70] {
            let qkv = values(tokens * HEADS.row(), 3);
            let gradient = values(tokens * HEADS.out_row(), 5);
            let mut into = vec![f32::NAN; qkv.len()];
            AttentionBackward { heads: HEADS, qkv: &qkv, gradient: &gradient, into: &mut into }
                .run(&mut Scratch::default());
            let loss = |qkv: &[f32]| -> f64 {
                let out = plain(HEADS, qkv);
                out.iter().zip(&gradient).map(|(out, by)| f64::from(out * by)).sum()
            };
            for at in (0..qkv.len()).step_by(qkv.len() / 40 + 1) {
                let moved = |by: f32| {
                    let mut moved = qkv.clone();
                    moved[at] += by;
                    loss(&moved)
                };
                let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                assert!(
                    (slope - f64::from(into[at])).abs() < 2e-3,
                    "{tokens}: {slope} {}",
                    into[at]
                );
            }
        }
    }
}
