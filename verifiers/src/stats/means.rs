//! Counts, shares, means, spreads and quantiles.

use std::borrow::Borrow;

/// A count as a number. Counts are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
#[inline]
pub fn float(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

/// `part / whole`; `None` where the whole is 0, or the quotient is not finite.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| part / whole).filter(|ratio| ratio.is_finite())
}

/// The share of `part` among `whole`; `None` of none.
pub fn share(part: usize, whole: usize) -> Option<f64> {
    ratio(float(part), float(whole))
}

/// The mean; `None` of no values.
pub fn mean<V: Borrow<f64>>(values: impl IntoIterator<Item = V>) -> Option<f64> {
    // As `Iterator::sum` does, from -0.0: the sum of negative zeros is one.
    let add = |(sum, count): (f64, f64), value: V| (sum + *value.borrow(), count + 1.0);
    let (sum, count) = values.into_iter().fold((-0.0, 0.0), add);
    (count > 0.0).then(|| sum / count)
}

/// The sum in ascending order: the order of the values does not change a bit of it.
pub fn sum_sorted(values: &[f64]) -> f64 {
    sorted(values).iter().sum()
}

/// The mean with [`sum_sorted`]; 0 of no values.
pub fn mean_sorted(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { sum_sorted(values) / float(values.len()) }
}

/// The mean, corrected by the mean of the deviations from it; `None` of no values. The sum of many
/// values is off by many roundings; that of their deviations is not.
pub fn corrected_mean(values: &[f64]) -> Option<f64> {
    let rough = ratio(values.iter().sum(), float(values.len()))?;
    let rest: f64 = values.iter().map(|value| value - rough).sum();
    Some(rough + rest / float(values.len()))
}

/// The variance with the denominator n - 1, about the corrected mean; `None` of fewer than two values.
pub fn sample_variance(values: &[f64]) -> Option<f64> {
    let middle = corrected_mean(values)?;
    let squares = values.iter().map(|value| (value - middle).powi(2)).sum();
    ratio(squares, float(values.len().checked_sub(1)?))
}

/// The least and the greatest; `None` of no values.
pub fn bounds<V: Borrow<f64>>(values: impl IntoIterator<Item = V>) -> Option<(f64, f64)> {
    let each = values.into_iter().map(|value| (*value.borrow(), *value.borrow()));
    each.reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

/// The values that are finite: the others are missing.
pub fn present(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

/// The median; the mean of the middle two of an even number. `None` of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let low = sorted.get(sorted.len().checked_sub(1)? / 2)?;
    Some(low.midpoint(*sorted.get(sorted.len() / 2)?))
}

/// The value below which a share of the values lies, interpolated between neighbours, as numpy has it
/// by default; `None` of no values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    interpolated(&sorted(values), share.clamp(0.0, 1.0) * float(values.len().checked_sub(1)?))
}

/// The value at a place of a list, counted from 0, interpolated between neighbours; `None` past the
/// last.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
pub fn interpolated(values: &[f64], place: f64) -> Option<f64> {
    let low = *values.get(place.floor() as usize)?;
    let high = *values.get(place.ceil() as usize)?;
    Some(low + (high - low) * place.fract())
}

/// `-sum p ln p` over the shares of counts, in nats; `None` where all are 0.
pub fn entropy(counts: impl IntoIterator<Item = usize>) -> Option<f64> {
    let counts: Vec<usize> = counts.into_iter().filter(|count| *count > 0).collect();
    let whole = float(counts.iter().sum::<usize>());
    let terms = counts.iter().map(|count| float(*count) / whole).map(|p| -p * p.ln());
    (whole > 0.0).then(|| terms.sum::<f64>().max(0.0))
}

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_none() {
        assert_eq!((mean([0.0; 0]), corrected_mean(&[]), median(&[])), (None, None, None));
        assert_eq!(sample_variance(&[1.0]), None);
        assert_eq!((bounds([0.0; 0]), quantile(&[], 0.5)), (None, None));
        assert_eq!((ratio(1.0, 0.0), share(0, 0), entropy([0, 0])), (None, None, None));
    }

    #[test]
    fn values_by_hand() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!((mean(values), median(&values)), (Some(2.5), Some(2.5)));
        assert_eq!((median(&values[..3]), bounds(values)), (Some(3.0), Some((1.0, 4.0))));
        assert_eq!(sample_variance(&[1.0, 2.0, 3.0]), Some(1.0));
        assert!((entropy([2, 2, 0]).unwrap() - std::f64::consts::LN_2).abs() < 1e-15);
    }

    #[test]
    fn quantiles_are_interpolated() {
        for (share, wanted) in [(0.0, 1.0), (0.5, 2.5), (0.8, 3.4), (1.0, 4.0)] {
            let found = quantile(&[4.0, 1.0, 3.0, 2.0], share).unwrap();
            assert!((found - wanted).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!((quantile(&[7.0], 0.8), interpolated(&[7.0], 0.5)), (Some(7.0), None));
    }
}
