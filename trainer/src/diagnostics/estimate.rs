//! Numbers with intervals: Wilson's, clustered standard errors, and the bootstrap over prompts.

use assay_verifiers::stats::{
    SplitMix64, corrected_mean, float, present, quantile, sample_variance,
};
use serde::Serialize;
use smart_default::SmartDefault;

/// A number with an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How intervals are found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, SmartDefault)]
pub struct Resampling {
    /// How often the prompts are drawn again.
    #[default(1000)]
    pub resamples: usize,
    /// The probability of the interval, above 0 and below 1.
    #[default(0.95)]
    pub level: f64,
    /// The seed of the draws: the same seed gives the same interval.
    pub seed: u64,
}

/// A share with Wilson's interval, for trials that are independent: one a prompt. `None` of no
/// trials, of more successes than trials, or of a level outside 0 to 1.
///
/// Source: "Probable Inference, the Law of Succession, and Statistical Inference" (Wilson 1927).
pub fn wilson(successes: usize, trials: usize, level: f64) -> Option<Estimate> {
    let z = normal_width(level)?;
    if trials == 0 || successes > trials {
        return None;
    }
    let (count, share) = (float(trials), float(successes) / float(trials));
    let whole = 1.0 + z * z / count;
    let middle = (share + z * z / (2.0 * count)) / whole;
    let spread = share * (1.0 - share) / count + z * z / (4.0 * count * count);
    let half = z * spread.sqrt() / whole;
    // At the ends the interval reaches them exactly; rounding must not step over.
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (middle + half).min(1.0) };
    Some(Estimate { value: share, low, high })
}

