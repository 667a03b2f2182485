//! Counts as numbers, and means.

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn of(count: usize) -> f64 {
    count as f64
}

/// The mean; `None` of no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    share(values.iter().sum(), of(values.len()))
}

/// `part / whole`; `None` where the whole is 0.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole != 0.0).then(|| part / whole)
}

/// The population variance; `None` of no values.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    share(values.iter().map(|value| (value - mean).powi(2)).sum(), of(values.len()))
}

/// The median; the mean of the middle two of an even number. `None` of no values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let high = *sorted.get(middle)?;
    let is_even = sorted.len().is_multiple_of(2);
    let low = if is_even { *sorted.get(middle - 1)? } else { high };
    Some(low.midpoint(high))
}

/// Whether every value is from 0 to 1.
pub(crate) fn are_shares(values: &[f64]) -> bool {
    values.iter().all(|value| (0.0..=1.0).contains(value))
}

/// 1 for true, 0 for false.
pub(crate) fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}
