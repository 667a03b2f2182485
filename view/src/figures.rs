//! Running figures of numbers: sums, spreads, correlations, histograms. Each takes numbers one by one and
//! holds as much for a million as for one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Values that are counted one by one, before they are counted in bins.
const VALUES_MAX: usize = 12;
/// Bins of a histogram, from the first that is used to the last.
const BINS_MAX: i64 = 40;
/// The bin that a histogram starts with; bins double until all fit.
const FINEST: f64 = 1.0 / 1024.0;

/// A number of rows as a float: exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no file has 2^53 rows")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// A sum with the error of each step carried along (Neumaier 1974).
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    sum: f64,
    carried: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.carried += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
    }

    pub(crate) fn get(self) -> f64 {
        self.sum + self.carried
    }
}

/// Mean and spread of numbers, with an interval of the mean that takes rows of one group as dependent.
#[derive(Clone, Default)]
pub(crate) struct Spread {
    pub(crate) count: u64,
    sum: Sum,
    /// Running mean and squared deviations (Welford 1962).
    mean: f64,
    squares: f64,
    min: Option<f64>,
    max: Option<f64>,
    /// What groups are measured from, so that little is lost of large numbers.
    origin: f64,
    /// Sum and count of the group in hand.
    group: (f64, f64),
    groups: u64,
    sum_of_squares: f64,
    sum_of_products: f64,
    counts_squared: f64,
}

impl Spread {
    pub(crate) fn add(&mut self, value: f64) {
        if self.count == 0 {
            self.origin = value;
        }
        self.count += 1;
        self.sum.add(value);
        let off = value - self.mean;
        self.mean += off / float(self.count);
        self.squares += off * (value - self.mean);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = Some(self.max.map_or(value, |max| max.max(value)));
        self.group.0 += value - self.origin;
        self.group.1 += 1.0;
    }

    /// The group in hand is whole.
    pub(crate) fn close_group(&mut self) {
        let (sum, count) = std::mem::take(&mut self.group);
        if count > 0.0 {
            self.groups += 1;
            self.sum_of_squares += sum * sum;
            self.sum_of_products += sum * count;
            self.counts_squared += count * count;
        }
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.get() / float(self.count))
    }

    /// The standard deviation of a sample.
    pub(crate) fn std(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares.max(0.0) / float(self.count - 1)).sqrt())
    }

    /// The standard error of the mean, over groups.
    fn error(&self) -> Option<f64> {
        let mean = self.mean()? - self.origin;
        let squares = self.sum_of_squares - 2.0 * mean * self.sum_of_products
            + mean * mean * self.counts_squared;
        let groups = float(self.groups);
        (self.groups > 1)
            .then(|| (squares.max(0.0) * groups / (groups - 1.0)).sqrt() / float(self.count))
    }

    /// The figures, without a member that is not defined.
    pub(crate) fn json(&self) -> Value {
        let (mean, error) = (self.mean(), self.error());
        let end = |side: f64| Some(mean? + side * 1.96 * error?).filter(|end| end.is_finite());
        json!({
            "count": self.count, "mean": mean.filter(|mean| mean.is_finite()), "std": self.std(),
            "min": self.min, "max": self.max, "low": end(-1.0), "high": end(1.0),
        })
    }
}

/// Pearson's correlation of pairs.
#[derive(Clone, Default)]
pub(crate) struct Correlation {
    count: u64,
    means: (f64, f64),
    squares: (f64, f64),
    products: f64,
}

impl Correlation {
    pub(crate) fn add(&mut self, x: f64, y: f64) {
        self.count += 1;
        let count = float(self.count);
        let (off_x, off_y) = (x - self.means.0, y - self.means.1);
        self.means.0 += off_x / count;
        self.means.1 += off_y / count;
        self.squares.0 += off_x * (x - self.means.0);
        self.squares.1 += off_y * (y - self.means.1);
        self.products += off_x * (y - self.means.1);
    }

    /// `None` where one side is constant.
    pub(crate) fn get(&self) -> Option<f64> {
        let scale = self.squares.0.sqrt() * self.squares.1.sqrt();
        let found = (self.products / scale).clamp(-1.0, 1.0);
        (self.count > 1 && scale > 0.0 && found.is_finite()).then_some(found)
    }
}

/// How often numbers occur: each value by itself while there are few, else in bins of equal width.
#[derive(Clone)]
pub(crate) struct Histogram {
    /// By the order of the values; empty once there are too many.
    values: Option<Vec<(f64, u64)>>,
    width: f64,
    bins: BTreeMap<i64, u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { values: Some(Vec::new()), width: FINEST, bins: BTreeMap::new() }
    }
}

