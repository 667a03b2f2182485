//! Gradients whose norm is bounded.

use rayon::prelude::*;

use crate::policy::Gradients;

/// How many gradients are added up in one piece.
const CHUNK: usize = 1 << 14;

/// Scales all gradients by `max_norm / (norm + 1e-6)` where that is below 1. Returns their norm before:
/// the root of the sum of all squares. A bound of 0 is none.
///
/// As `torch.nn.utils.clip_grad_norm_` does, it makes gradients NaN where the norm is NaN, and 0 or NaN
/// where it is infinite: whoever sees such a norm must not update weights. The squares are added in
/// double precision, so no norm of finite gradients is infinite.
pub fn clip(gradients: &mut Gradients, max_norm: f64) -> f64 {
    let squares: Vec<f64> = gradients.values().par_chunks(CHUNK).map(sum_of_squares).collect();
    // The sum of nothing is -0.
    let norm = (0.0 + squares.iter().sum::<f64>()).sqrt();
    let factor = max_norm / (norm + 1e-6);
    if max_norm > 0.0 && (factor < 1.0 || factor.is_nan()) {
        #[expect(clippy::cast_possible_truncation, reason = "weights have single precision")]
        let factor = factor as f32;
        gradients.values_mut().par_chunks_mut(CHUNK).for_each(|chunk| {
            for gradient in chunk {
                *gradient *= factor;
            }
        });
    }
    norm
}

/// Eight sums side by side, which processors have the width for.
fn sum_of_squares(values: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 8];
    let (rows, rest) = values.as_chunks::<8>();
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += f64::from(*value) * f64::from(*value);
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += f64::from(*value) * f64::from(*value);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Parameters;

    fn gradients(values: &[f32]) -> Gradients {
        let mut parameters = Parameters::default();
        parameters.push("weight", &[values.len()], values, true);
        let mut gradients = parameters.gradients();
        gradients.values_mut().copy_from_slice(values);
        gradients
    }

    #[test]
    fn a_norm_above_the_bound_is_brought_to_it() {
        let mut long = gradients(&[3.0, 0.0, -4.0]);
        assert_eq!((clip(&mut long, 2.5), long.values().len()), (5.0, 3));
        let expected = [1.5, 0.0, -2.0].map(|value: f32| value * (1.0 - 2e-7));
        for (have, expected) in long.values().iter().zip(expected) {
            assert!((have - expected).abs() < 3e-7, "{have} is not {expected}");
        }
        let mut short = gradients(&[3.0, 0.0, -4.0]);
        assert_eq!((clip(&mut short, 5.1), clip(&mut short, 0.0)), (5.0, 5.0));
        assert_eq!(short.values(), [3.0, 0.0, -4.0]);
    }

    #[test]
    fn what_is_not_finite_is_seen_in_the_norm() {
        let mut broken = gradients(&[f32::NAN, 1.0]);
        assert!(clip(&mut broken, 1.0).is_nan());
        assert!(broken.values().iter().all(|value| value.is_nan()));
        let mut endless = gradients(&[f32::NEG_INFINITY, 1.0]);
        assert!(clip(&mut endless, 1.0).is_infinite());
        assert!(endless.values()[0].is_nan() && endless.values()[1] == 0.0);
        let mut great = gradients(&[f32::MAX; 20]);
        assert!(clip(&mut great, 1.0).is_finite());
        assert!((clip(&mut great, 0.0) - 1.0).abs() < 1e-4);
        assert!(clip(&mut gradients(&[]), 1.0).to_bits() == 0);
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let values: Vec<f32> = (0..50_003_u16).map(|at| f32::from(at % 977).sin()).collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut gradients = gradients(&values);
            let norm = pool.install(|| clip(&mut gradients, 0.7));
            (norm.to_bits(), gradients)
        };
        assert_eq!(with(1), with(5));
    }
}
