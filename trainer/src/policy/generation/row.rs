//! A row of logits, and the tokens of it that may be drawn. Nothing here sorts a vocabulary.

use std::cmp::Ordering;

use assay_kernels::simd;
use rten_simd::SimdUnaryOp as _;
use rten_vecmath::Exp;

/// Probabilities that are added up together.
const BLOCK: usize = 1024;
/// Logits of which the greatest stands for all, when the k greatest are looked for.
const PEAK: usize = 64;
/// How far a bound on logarithms of probabilities may be off by rounding.
const SLACK: f64 = 1e-3;

/// Logits over the temperature, and the logarithm of the sum of their exponentials.
pub(super) struct Row<'a> {
    pub(super) logits: &'a [f32],
    pub(super) log_sum: f64,
}

/// Tokens that may be drawn, in the order of their ids.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidates(Vec<Candidate>);

/// A token that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    token: u32,
    /// Its probability among all tokens.
    weight: f32,
}

impl Row<'_> {
    /// The most probable token, of the lowest id among equals.
    pub(super) fn greatest(&self) -> u32 {
        let mut best = (0, f32::NEG_INFINITY);
        for (token, logit) in (0..).zip(self.logits) {
            if *logit > best.1 {
                best = (token, *logit);
            }
        }
        best.0
    }

    /// The token at a share, from 0 to below 1, of the sum of all probabilities, in the order of ids.
    pub(super) fn draw(&self, share: f64) -> u32 {
        let mut weights = self.logits.to_vec();
        self.exponentiate(&mut weights);
        let sums: Vec<f64> =
            weights.chunks(BLOCK).map(|block| f64::from(simd::sum(block))).collect();
        let mut left = share * sums.iter().sum::<f64>();
        let mut found = None;
        let blocks = (0..).step_by(BLOCK).zip(weights.chunks(BLOCK));
        for (block, sum) in blocks.zip(sums).filter(|(_, sum)| *sum > 0.0) {
            found = Some((block, left));
            if left < sum {
                break;
            }
            left -= sum;
        }
        let token = found
            .and_then(|((first, block), left)| walk((first..).zip(block.iter().copied()), left));
        token.unwrap_or(0)
    }

    /// The tokens whose logits reach a bound.
    pub(super) fn candidates(&self, bound: f32) -> Candidates {
        let reaching = (0..).zip(self.logits).filter(|(_, logit)| **logit >= bound);
        let (tokens, mut weights): (Vec<u32>, Vec<f32>) = reaching.unzip();
        self.exponentiate(&mut weights);
        let pairs = tokens.into_iter().zip(weights);
        Candidates(pairs.map(|(token, weight)| Candidate { token, weight }).collect())
    }

    /// A logit such that all tokens below it together are less probable than `mass`: each has less than
    /// an equal share of it.
    pub(super) fn negligible(&self, mass: f64) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a vocabulary has fewer than 2^52 tokens")]
        let share = mass / self.logits.len() as f64;
        #[expect(clippy::cast_possible_truncation, reason = "logits are f32")]
        let bound = (self.log_sum + share.ln() - SLACK) as f32;
        bound
    }

    /// From logits to probabilities.
    fn exponentiate(&self, logits: &mut [f32]) {
        #[expect(clippy::cast_possible_truncation, reason = "logits are f32")]
        let log_sum = self.log_sum as f32;
        for logit in logits.iter_mut() {
            *logit -= log_sum;
        }
        Exp {}.map_mut(logits);
    }
}

impl Candidates {
    /// The sum of the probabilities.
    pub(super) fn total(&self) -> f64 {
        total(&self.0)
    }

    /// Keeps the most probable tokens, up to the one with which their sum reaches `mass`; of equals
    /// those of lower ids. By quickselect: where the tokens before the middle one do not reach it, they
    /// stay, and the end is looked for after them.
    pub(super) fn keep_nucleus(&mut self, mass: f64) {
        if mass >= self.total() {
            return;
        }
        let mut order = self.0.clone();
        let (mut rest, mut before, mut last) = (order.as_mut_slice(), 0.0, None);
        while !rest.is_empty() {
            let middle = rest.len() / 2;
            let (upper, candidate, lower) = rest.select_nth_unstable_by(middle, by_probability);
            let reached = before + total(upper);
            if reached < mass {
                before = reached + f64::from(candidate.weight);
                last = Some(*candidate);
                rest = lower;
            } else {
                rest = upper;
            }
        }
        if let Some(last) = last {
            self.0.retain(|candidate| by_probability(candidate, &last).is_le());
        }
    }

    /// The token at a share, from 0 to below 1, of the sum of the probabilities.
    pub(super) fn draw(&self, share: f64) -> u32 {
        let tokens = self.0.iter().map(|candidate| (candidate.token, candidate.weight));
        walk(tokens, share * self.total()).unwrap_or(0)
    }
}

/// The k-th greatest of more than k logits, none of which is NaN.
pub(super) fn kth_greatest(logits: &[f32], k: usize) -> f32 {
    let greatest = |logits: &[f32]| logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut peaks: Vec<f32> = logits.chunks(PEAK).map(greatest).collect();
    // As many logits as there are peaks above a bound reach it, so the k-th greatest does.
    let bound = select(&mut peaks, k).unwrap_or(f32::NEG_INFINITY);
    let mut reaching: Vec<f32> = logits.iter().copied().filter(|logit| *logit >= bound).collect();
    select(&mut reaching, k).unwrap_or(bound)
}