impl Histogram {
    pub(crate) fn add(&mut self, value: f64) {
        // The sum makes one zero of both.
        let value = value + 0.0;
        if let Some(values) = &mut self.values {
            match values.binary_search_by(|(own, _)| own.total_cmp(&value)) {
                Ok(at) => {
                    if let Some((_, count)) = values.get_mut(at) {
                        *count += 1;
                    }
                }
                Err(at) => values.insert(at, (value, 1)),
            }
            if values.len() > VALUES_MAX {
                self.values = None;
            }
        }
        loop {
            if let Some(bin) = self.bin(value) {
                *self.bins.entry(bin).or_default() += 1;
                return;
            }
            self.width *= 2.0;
            for (bin, count) in std::mem::take(&mut self.bins) {
                *self.bins.entry(bin.div_euclid(2)).or_default() += count;
            }
        }
    }

    /// The bin of a value, where it is within reach of the others.
    fn bin(&self, value: f64) -> Option<i64> {
        let bin = (value / self.width).floor();
        if bin.abs() > 4e15 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "within 2^52")]
        let bin = bin as i64;
        let first = self.bins.first_key_value().map_or(bin, |(first, _)| bin.min(*first));
        let last = self.bins.last_key_value().map_or(bin, |(last, _)| bin.max(*last));
        (last - first < BINS_MAX).then_some(bin)
    }

    /// `values` as pairs of value and count, or `low`, `width` and the count of each bin.
    pub(crate) fn json(&self) -> Value {
        if let Some(values) = &self.values {
            return json!({ "values": values });
        }
        let Some(((first, _), (last, _))) =
            self.bins.first_key_value().zip(self.bins.last_key_value())
        else {
            return json!({ "values": [] });
        };
        let counts: Vec<u64> =
            (*first..=*last).map(|bin| self.bins.get(&bin).copied().unwrap_or(0)).collect();
        #[expect(clippy::cast_precision_loss, reason = "within 2^52")]
        let low = *first as f64 * self.width;
        json!({ "low": low, "width": self.width, "counts": counts })
    }
}

/// The rows with the largest numbers; of equal ones the first.
#[derive(Clone)]
pub(crate) struct Top<T> {
    rows: Vec<(f64, T)>,
    most: usize,
}

impl<T> Top<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { rows: Vec::with_capacity(most + 1), most }
    }

    /// Makes the row only where it is kept.
    pub(crate) fn add(&mut self, value: f64, row: impl FnOnce() -> T) {
        if self.rows.len() >= self.most && self.rows.last().is_none_or(|(last, _)| value <= *last) {
            return;
        }
        let at = self.rows.partition_point(|(own, _)| *own >= value);
        self.rows.insert(at, (value, row()));
        self.rows.truncate(self.most);
    }

    pub(crate) fn rows(&self) -> &[(f64, T)] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    #[test]
    fn figures_equal_those_by_hand() {
        let mut spread = Spread::default();
        for group in [&[0.0, 1.0][..], &[1.0, 1.0], &[0.0, 0.0]] {
            for value in group {
                spread.add(*value);
            }
            spread.close_group();
        }
        // Means of groups 0.5, 1, 0 around 0.5: the error is sqrt(0.5 / 2 / 3).
        assert!(near(spread.mean(), 0.5) && near(spread.std(), 0.3_f64.sqrt()));
        assert!(near(spread.error(), (0.25_f64 / 3.0).sqrt()));
        let mut correlation = Correlation::default();
        for (x, y) in [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0)] {
            correlation.add(x, y);
        }
        assert!(near(correlation.get(), 3.0 / (28.0_f64 / 3.0).sqrt()));
        assert_eq!(Correlation::default().get(), None);
    }

    #[test]
    fn a_sum_loses_nothing_to_order() {
        let mut sum = Sum::default();
        for value in [1e100, 1.0, -1e100, 1.0] {
            sum.add(value);
        }
        assert!(near(Some(sum.get()), 2.0));
    }

    #[test]
    fn a_histogram_counts_values_and_then_bins() {
        let mut few = Histogram::default();
        for value in [0.0, 1.0, -0.0, 0.5] {
            few.add(value);
        }
        assert_eq!(few.json(), json!({ "values": [[0.0, 2], [0.5, 1], [1.0, 1]] }));
        let mut many = Histogram::default();
        for at in 0..100_u32 {
            many.add(f64::from(at) / 100.0);
        }
        let bins = many.json();
        assert_eq!(bins["width"], json!(1.0 / 32.0));
        assert_eq!(bins["counts"].as_array().unwrap().len(), 32);
        let all: u64 = bins["counts"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
        assert_eq!(all, 100);
        for value in [f64::MAX, f64::MIN, 1e-300] {
            many.add(value);
        }
        let counts = many.json()["counts"].as_array().unwrap().len();
        assert!(counts <= 40, "{counts}");
    }

    #[test]
    fn the_largest_come_first_and_of_equal_ones_the_first() {
        let mut top = Top::new(2);
        for (at, value) in [1.0, 3.0, 3.0, 3.0].into_iter().enumerate() {
            top.add(value, || at);
        }
        assert_eq!(top.rows(), [(3.0, 1), (3.0, 2)]);
    }
}
