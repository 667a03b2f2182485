//! From the logits of a row to the log-probability of its token and the entropy, and back.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp, SimdUnaryOp};
use rten_vecmath::Exp;

use crate::simd::{load, store};

/// What a row says: of its token, and of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowScore {
    /// The log-probability of the token, in nats.
    pub log_prob: f64,
    /// The entropy, in nats.
    pub entropy: f64,
    /// The logarithm of the sum of the exponentials of the logits over the temperature.
    pub log_sum: f64,
}

/// The derivative of a loss with respect to both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowGradient {
    /// With respect to the log-probability.
    pub log_prob: f32,
    /// With respect to the entropy.
    pub entropy: f32,
}

/// Scores a row of logits, which are multiplied by `inverse_temperature`.
pub fn score(logits: &mut [f32], token: u32, inverse_temperature: f32) -> RowScore {
    let sums = Sums { logits, scale: inverse_temperature }.dispatch();
    let log_sum = f64::from(sums.greatest) + f64::from(sums.exponentials).ln();
    let logit = logits.get(token as usize).copied().map_or(f64::NAN, f64::from);
    RowScore {
        log_prob: logit - log_sum,
        entropy: log_sum - f64::from(sums.weighted) / f64::from(sums.exponentials),
        log_sum,
    }
}

/// Scores a row, and makes the logits their own gradient.
pub fn backward(logits: &mut [f32], token: u32, inverse_temperature: f32, gradient: RowGradient) {
    let score = score(logits, token, inverse_temperature);
    #[expect(clippy::cast_possible_truncation, reason = "the gradient is f32")]
    let (log_sum, entropy) = (score.log_sum as f32, score.entropy as f32);
    Backward { logits, log_sum, entropy, gradient, scale: inverse_temperature }.dispatch();
    if let Some(logit) = logits.get_mut(token as usize) {
        *logit += gradient.log_prob * inverse_temperature;
    }
}

struct RowSums {
    greatest: f32,
    /// Of `exp(logit - greatest)`.
    exponentials: f32,
    /// Of `exp(logit - greatest) * logit`.
    weighted: f32,
}

struct Sums<'a> {
    logits: &'a mut [f32],
    scale: f32,
}

impl SimdOp for Sums<'_> {
    type Output = RowSums;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> RowSums {
        let ops = isa.f32();
        let lanes = ops.len();
        let (scale, lowest) = (ops.splat(self.scale), ops.splat(f32::MIN));
        let mut greatest = lowest;
        for logits in self.logits.chunks_mut(lanes) {
            let (values, mask) = ops.load_pad(logits);
            let values = ops.mul(values, scale);
            store(ops, values, logits, 0);
            greatest = ops.max(greatest, ops.select(values, lowest, mask));
        }
        let greatest = greatest.to_array().into_iter().fold(f32::MIN, f32::max);
        let (mut exponentials, mut weighted) = (ops.zero(), ops.zero());
        for logits in self.logits.chunks(lanes) {
            let (values, mask) = ops.load_pad(logits);
            let power = Exp {}.eval(isa, ops.sub(values, ops.splat(greatest)));
            let power = ops.select(power, ops.zero(), mask);
            exponentials = ops.add(exponentials, power);
            weighted = ops.mul_add(power, values, weighted);
        }
        RowSums { greatest, exponentials: ops.sum(exponentials), weighted: ops.sum(weighted) }
    }
}

/// `p_j` being the probability of a token, `dlog p_t/dz_j = [j = t] - p_j` and
/// `dH/dz_j = -p_j (log p_j + H)`; the term of the token itself is added by the caller.
struct Backward<'a> {
    logits: &'a mut [f32],
    log_sum: f32,
    entropy: f32,
    gradient: RowGradient,
    scale: f32,
}

impl SimdOp for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let (log_sum, entropy) = (ops.splat(self.log_sum), ops.splat(self.entropy));
        let by_log_prob = ops.splat(-self.gradient.log_prob * self.scale);
        let by_entropy = ops.splat(-self.gradient.entropy * self.scale);
        for at in (0..self.logits.len()).step_by(ops.len()) {
            let log_prob = ops.sub(load(ops, self.logits, at), log_sum);
            let probability = Exp {}.eval(isa, log_prob);
            let slope = ops.mul_add(ops.add(log_prob, entropy), by_entropy, by_log_prob);
            store(ops, ops.mul(probability, slope), self.logits, at);
        }
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]
mod tests {
    use super::*;

    #[test]
    fn a_uniform_row_and_one_by_hand() {
        let uniform = score(&mut [2.0; 5], 3, 1.0);
        assert!((uniform.entropy - 5.0_f64.ln()).abs() < 1e-6);
        assert!((uniform.log_prob + 5.0_f64.ln()).abs() < 1e-6);
        // At temperature 2 the logits are 0 and ln 3: probabilities of 1/4 and 3/4.
        let row = score(&mut [0.0, 2.0 * 3.0_f32.ln()], 1, 0.5);
        assert!((row.log_prob - 0.75_f64.ln()).abs() < 1e-6);
        let entropy = -(0.25 * 0.25_f64.ln() + 0.75 * 0.75_f64.ln());
        assert!((row.entropy - entropy).abs() < 1e-6);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        let logits: Vec<f32> = (0..21).map(|at| ((at * 7) % 5) as f32 - 2.0).collect();
        let gradient = RowGradient { log_prob: 1.3, entropy: -0.7 };
        let mut slopes = logits.clone();
        backward(&mut slopes, 4, 0.8, gradient);
        let loss = |logits: &[f32]| {
            let score = score(&mut logits.to_vec(), 4, 0.8);
            1.3 * score.log_prob - 0.7 * score.entropy
        };
        for at in 0..logits.len() {
            let moved = |by: f32| {
                let mut moved = logits.clone();
                moved[at] += by;
                loss(&moved)
            };
            let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            assert!((slope - f64::from(slopes[at])).abs() < 1e-4, "{at}: {slope} {}", slopes[at]);
        }
    }
}
