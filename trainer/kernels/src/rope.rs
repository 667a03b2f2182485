//! Rotary positions ("`RoFormer`", section 3.2), in the layout of transformers: dimension `i` of a head is
//! rotated with dimension `i + head_dim / 2`.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use crate::simd::{load, store};

/// Cosines and sines of the angles of the first positions.
#[derive(Clone, Debug, Default)]
pub struct Rotations {
    half: usize,
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    /// By the angle of the position.
    Forward,
    /// Back, which is the gradient of it.
    Back,
}

impl Rotations {
    /// Those of the positions below `positions`, by the angle of one position for each pair of
    /// dimensions.
    pub fn new(frequencies: &[f32], positions: usize) -> Self {
        let mut rotations = Self { half: frequencies.len(), ..Self::default() };
        #[expect(clippy::cast_precision_loss, reason = "as transformers: positions are f32")]
        let angles = (0..positions)
            .flat_map(|at| frequencies.iter().map(move |frequency| at as f32 * frequency));
        for angle in angles {
            let (sine, cosine) = angle.sin_cos();
            rotations.sines.push(sine);
            rotations.cosines.push(cosine);
        }
        rotations
    }

    /// Rotates each head of a row at its position.
    pub fn turn(&self, heads: &mut [f32], position: usize, turn: Turn) {
        let span = position * self.half..(position + 1) * self.half;
        let (Some(cosines), Some(sines)) = (self.cosines.get(span.clone()), self.sines.get(span))
        else {
            return;
        };
        Rotate { heads, cosines, sines, sign: if turn == Turn::Forward { 1.0 } else { -1.0 } }
            .dispatch();
    }
}

struct Rotate<'a> {
    heads: &'a mut [f32],
    cosines: &'a [f32],
    sines: &'a [f32],
    sign: f32,
}

impl SimdOp for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let (lanes, sign) = (ops.len(), ops.splat(self.sign));
        let half = self.cosines.len();
        for head in self.heads.chunks_exact_mut((2 * half).max(1)) {
            let (first, second) = head.split_at_mut(half);
            for at in (0..half).step_by(lanes) {
                let (x, y) = (load(ops, first, at), load(ops, second, at));
                let cosine = load(ops, self.cosines, at);
                let sine = ops.mul(load(ops, self.sines, at), sign);
                store(ops, ops.sub(ops.mul(x, cosine), ops.mul(y, sine)), first, at);
                store(ops, ops.mul_add(y, cosine, ops.mul(x, sine)), second, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_and_its_way_back() {
        let rotations = Rotations::new(&[1.0, 0.1], 4);
        let mut row = [1.0, 2.0, 0.0, 0.5, -1.0, 0.0, 3.0, 1.0];
        let before = row;
        rotations.turn(&mut row, 3, Turn::Forward);
        assert!((row[0] - 3.0_f32.cos()).abs() < 1e-6 && (row[2] - 3.0_f32.sin()).abs() < 1e-6);
        let second = 2.0 * 0.3_f32.cos() - 0.5 * 0.3_f32.sin();
        assert!((row[1] - second).abs() < 1e-6);
        rotations.turn(&mut row, 3, Turn::Back);
        assert!(row.iter().zip(before).all(|(after, before)| (after - before).abs() < 1e-6));
    }
}
