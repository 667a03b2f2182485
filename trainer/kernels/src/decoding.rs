//! The attention of one token over the keys and values of a cache.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};
use rten_vecmath::Softmax;

use crate::simd::{load, store};

/// The keys and values of one head, of which the first `length` positions are in use.
pub struct CachedHead<'a> {
    /// `[width, capacity]`; the capacity is a multiple of 16.
    pub keys: &'a [f32],
    /// `[capacity, width]`.
    pub values: &'a [f32],
    /// Values of a position.
    pub width: usize,
    /// Positions that there is room for.
    pub capacity: usize,
    /// Positions in use.
    pub length: usize,
}

impl CachedHead<'_> {
    /// What a query attends to; `scores` is memory that is used again.
    pub fn attend(&self, query: &[f32], scores: &mut Vec<f32>, out: &mut [f32]) {
        #[expect(clippy::cast_precision_loss, reason = "the width of a head is far below 2^24")]
        let scale = 1.0 / (self.width as f32).sqrt();
        scores.clear();
        scores.resize(self.length.next_multiple_of(16), 0.0);
        Scores { head: self, query, scale, into: scores }.dispatch();
        let seen = &mut scores[..self.length];
        Softmax::new_mut(seen).dispatch();
        Mix { head: self, weights: scores, out }.dispatch();
    }
}

struct Scores<'a> {
    head: &'a CachedHead<'a>,
    query: &'a [f32],
    scale: f32,
    into: &'a mut [f32],
}

impl SimdOp for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        for (at, scores) in self.into.chunks_exact_mut(ops.len()).enumerate() {
            let mut sum = ops.zero();
            let keys = self.head.keys.chunks_exact(self.head.capacity.max(1));
            for (query, keys) in self.query.iter().zip(keys) {
                let Some(keys) = keys.get(at * ops.len()..) else { break };
                sum = ops.mul_add(ops.splat(*query * self.scale), ops.load(keys), sum);
            }
            ops.store(sum, scores);
        }
    }
}

struct Mix<'a> {
    head: &'a CachedHead<'a>,
    weights: &'a [f32],
    out: &'a mut [f32],
}

impl SimdOp for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let width = self.head.width.max(1);
        for at in (0..self.out.len()).step_by(ops.len()) {
            let mut sum = ops.zero();
            let values = self.head.values.chunks_exact(width).take(self.head.length);
            for (weight, values) in self.weights.iter().zip(values) {
                sum = ops.mul_add(ops.splat(*weight), load(ops, values, at), sum);
            }
            store(ops, sum, self.out, at);
        }
    }
}
