//! Sums, means and deviations whose last bits do not depend on the order of the rewards.
//!
//! Sums are compensated ("Accurate sum and dot product", Ogita, Rump and Oishi, algorithm 4.4): their
//! error is that of one rounding, but for cancellations of more than 15 digits. Sums over groups add
//! the sums of the groups in ascending order, so that the order of the groups changes no bit.

use assay_verifiers::Std;
pub use assay_verifiers::stats::float;

use crate::ragged::Ragged;

/// Sums are taken in this many lanes, which the processor adds side by side.
const LANES: usize = 4;

/// As many squares are added without compensation.
const PLAIN_MAX: usize = 1024;

/// As many groups are looked at together, see [`Deviations::of_groups`].
pub const TOGETHER: usize = 32;

/// Squares below this lose digits, and deviations are scaled before they are squared.
const SQUARES_MIN: f64 = 1e-250;

/// Squared deviations below this share of the squared mean may be the roundings of equal numbers.
const EQUAL_MAX: f64 = 1e-24;

/// The count, the mean and the deviation of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// How many there are.
    pub count: usize,
    /// Their mean; 0 where there are none.
    pub mean: f64,
    /// Whether they are all equal. Then the mean is exactly each of them.
    pub is_constant: bool,
    /// The sum of the squares of the deviations from the mean, in units of `scale` squared.
    squares: f64,
    scale: f64,
}

impl Moments {
    /// Of these numbers, none of which is NaN.
    #[inline]
    pub fn of(values: &[f64]) -> Self {
        if is_constant(values) {
            return Self::of_equal(values.len(), values.first().copied().unwrap_or(0.0));
        }
        let mean = mean(values);
        let squares = sum_squares(values, mean);
        if (SQUARES_MIN..f64::INFINITY).contains(&squares) {
            return Self { count: values.len(), mean, is_constant: false, squares, scale: 1.0 };
        }
        let scale = values.iter().fold(0.0, |max: f64, value| max.max((value - mean).abs()));
        let squares = sum_by(values, |value| square((value - mean) / scale));
        Self { count: values.len(), mean, is_constant: false, squares, scale }
    }

    /// Of all numbers of all rows. The order of the rows changes no bit.
    pub fn of_rows(rows: &Ragged<f64>) -> Self {
        let values = rows.values();
        if is_constant(values) {
            return Self::of_equal(values.len(), values.first().copied().unwrap_or(0.0));
        }
        let count = values.len();
        let mut mean = sum_rows(rows, |value| value) / float(count);
        if !mean.is_finite() {
            mean = sum_rows(rows, |value| value / float(count));
        }
        Self::of_rows_about(rows, mean)
    }

    /// Of all numbers of all rows, with deviations from `mean`, which may be that of something else.
    pub fn of_rows_about(rows: &Ragged<f64>, mean: f64) -> Self {
        let count = rows.values().len();
        let furthest = |max: f64, value: &f64| max.max((value - mean).abs());
        let squares = sum_rows(rows, |value| square(value - mean));
        if (SQUARES_MIN..f64::INFINITY).contains(&squares) {
            return Self { count, mean, is_constant: false, squares, scale: 1.0 };
        }
        let scale = rows.values().iter().fold(0.0, furthest);
        if scale == 0.0 {
            return Self::of_equal(count, mean);
        }
        let squares = sum_rows(rows, |value| square((value - mean) / scale));
        Self { count, mean, is_constant: false, squares, scale }
    }

    /// The standard deviation; NaN for too few numbers.
    #[inline]
    pub fn std(&self, kind: Std) -> f64 {
        match kind {
            Std::Unbiased => self.std_unbiased(),
            Std::Biased => self.std_biased(),
        }
    }

    /// The standard deviation that divides by one less than the count; NaN for fewer than two.
    #[inline]
    pub fn std_unbiased(&self) -> f64 {
        match self.count {
            0 | 1 => f64::NAN,
            count => self.scale * (self.squares / float(count - 1)).sqrt(),
        }
    }

    /// The standard deviation that divides by the count; NaN for none.
    #[inline]
    pub fn std_biased(&self) -> f64 {
        self.scale * (self.squares / float(self.count)).sqrt()
    }

    fn of_equal(count: usize, mean: f64) -> Self {
        Self { count, mean, is_constant: true, squares: 0.0, scale: 1.0 }
    }
}

