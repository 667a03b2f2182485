//! Bootstrap intervals.

use assay_verifiers::stats::{SplitMix64, quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

/// How an interval is found: "An Introduction to the Bootstrap" (Efron, Tibshirani 1993), the
/// percentile method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(default, deny_unknown_fields)]
pub struct Bootstrap {
    /// How often the cases are drawn again; 1000.
    #[default(1000)]
    pub resamples: usize,
    /// The share of the resamples within the interval, between 0 and 1; 0.95.
    #[default(0.95)]
    pub level: f64,
    /// The seed of the draws; the same seed gives the same interval.
    pub seed: u64,
}

/// An interval for a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The statistic over the cases themselves.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The resamples in which the statistic is defined.
    pub resamples: usize,
}

/// The interval of a statistic over cases. `None` where it is not defined over the cases themselves or
/// in no resample, or where the level is not between 0 and 1.
pub fn bootstrap<Case: Clone>(
    cases: &[Case],
    how: Bootstrap,
    statistic: impl Fn(&[Case]) -> Option<f64>,
) -> Option<Interval> {
    let value = statistic(cases)?;
    if !(0.0 < how.level && how.level < 1.0) {
        return None;
    }
    let mut random = SplitMix64::new(how.seed);
    let mut drawn: Vec<Case> = Vec::with_capacity(cases.len());
    let mut values = Vec::new();
    for _ in 0..how.resamples {
        drawn.clear();
        let picks = (0..cases.len()).filter_map(|_| cases.get(random.below(cases.len())));
        drawn.extend(picks.cloned());
        values.extend(statistic(&drawn).filter(|value| value.is_finite()));
    }
    let tail = (1.0 - how.level) / 2.0;
    let (low, high) = (quantile(&values, tail)?, quantile(&values, 1.0 - tail)?);
    Some(Interval { value, low, high, resamples: values.len() })
}