/// The k-th greatest, where there are so many.
fn select(values: &mut [f32], k: usize) -> Option<f32> {
    let at = k.checked_sub(1).filter(|at| *at < values.len())?;
    Some(*values.select_nth_unstable_by(at, |a, b| b.total_cmp(a)).1)
}

/// The token at which the sum of the weights goes above `target`, the last that has a weight if none
/// does.
fn walk(tokens: impl Iterator<Item = (u32, f32)>, target: f64) -> Option<u32> {
    let (mut sum, mut last) = (0.0, None);
    for (token, weight) in tokens.filter(|(_, weight)| *weight > 0.0) {
        sum += f64::from(weight);
        last = Some(token);
        if sum > target {
            break;
        }
    }
    last
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "sorting compares references")]
fn by_probability(one: &Candidate, other: &Candidate) -> Ordering {
    other.weight.total_cmp(&one.weight).then(one.token.cmp(&other.token))
}

fn total(candidates: &[Candidate]) -> f64 {
    candidates.iter().map(|candidate| f64::from(candidate.weight)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONE: f32 = f32::NEG_INFINITY;

    /// A row of these probabilities.
    fn logits(probabilities: &[f32]) -> Vec<f32> {
        probabilities.iter().map(|probability| probability.ln()).collect()
    }

    fn tokens(candidates: &Candidates) -> Vec<u32> {
        candidates.0.iter().map(|candidate| candidate.token).collect()
    }

    fn nucleus(probabilities: &[f32], mass: f64) -> Vec<u32> {
        let logits = logits(probabilities);
        let mut candidates = Row { logits: &logits, log_sum: 0.0 }.candidates(NONE);
        candidates.keep_nucleus(mass);
        tokens(&candidates)
    }

    #[test]
    fn a_nucleus_by_hand() {
        let probabilities = [0.125, 0.5, 0.125, 0.25];
        assert_eq!(nucleus(&probabilities, 0.01), [1]);
        assert_eq!(nucleus(&probabilities, 0.49), [1]);
        assert_eq!(nucleus(&probabilities, 0.51), [1, 3]);
        assert_eq!(nucleus(&probabilities, 0.76), [0, 1, 3]);
        assert_eq!(nucleus(&probabilities, 0.9), [0, 1, 2, 3]);
        assert_eq!(nucleus(&probabilities, 1.0), [0, 1, 2, 3]);
        assert_eq!(nucleus(&[0.25; 4], 0.49), [0, 1]);
    }

    #[test]
    fn draws_are_in_the_order_of_ids() {
        let logits = logits(&[0.25, 0.0, 0.5, 0.25]);
        let row = Row { logits: &logits, log_sum: 0.0 };
        for (share, token) in [(0.0, 0), (0.24, 0), (0.26, 2), (0.74, 2), (0.76, 3), (0.9999, 3)] {
            assert_eq!(row.draw(share), token, "{share}");
            assert_eq!(row.candidates(NONE).draw(share), token, "{share}");
        }
    }

    #[test]
    fn a_draw_lies_in_its_block() {
        let size = 3 * BLOCK + 5;
        let mut logits = vec![NONE; size];
        for token in [7, BLOCK, 3 * BLOCK + 4] {
            logits[token] = (1.0_f32 / 3.0).ln();
        }
        let row = Row { logits: &logits, log_sum: 0.0 };
        let drawn = [0.1, 0.4, 0.7, 1.0].map(|share| row.draw(share) as usize);
        assert_eq!(drawn, [7, BLOCK, size - 1, size - 1]);
    }

    proptest! {
        #[test]
        fn the_kth_greatest_is_that_of_a_sorted_row(
            values in prop::collection::vec(-4_i8..40, 2..900),
            place in 0_usize..900,
        ) {
            let logits: Vec<f32> = values.iter().map(|value| f32::from(*value)).collect();
            let k = 1 + place % logits.len();
            let mut sorted = logits.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(kth_greatest(&logits, k).to_bits(), sorted[k - 1].to_bits());
        }

        #[test]
        fn a_nucleus_is_that_of_a_sorted_row(
            values in prop::collection::vec(0_u8..12, 1..300),
            share in 0.001_f64..1.0,
        ) {
            let logits: Vec<f32> = values.iter().map(|value| f32::from(*value) / 2.0).collect();
            let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
            let row = Row { logits: &logits, log_sum: sum.ln() };
            let all = row.candidates(NONE);
            let mut sorted = all.0.clone();
            sorted.sort_by(by_probability);
            let (mut kept, mut before) = (Vec::new(), 0.0);
            for candidate in sorted {
                if before < share {
                    kept.push(candidate.token);
                }
                before += f64::from(candidate.weight);
            }
            kept.sort_unstable();
            // Without the tokens that together have less than the rest, it is the same.
            for mut candidates in [all, row.candidates(row.negligible(1.0 - share))] {
                candidates.keep_nucleus(share);
                prop_assert_eq!(tokens(&candidates), kept.clone());
            }
        }
    }
}
