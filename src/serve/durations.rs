//! A histogram of durations: several are written for every request, without a lock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

use super::striped::Striped;

/// The end of the first bucket, in nanoseconds: 10 µs. Each bucket ends at four times the one before.
const FIRST_NS: u64 = 10_000;
/// Buckets, the one without an end not counted: to 168 s.
const BUCKETS: usize = 13;
/// Where the sum is: after the bucket without an end.
const SUM_NS: usize = BUCKETS + 1;

/// How many durations are in each bucket, and their sum in nanoseconds. A clone is the same histogram.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations(Arc<Striped<{ SUM_NS + 1 }>>);

impl Durations {
    pub(crate) fn observe(&self, duration: Duration) {
        self.observe_ns(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(crate) fn observe_ns(&self, ns: u64) {
        self.0.add(bucket(ns), 1);
        self.0.add(SUM_NS, ns);
    }
}

/// The bucket of a duration: the first one whose end it does not exceed.
fn bucket(ns: u64) -> usize {
    let ends = (0..BUCKETS).map(|at| FIRST_NS << (2 * at));
    ends.take_while(|end| ns > *end).count()
}

#[expect(clippy::cast_precision_loss, reason = "seconds for people")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl TypedMetric for Durations {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Durations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let ends = (0..BUCKETS).map(|at| seconds(FIRST_NS << (2 * at))).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = ends.zip((0..SUM_NS).map(|at| self.0.sum(at))).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = seconds(self.0.sum(SUM_NS));
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn durations_lie_in_the_bucket_that_they_do_not_exceed() {
        assert_eq!([0, 10_000, 10_001, 40_000].map(bucket), [0, 0, 1, 1]);
        assert_eq!(bucket(u64::MAX), BUCKETS);
        let durations = Durations::default();
        for ms in [0, 1, 1, 1_000_000] {
            durations.observe(Duration::from_millis(ms));
        }
        let mut registry = Registry::default();
        registry.register("d", "help", durations);
        let mut page = String::new();
        text::encode(&mut page, &registry).unwrap();
        for line in [
            "d_count 4",
            "d_sum 1000.002",
            r#"d_bucket{le="0.00001"} 1"#,
            r#"d_bucket{le="+Inf"} 4"#,
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }
}