/// A share with the interval of Clopper and Pearson, which covers at least `level` of the trials that are
/// repeated. `None` as for [`wilson`].
///
/// Source: "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial" (Clopper,
/// Pearson 1934): the ends are where a tail of the binomial distribution holds `(1 - level) / 2`.
pub fn clopper_pearson(successes: usize, trials: usize, level: f64) -> Option<Estimate> {
    normal_width(level)?;
    if trials == 0 || successes > trials {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
    // The greatest share at which at least `least` successes are as rare as the tail.
    let end = |least: usize, tail: f64| {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if at_least(least, trials, middle) < tail {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let low = if successes == 0 { 0.0 } else { end(successes, tail) };
    let high = if successes == trials { 1.0 } else { end(successes + 1, 1.0 - tail) };
    Some(Estimate { value: float(successes) / float(trials), low, high })
}

/// The probability of at least `least` successes, 1 or more, in `trials` trials of probability `p`.
fn at_least(least: usize, trials: usize, p: f64) -> f64 {
    let odds = (p / (1.0 - p)).ln();
    let whole = float(trials) * (-p).ln_1p();
    let mut log_choose = 0.0;
    let mut below = if p < 1.0 { whole.exp() } else { 0.0 };
    for count in 1..least {
        log_choose += (float(trials - count + 1) / float(count)).ln();
        below += (log_choose + float(count) * odds + whole).exp();
    }
    1.0 - below
}

/// A mean over rows that are not independent, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClusteredMean {
    /// The mean over all rows.
    pub mean: f64,
    /// The standard error as if all rows were independent; `null` of one row.
    pub naive_error: Option<f64>,
    /// The standard error with rows of a cluster correlated; `null` of one row or one cluster.
    pub standard_error: Option<f64>,
    /// Rows.
    pub rows: usize,
    /// Clusters: prompts.
    pub clusters: usize,
}

/// The mean over the rows of clusters, such as the rollouts of prompts, and its clustered standard
/// error. Values that are not finite are left out. `None` of no values.
///
/// Source: "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations" (Miller
/// 2024), section 2.2: `SE^2 = SE_CLT^2 + 1/n^2 sum_c sum_i sum_(j != i) (s_ic - m)(s_jc - m)`.
pub fn clustered_mean<'a>(clusters: impl IntoIterator<Item = &'a [f64]>) -> Option<ClusteredMean> {
    let clusters: Vec<Vec<f64>> =
        clusters.into_iter().map(present).filter(|values| !values.is_empty()).collect();
    let rows = clusters.concat();
    let mean = corrected_mean(&rows)?;
    let naive = sample_variance(&rows).map(|variance| variance / float(rows.len()));
    // The sum over pairs i != j is the square of the sum, less the squares.
    let crossed = clusters.iter().map(|cluster| {
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in cluster {
            sum += value - mean;
            squares += (value - mean).powi(2);
        }
        sum * sum - squares
    });
    let crossed = crossed.sum::<f64>() / float(rows.len()).powi(2);
    let clustered = naive.filter(|_| clusters.len() > 1).map(|naive| (naive + crossed).max(0.0));
    Some(ClusteredMean {
        mean,
        naive_error: naive.map(f64::sqrt),
        standard_error: clustered.map(f64::sqrt),
        rows: rows.len(),
        clusters: clusters.len(),
    })
}

impl ClusteredMean {
    /// The interval of the normal distribution around the mean; `None` without a standard error.
    pub fn interval(&self, level: f64) -> Option<Estimate> {
        let half = normal_width(level)? * self.standard_error?;
        Some(Estimate { value: self.mean, low: self.mean - half, high: self.mean + half })
    }
}

/// The percentile interval of a statistic when `clusters` clusters, such as prompts, are drawn again
/// with replacement. The statistic is given the places of the clusters that were drawn. `None` where
/// it is not defined over all of them, nor in any resample, or where the level is outside 0 to 1.
///
/// Source: "An Introduction to the Bootstrap" (Efron, Tibshirani 1993), the percentile method.
pub fn resampled(
    clusters: usize,
    how: Resampling,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<Estimate> {
    let all: Vec<usize> = (0..clusters).collect();
    let value = statistic(&all)?;
    if !(0.0 < how.level && how.level < 1.0) {
        return None;
    }
    let mut random = SplitMix64::new(how.seed);
    let mut drawn = all;
    let mut values = Vec::with_capacity(how.resamples);
    for _ in 0..how.resamples {
        drawn.fill_with(|| random.scaled_below(clusters));
        values.extend(statistic(&drawn).filter(|value| value.is_finite()));
    }
    let tail = (1.0 - how.level) / 2.0;
    let (low, high) = (quantile(&values, tail)?, quantile(&values, 1.0 - tail)?);
    Some(Estimate { value, low, high })
}

/// The half width, in standard deviations, of the interval that holds `level` of the normal
/// distribution: 1.96 for 0.95.
pub fn normal_width(level: f64) -> Option<f64> {
    if !(0.0 < level && level < 1.0) {
        return None;
    }
    // Bisection on the distribution function; 12 standard deviations hold every level below 1.
    let (mut low, mut high) = (0.0, 12.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if within(middle) < level { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high))
}

/// The share of the normal distribution within `z` standard deviations: `erf(z / sqrt 2)`.
///
/// The series `2 phi(z) sum_n z^(2n+1) / (1 3 5 ... (2n+1))` has positive terms alone, so that
/// nothing cancels. "Handbook of Mathematical Functions" (Abramowitz, Stegun), 26.2.11.
fn within(z: f64) -> f64 {
    let mut term = z;
    let mut sum = z;
    let mut odd = 1.0;
    while term > sum * 1e-17 {
        odd += 2.0;
        term *= z * z / odd;
        sum += term;
    }
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    2.0 * density * sum
}

/// The paired difference of two runs over the prompts that both have: `b - a`, one pair a prompt.
/// `None` of no pairs.
///
/// Source: Miller 2024 (as above), section 4.2: the variance of the differences, not of each run.
pub fn paired_difference(pairs: &[(f64, f64)]) -> Option<ClusteredMean> {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
    clustered_mean(differences.chunks(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn the_normal_widths_are_those_of_the_tables() {
        for (level, width) in
            [(0.95, 1.959_963_984_540), (0.99, 2.575_829_303_549), (0.5, 0.674_489_750_196)]
        {
            assert!(near(normal_width(level).unwrap(), width), "{level}");
        }
        assert_eq!((normal_width(0.0), normal_width(1.0)), (None, None));
    }

    #[test]
    fn clopper_and_pearson_as_tables_have_it() {
        // Of R's `binom.test`.
        for (successes, trials, low, high) in [
            (3, 10, 0.066_739_51, 0.652_452_84),
            (0, 20, 0.0, 0.168_433_47),
            (20, 20, 0.831_566_53, 1.0),
            (500, 1000, 0.468_548_5, 0.531_451_5),
        ] {
            let found = clopper_pearson(successes, trials, 0.95).unwrap();
            assert!(
                (found.low - low).abs() < 1e-6 && (found.high - high).abs() < 1e-6,
                "{found:?}"
            );
        }
        assert_eq!((clopper_pearson(0, 0, 0.95), clopper_pearson(2, 1, 0.95)), (None, None));
        let many = clopper_pearson(60_000, 120_000, 0.95).unwrap();
        assert!(
            many.low > 0.49 && many.high < 0.51 && many.low < 0.5 && many.high > 0.5,
            "{many:?}"
        );
    }

    #[test]
    fn wilson_by_hand() {
        // n = 10, c = 3, z = 1.96: (0.3 + 0.19208) / 1.38416 = 0.3555, half width 0.2478.
        let estimate = wilson(3, 10, 0.95).unwrap();
        assert!((estimate.low - 0.107_791).abs() < 1e-5, "{estimate:?}");
        assert!((estimate.high - 0.603_222).abs() < 1e-5, "{estimate:?}");
        let none = wilson(0, 4, 0.95).unwrap();
        assert!(none.low == 0.0 && none.high > 0.4 && none.value == 0.0);
        assert_eq!((wilson(0, 0, 0.95), wilson(2, 1, 0.95), wilson(1, 2, 1.0)), (None, None, None));
    }

    #[test]
    fn rows_of_a_cluster_that_agree_count_as_one() {
        // Two prompts, two equal rollouts each: the deviations are +-0.5, the naive variance of the
        // mean (4 * 0.25 / 3) / 4, and the pairs add 4 * 0.25 / 16.
        let (right, wrong) = ([1.0, 1.0], [0.0, 0.0, f64::NAN]);
        let mean = clustered_mean([&right[..], &wrong[..]]).unwrap();
        assert_eq!((mean.mean, mean.rows, mean.clusters), (0.5, 4, 2));
        assert!(near(mean.naive_error.unwrap().powi(2), 1.0 / 12.0));
        assert!(near(mean.standard_error.unwrap().powi(2), 1.0 / 12.0 + 1.0 / 16.0));
        let interval = mean.interval(0.95).unwrap();
        assert!(near(interval.high - interval.value, interval.value - interval.low));
        assert_eq!(clustered_mean([&right[..]]).unwrap().standard_error, None);
        assert_eq!(clustered_mean([&[][..]]), None);
    }

    #[test]
    fn clusters_of_one_row_have_the_naive_error() {
        let rows = [0.0, 1.0, 1.0, 0.5];
        let mean = clustered_mean(rows.chunks(1)).unwrap();
        assert!(near(mean.naive_error.unwrap(), mean.standard_error.unwrap()));
        let paired = paired_difference(&[(0.0, 1.0), (0.5, 0.5)]).unwrap();
        assert!(near(paired.mean, 0.5));
        assert!(near(paired.standard_error.unwrap(), 0.5));
    }

    #[test]
    fn the_bootstrap_repeats_itself_and_holds_the_value() {
        let values = [0.0, 0.25, 0.5, 0.75, 1.0];
        let statistic = |drawn: &[usize]| {
            corrected_mean(
                &drawn.iter().filter_map(|at| values.get(*at).copied()).collect::<Vec<_>>(),
            )
        };
        let one = resampled(5, Resampling::default(), statistic).unwrap();
        assert_eq!(one, resampled(5, Resampling::default(), statistic).unwrap());
        assert!(one.low < one.value && one.value < one.high && near(one.value, 0.5));
        let wide = Resampling { level: 0.99, ..Resampling::default() };
        let wide = resampled(5, wide, statistic).unwrap();
        assert!(wide.low <= one.low && wide.high >= one.high);
        assert_eq!(resampled(0, Resampling::default(), statistic), None);
    }
}
