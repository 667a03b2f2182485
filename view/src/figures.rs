//! Figures of columns of numbers. NaN stands for a number that is not known.

use assay_verifiers::stats::{bounds, corrected_mean, float, present, sample_variance};
use serde_json::{Value, json};

/// Values that are counted one by one; of more, bins of equal width are counted.
const VALUES_MAX: usize = 12;
/// Bins of a histogram, and the width that is tried first: it doubles until all fit.
const BINS_MAX: f64 = 40.0;
const FINEST: f64 = 1.0 / 1024.0;
/// The farthest bin from 0: beyond it, floats are not one apart.
const BINS_REACH: f64 = 4e15;

/// Mean and spread, with an interval of the mean that takes rows of one group as dependent.
pub(crate) fn figures(column: &[f64], groups: &[u32]) -> Value {
    let values = present(column);
    let mean = corrected_mean(&values).filter(|mean| mean.is_finite());
    let error = mean.and_then(|mean| error(column, groups, mean));
    let end = |side: f64| Some(mean? + side * 1.96 * error?).filter(|end| end.is_finite());
    let (min, max) = bounds(&values).unzip();
    json!({
        "count": values.len(), "mean": mean, "std": sample_variance(&values).map(f64::sqrt),
        "min": min, "max": max, "low": end(-1.0), "high": end(1.0),
    })
}

/// The standard error of the mean, over groups of rows that follow each other.
fn error(column: &[f64], groups: &[u32], mean: f64) -> Option<f64> {
    let mut sums: Vec<(u32, f64)> = Vec::new();
    let mut count = 0;
    for (value, group) in column.iter().zip(groups).filter(|(value, _)| value.is_finite()) {
        count += 1;
        match sums.last_mut() {
            Some((own, sum)) if own == group => *sum += value - mean,
            _ => sums.push((*group, value - mean)),
        }
    }
    let squares: f64 = sums.iter().map(|(_, sum)| sum * sum).sum();
    let groups = float(sums.len());
    (groups > 1.0).then(|| (squares * groups / (groups - 1.0)).sqrt() / float(count))
}

/// How often numbers occur: `values` as pairs of value and count while there are few, else `low`, `width` and
/// the count of each bin.
pub(crate) fn histogram(column: &[f64]) -> Value {
    let values = || column.iter().filter(|value| value.is_finite());
    let mut few: Vec<(f64, u64)> = Vec::new();
    for value in values() {
        // The sum makes one zero of both.
        let value = value + 0.0;
        match few.binary_search_by(|(own, _)| own.total_cmp(&value)) {
            Ok(at) => {
                if let Some((_, count)) = few.get_mut(at) {
                    *count += 1;
                }
            }
            Err(_) if few.len() > VALUES_MAX => break,
            Err(at) => few.insert(at, (value, 1)),
        }
    }
    let ends = bounds(values()).filter(|_| few.len() > VALUES_MAX);
    let Some((low, high)) = ends else { return json!({ "values": few }) };
    let mut width = FINEST;
    let is_far = |width: f64| high.abs().max(low.abs()) / width > BINS_REACH;
    while is_far(width) || (high / width).floor() - (low / width).floor() >= BINS_MAX {
        width *= 2.0;
    }
    let first = (low / width).floor();
    let mut counts: Vec<u64> = Vec::new();
    for value in values() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 40")]
        let bin = ((value / width).floor() - first) as usize;
        counts.resize(counts.len().max(bin + 1), 0);
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    json!({ "low": first * width, "width": width, "counts": counts })
}

/// The places of the largest numbers; of equal ones the first.
pub(crate) fn top(column: impl Iterator<Item = f64>, most: usize) -> Vec<(usize, f64)> {
    let mut rows: Vec<(usize, f64)> = Vec::with_capacity(most + 1);
    for (at, value) in column.enumerate().filter(|(_, value)| value.is_finite()) {
        if rows.len() < most || rows.last().is_some_and(|(_, last)| value > *last) {
            let place = rows.partition_point(|(_, own)| *own >= value);
            rows.insert(place, (at, value));
            rows.truncate(most);
        }
    }
    rows
}

#[cfg(test)]
mod tests;
