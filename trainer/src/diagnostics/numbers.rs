//! Arithmetic that the diagnostics share.

use std::cmp::Ordering;

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn of(count: usize) -> f64 {
    count as f64
}

/// 1 for true, 0 for false.
pub(crate) fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// `part / whole`; `None` where the whole is 0, or the quotient is not finite.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| part / whole).filter(|ratio| ratio.is_finite())
}

/// The share of `part` among `whole`; `None` of none.
pub(crate) fn share(part: usize, whole: usize) -> Option<f64> {
    ratio(of(part), of(whole))
}

/// The mean; `None` of no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let rough = ratio(values.iter().sum(), of(values.len()))?;
    // The sum of many values is off by many roundings; that of their deviations is not.
    let rest: f64 = values.iter().map(|value| value - rough).sum();
    Some(rough + rest / of(values.len()))
}

/// The variance with the denominator n - 1; `None` of fewer than two values.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
    ratio(squares, of(values.len().checked_sub(1)?))
}

/// Greatest minus least; `None` of no values.
pub(super) fn range(values: &[f64]) -> Option<f64> {
    let least = values.iter().copied().reduce(f64::min)?;
    let greatest = values.iter().copied().reduce(f64::max)?;
    Some(greatest - least)
}

/// The values that are finite: the others are missing.
pub(super) fn present(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

/// The quantile of sorted values, interpolated between neighbours.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the values")]
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * of(sorted.len().checked_sub(1)?);
    let low = *sorted.get(place.floor() as usize)?;
    let high = *sorted.get(place.ceil() as usize)?;
    Some(low + (high - low) * place.fract())
}

/// The rank of each value from 1, equal values sharing the mean of theirs.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    // Zero and negative zero are equal.
    for equal in order.chunk_by(|a, b| a.1.partial_cmp(&b.1) == Some(Ordering::Equal)) {
        let rank = of(before) + of(equal.len() + 1) / 2.0;
        before += equal.len();
        for (place, _) in equal {
            if let Some(own) = ranks.get_mut(*place) {
                *own = rank;
            }
        }
    }
    ranks
}

/// `-sum p ln p` over the shares of counts, in nats; `None` where all are 0.
pub(super) fn entropy(counts: impl IntoIterator<Item = usize>) -> Option<f64> {
    let counts: Vec<usize> = counts.into_iter().filter(|count| *count > 0).collect();
    let whole = of(counts.iter().sum());
    let terms = counts.iter().map(|count| of(*count) / whole).map(|p| -p * p.ln());
    (whole > 0.0).then(|| terms.sum::<f64>().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_defined_is_none() {
        assert_eq!(
            (mean(&[]), variance(&[1.0]), range(&[]), quantile(&[], 0.5)),
            (None, None, None, None)
        );
        assert_eq!((ratio(1.0, 0.0), share(0, 0), entropy([0, 0])), (None, None, None));
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[2.0, 1.0, 2.0, -0.0, 0.0]), [4.5, 3.0, 4.5, 1.5, 1.5]);
        assert_eq!(quantile(&[0.0, 1.0, 4.0], 0.75), Some(2.5));
        assert_eq!(variance(&[1.0, 2.0, 3.0]), Some(1.0));
        assert!((entropy([2, 2, 0]).unwrap() - std::f64::consts::LN_2).abs() < 1e-15);
    }
}
