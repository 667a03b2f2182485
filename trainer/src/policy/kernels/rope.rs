//! Rotary positions ("`RoFormer`", section 3.2), in the layout of transformers: dimension `i` of a head is
//! rotated with dimension `i + head_dim / 2`.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use super::simd::{load, store};
use crate::policy::architecture::{Architecture, RopeScaling};

/// Cosines and sines of the angles of the first positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rotations {
    half: usize,
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    /// By the angle of the position.
    Forward,
    /// Back, which is the gradient of it.
    Back,
}

impl Rotations {
    /// Those of the positions below `positions`.
    pub(crate) fn new(architecture: &Architecture, positions: usize) -> Self {
        let frequencies = frequencies(architecture);
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
    pub(crate) fn turn(&self, heads: &mut [f32], position: usize, turn: Turn) {
        let span = position * self.half..(position + 1) * self.half;
        let (Some(cosines), Some(sines)) = (self.cosines.get(span.clone()), self.sines.get(span))
        else {
            return;
        };
        Rotate { heads, cosines, sines, sign: if turn == Turn::Forward { 1.0 } else { -1.0 } }
            .dispatch();
    }
}

/// The angle of one position, for each pair of dimensions.
fn frequencies(architecture: &Architecture) -> Vec<f32> {
    let half = architecture.head_dim / 2;
    #[expect(clippy::cast_precision_loss, reason = "the width of a head is far below 2^52")]
    let exponents = (0..half).map(|at| at as f64 / half as f64);
    #[expect(clippy::cast_possible_truncation, reason = "as transformers: frequencies are f32")]
    let scaled = exponents.map(|exponent| {
        scale(architecture.rope_theta.powf(-exponent), architecture.rope_scaling) as f32
    });
    scaled.collect()
}

#[expect(clippy::cast_precision_loss, reason = "positions are far below 2^52")]
fn scale(frequency: f64, scaling: RopeScaling) -> f64 {
    match scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        RopeScaling::Llama3 {
            factor,
            low_freq_factor,
            high_freq_factor,
            original_max_position_embeddings,
        } => {
            let turns = original_max_position_embeddings as f64 * frequency / std::f64::consts::TAU;
            let share = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
            let kept = if turns < low_freq_factor {
                0.0
            } else if turns > high_freq_factor {
                1.0
            } else {
                share
            };
            frequency * (kept + (1.0 - kept) / factor)
        }
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
    use serde_json::json;

    use super::*;

    fn architecture(scaling: RopeScaling) -> Architecture {
        let config = json!({
            "model_type": "llama", "vocab_size": 8, "hidden_size": 8, "intermediate_size": 8,
            "num_hidden_layers": 1, "num_attention_heads": 2, "rope_theta": 100.0,
        });
        let mut architecture = Architecture::from_config(&config).unwrap();
        architecture.rope_scaling = scaling;
        architecture
    }

    #[test]
    fn a_turn_and_its_way_back() {
        let rotations = Rotations::new(&architecture(RopeScaling::None), 4);
        let mut row = [1.0, 2.0, 0.0, 0.5, -1.0, 0.0, 3.0, 1.0];
        let before = row;
        rotations.turn(&mut row, 3, Turn::Forward);
        assert!((row[0] - 3.0_f32.cos()).abs() < 1e-6 && (row[2] - 3.0_f32.sin()).abs() < 1e-6);
        let second = 2.0 * 0.3_f32.cos() - 0.5 * 0.3_f32.sin();
        assert!((row[1] - second).abs() < 1e-6);
        rotations.turn(&mut row, 3, Turn::Back);
        assert!(row.iter().zip(before).all(|(after, before)| (after - before).abs() < 1e-6));
    }

    #[test]
    fn scaled_frequencies() {
        let linear = frequencies(&architecture(RopeScaling::Linear { factor: 4.0 }));
        assert_eq!(linear, [0.25, 0.025]);
        let llama3 = RopeScaling::Llama3 {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_max_position_embeddings: 20,
        };
        let scaled = frequencies(&architecture(llama3));
        let turns = 20.0 / std::f64::consts::TAU;
        let share = (turns - 1.0) / 3.0;
        assert!((f64::from(scaled[0]) - (share + (1.0 - share) / 8.0)).abs() < 1e-6);
        assert!((scaled[1] - 0.1 / 8.0).abs() < 1e-7);
    }
}