/// The deviations of a few numbers that are neither equal nor extreme, in plain sums: the mean of the
/// deviations is taken off them, so that little is left of the roundings of the first mean ("Algorithms
/// for Computing the Sample Variance", Chan, Golub and `LeVeque`, the corrected two-pass algorithm).
#[derive(Clone, Copy, Debug)]
pub struct Deviations {
    mean: f64,
    correction: f64,
    squares: f64,
    count: usize,
}

impl Deviations {
    /// Of these numbers; `None` where they need more care: for fewer than two, or many, where one is
    /// not finite, and where they may be equal, or their squares out of range.
    #[inline]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = Self::first_mean(values);
        Self::corrected(values.len(), mean, Self::sums_about(values, mean))
    }

    /// The same of each of up to [`TOGETHER`] groups, to the bit. Each step is taken for all of them
    /// before the next one: the processor works on several groups at once, where a group alone waits
    /// for one division after another.
    #[inline]
    pub fn of_groups<const SIZE: usize>(
        groups: &[[f64; SIZE]],
    ) -> impl Iterator<Item = Option<Self>> {
        let (mut means, mut sums) = ([0.0; TOGETHER], [[0.0; 2]; TOGETHER]);
        for (mean, group) in means.iter_mut().zip(groups) {
            *mean = Self::first_mean(group);
        }
        for ((sums, mean), group) in sums.iter_mut().zip(&means).zip(groups) {
            *sums = Self::sums_about(group, *mean);
        }
        let each = means.into_iter().zip(sums).take(groups.len());
        each.map(|(mean, sums)| Self::corrected(SIZE, mean, sums))
    }

    #[inline]
    fn first_mean(values: &[f64]) -> f64 {
        lanes(values, |value| [value, 0.0])[0] / float(values.len())
    }

    /// The sums of the deviations from the first mean, and of their squares.
    #[inline]
    fn sums_about(values: &[f64], mean: f64) -> [f64; 2] {
        lanes(values, |value| {
            let deviation = value - mean;
            [deviation, deviation * deviation]
        })
    }

    #[inline]
    fn corrected(count: usize, mean: f64, [rest, squares]: [f64; 2]) -> Option<Self> {
        let correction = rest / float(count);
        let squares = squares - rest * correction;
        let least = (float(count) * mean * mean * EQUAL_MAX).max(SQUARES_MIN);
        let is_plain = squares > least && squares < f64::INFINITY;
        let is_plain = is_plain && (2..=PLAIN_MAX).contains(&count);
        is_plain.then_some(Self { mean, correction, squares, count })
    }

    /// The standard deviation that divides by one less than the count.
    #[inline]
    pub fn std_unbiased(&self) -> f64 {
        (self.squares / float(self.count - 1)).sqrt()
    }

    /// The standard deviation that divides by the count.
    #[inline]
    pub fn std_biased(&self) -> f64 {
        (self.squares / float(self.count)).sqrt()
    }

    /// Writes the deviations, times a factor.
    #[inline]
    pub fn write(&self, values: &[f64], out: &mut [f64], factor: f64) {
        for (out, value) in out.iter_mut().zip(values) {
            *out = ((value - self.mean) - self.correction) * factor;
        }
    }
}

