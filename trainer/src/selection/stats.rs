//! Statistics of the rewards of a group, as selection reads them.

use crate::advantages::conventions::Std;
pub(crate) use crate::statistics::float;
use crate::statistics::{self, Moments};

/// The mean; NaN of no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { statistics::mean(values) }
}

/// The standard deviation; 0 of one value, NaN of none.
pub(crate) fn std(values: &[f64], kind: Std) -> f64 {
    match values.len() {
        0 => f64::NAN,
        1 => 0.0,
        _ => Moments::of(values).std(kind),
    }
}

/// The greatest value less the least; NaN of no values.
pub(crate) fn range(values: &[f64]) -> f64 {
    let greatest = values.iter().copied().fold(f64::NAN, f64::max);
    greatest - values.iter().copied().fold(f64::NAN, f64::min)
}

/// The share of the values that are at least `pass_at`; NaN of no values.
pub(crate) fn pass_rate(values: &[f64], pass_at: f64) -> f64 {
    let passed = values.iter().filter(|value| **value >= pass_at).count();
    float(passed) / count(values)
}

fn count<T>(values: &[T]) -> f64 {
    float(values.len())
}

/// A number as a count, rounded down; 0 where it is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a float saturates, and makes 0 of NaN"
)]
pub(crate) fn floored(number: f64) -> usize {
    number.floor() as usize
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these values are exact")]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_no_spread() {
        for value in [0.1, 1.0 / 3.0, 1e300, -0.7] {
            for kind in [Std::Unbiased, Std::Biased] {
                assert_eq!(std(&[value; 7], kind), 0.0);
            }
            assert_eq!(mean(&[value; 7]), value);
        }
    }

    #[test]
    fn spreads_are_those_of_the_textbook() {
        let values = [1.0, 0.0, 0.0, 0.0];
        assert!((std(&values, Std::Unbiased) - 0.5).abs() < 1e-15);
        assert!((std(&values, Std::Biased) - 0.1875_f64.sqrt()).abs() < 1e-15);
        assert_eq!((range(&values), pass_rate(&values, 0.5)), (1.0, 0.25));
        assert_eq!((mean(&values), std(&[3.0], Std::Unbiased)), (0.25, 0.0));
        assert!(mean(&[]).is_nan() && std(&[], Std::Unbiased).is_nan() && range(&[]).is_nan());
        assert_eq!((floored(2.9), floored(-1.0), floored(f64::NAN)), (2, 0, 0));
    }
}