/// Two plain sums of what `terms` makes of each number.
#[inline]
fn lanes(values: &[f64], terms: impl Fn(f64) -> [f64; 2]) -> [f64; 2] {
    let (mut one, mut other) = ([0.0; LANES], [0.0; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for ((one, other), value) in one.iter_mut().zip(&mut other).zip(chunk) {
            let terms = terms(*value);
            *one += terms[0];
            *other += terms[1];
        }
    }
    let mut sums =
        [(one[0] + one[2]) + (one[1] + one[3]), (other[0] + other[2]) + (other[1] + other[3])];
    for value in rest {
        let terms = terms(*value);
        sums = [sums[0] + terms[0], sums[1] + terms[1]];
    }
    sums
}

/// Whether all are equal; so are none and one.
#[expect(clippy::float_cmp, reason = "numbers that are nearly equal are not")]
#[inline]
pub fn is_constant(values: &[f64]) -> bool {
    let first = values.first().copied().unwrap_or(0.0);
    // All are looked at, so that the compiler compares several at once.
    values.iter().filter(|value| **value != first).count() == 0
}

/// The mean of numbers that are not NaN; 0 for none. Equal numbers have exactly that mean.
#[inline]
pub fn mean(values: &[f64]) -> f64 {
    if is_constant(values) {
        return values.first().copied().unwrap_or(0.0);
    }
    let count = float(values.len());
    let mean = sum_by(values, |value| value) / count;
    if mean.is_finite() { mean } else { sum_by(values, |value| value / count) }
}

/// The compensated sum of what `term` makes of each number.
#[inline]
pub fn sum_by(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (mut sums, mut errors) = ([0.0; LANES], [0.0; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        add_lanes(&mut sums, &mut errors, chunk.map(&term));
    }
    let mut total = Compensated::default();
    for (sum, error) in sums.into_iter().zip(errors) {
        total.add(sum);
        total.error += error;
    }
    for value in rest {
        total.add(term(*value));
    }
    total.value()
}

/// The sum of the squared deviations from `mean`. Squares do not cancel, so that few of them are
/// added as they are: their order changes less than 14 digits show.
#[inline]
fn sum_squares(values: &[f64], mean: f64) -> f64 {
    if values.len() > PLAIN_MAX {
        return sum_by(values, |value| square(value - mean));
    }
    let mut sums = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += square(value - mean);
        }
    }
    let last: f64 = rest.iter().map(|value| square(value - mean)).sum();
    sums.into_iter().fold(last, |total, sum| total + sum)
}

#[inline]
fn add_lanes(sums: &mut [f64; LANES], errors: &mut [f64; LANES], values: [f64; LANES]) {
    for ((sum, error), value) in sums.iter_mut().zip(errors).zip(values) {
        let added = *sum + value;
        let share = added - *sum;
        *error += (*sum - (added - share)) + (value - share);
        *sum = added;
    }
}

/// The compensated sum of numbers, in ascending order: their order changes no bit.
pub fn sum_sorted(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    sum_by(&values, |value| value)
}

fn sum_rows(rows: &Ragged<f64>, term: impl Fn(f64) -> f64) -> f64 {
    sum_sorted(rows.iter().map(|row| sum_by(row, &term)).collect())
}

fn square(value: f64) -> f64 {
    value * value
}

/// A sum, and what its roundings lost.
#[derive(Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    #[inline]
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let added = sum - self.sum;
        self.error += (self.sum - (sum - added)) + (value - added);
        self.sum = sum;
    }

    /// The error of a sum that is not finite is none either, and is left out.
    #[inline]
    fn value(self) -> f64 {
        let corrected = self.sum + self.error;
        if corrected.is_nan() { self.sum } else { corrected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_changes_no_bit() {
        let mut values = vec![1e16, 1.0, -1e16, 0.1, 0.2, 0.3, 1e-9, 3.0, 7.0];
        let (sum, moments) = (sum_by(&values, |value| value), Moments::of(&values));
        for turn in 0..values.len() {
            values.rotate_left(1);
            assert_eq!(sum_by(&values, |value| value).to_bits(), sum.to_bits(), "{turn}");
            let turned = Moments::of(&values);
            assert_eq!(turned.mean.to_bits(), moments.mean.to_bits());
            assert!((turned.std_unbiased() / moments.std_unbiased() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn equal_numbers_do_not_deviate() {
        let moments = Moments::of(&[0.1; 3]);
        assert_eq!((moments.mean, moments.std_unbiased(), moments.is_constant), (0.1, 0.0, true));
        assert_eq!((Moments::of(&[]).mean, Moments::of(&[]).count), (0.0, 0));
        assert!(Moments::of(&[3.0]).std_unbiased().is_nan());
    }

    #[test]
    fn huge_and_tiny_numbers_keep_their_digits() {
        for unit in [1e-200, 1.0, 1e200] {
            let moments = Moments::of(&[unit, 3.0 * unit]);
            assert!((moments.mean / unit - 2.0).abs() < 1e-15);
            assert!((moments.std_biased() / unit - 1.0).abs() < 1e-15, "{unit}");
            assert!((moments.std_unbiased() / unit - 2.0_f64.sqrt()).abs() < 1e-15, "{unit}");
            let rows: Ragged<f64> = [vec![unit], vec![3.0 * unit]].into_iter().collect();
            assert!((Moments::of_rows(&rows).std_biased() / unit - 1.0).abs() < 1e-15, "{unit}");
        }
        assert!((mean(&[1.7e308, 1.6e308]) / 1.65e308 - 1.0).abs() < 1e-15);
    }
}
