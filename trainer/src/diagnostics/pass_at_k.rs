//! pass@k and maj@k of one prompt, from more samples than k.

use assay_verifiers::stats::float;
use serde::Serialize;

/// The probability that at least one of `k` samples is correct, estimated without bias from
/// `samples` samples of which `correct` are: `1 - C(n - c, k) / C(n, k)`, as a product, so that no
/// binomial overflows. `None` where `k` is 0 or above `samples`, or `correct` is above `samples`.
///
/// Source: "Evaluating Large Language Models Trained on Code" (Chen et al. 2021), section 2.1.
pub fn pass_at_k(samples: usize, correct: usize, k: usize) -> Option<f64> {
    if k == 0 || k > samples || correct > samples {
        return None;
    }
    if samples - correct < k {
        return Some(1.0);
    }
    if k == 1 {
        return Some(float(correct) / float(samples));
    }
    let factors = (samples - correct + 1..=samples).map(|i| 1.0 - float(k) / float(i));
    Some(1.0 - factors.product::<f64>())
}

/// The samples of a prompt that gave one answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnswerCluster {
    /// How many gave it.
    pub count: usize,
    /// Its value: 1 where it is correct, 0 where it is wrong; the mean where its samples were judged
    /// differently.
    pub value: f64,
}

/// The expected value of the most frequent answer among `k` samples, drawn without replacement from
/// those of the clusters. Answers that are equally frequent share the vote: two of them, one correct,
/// are worth 1/2. `None` where `k` is 0 or above the samples.
///
/// The expectation is exact: for each size m of the winning answers, a walk over the clusters sums the
/// hypergeometric probabilities of k samples of which no cluster has more than m. It takes about
/// `clusters * k^2 * log(k)` steps times k, and as many as clusters where k is all samples.
///
/// Source: majority voting of "Self-Consistency Improves Chain of Thought Reasoning in Language
/// Models" (Wang et al. 2022), section 2.
pub fn majority_at_k(clusters: &[AnswerCluster], k: usize) -> Option<f64> {
    let samples: usize = clusters.iter().map(|cluster| cluster.count).sum();
    if k == 0 || k > samples {
        return None;
    }
    if k == samples {
        return Some(whole_vote(clusters));
    }
    let logs = LogFactorials::up_to(samples);
    let most = clusters.iter().map(|cluster| cluster.count).max()?.min(k);
    Some((1..=most).map(|size| won_by_size(clusters, k, size, &logs)).sum::<f64>())
}

fn whole_vote(clusters: &[AnswerCluster]) -> f64 {
    let most = clusters.iter().map(|cluster| cluster.count).max();
    let winners = clusters.iter().filter(|cluster| Some(cluster.count) == most);
    let values: Vec<f64> = winners.map(|cluster| cluster.value).collect();
    values.iter().sum::<f64>() / float(values.len())
}

/// What is known of the samples drawn so far, by how many clusters have the winning size.
#[derive(Clone, Copy, Default)]
struct Drawn {
    /// The probability.
    weight: f64,
    /// The probability times the sum of the values of the clusters of the winning size.
    value: f64,
}

/// The part of the expectation in which the winners have `size` samples each.
fn won_by_size(clusters: &[AnswerCluster], k: usize, size: usize, logs: &LogFactorials) -> f64 {
    let ties = k / size;
    // By samples that are still to be drawn, and by clusters of the winning size.
    let mut drawn = vec![vec![Drawn::default(); ties + 1]; k + 1];
    set(&mut drawn, (k, 0), Drawn { weight: 1.0, value: 0.0 });
    let mut left: usize = clusters.iter().map(|cluster| cluster.count).sum();
    for cluster in clusters {
        let mut next = vec![vec![Drawn::default(); ties + 1]; k + 1];
        let rest = left - cluster.count;
        for (open, by_ties) in drawn.iter().enumerate() {
            for taken in 0..=cluster.count.min(size).min(open) {
                if open - taken > rest || open > left {
                    continue;
                }
                let share = logs.hypergeometric(cluster.count, taken, rest, open - taken);
                let wins = taken == size;
                for (tied, before) in by_ties.iter().enumerate().take(ties + 1) {
                    let won = if wins { cluster.value } else { 0.0 };
                    let Drawn { weight, value } = *before;
                    let value = share * (value + weight * won);
                    let after = Drawn { weight: share * weight, value };
                    set(&mut next, (open - taken, tied + usize::from(wins)), after);
                }
            }
        }
        (drawn, left) = (next, rest);
    }
    let ended = drawn.first().map(Vec::as_slice).unwrap_or_default();
    ended.iter().enumerate().skip(1).map(|(tied, drawn)| drawn.value / float(tied)).sum()
}

/// Adds to one place; what is outside has no probability.
fn set(drawn: &mut [Vec<Drawn>], (open, tied): (usize, usize), more: Drawn) {
    if let Some(place) = drawn.get_mut(open).and_then(|by_ties| by_ties.get_mut(tied)) {
        place.weight += more.weight;
        place.value += more.value;
    }
}

/// `ln n!` for each n.
struct LogFactorials(Vec<f64>);

impl LogFactorials {
    fn up_to(most: usize) -> Self {
        let mut sum = 0.0;
        let logs = (1..=most).map(|n| {
            sum += float(n).ln();
            sum
        });
        Self(std::iter::once(0.0).chain(logs).collect())
    }

    /// The probability of `taken` out of `own` and `other` out of `rest`, where `taken + other` are
    /// drawn out of all.
    fn hypergeometric(&self, own: usize, taken: usize, rest: usize, other: usize) -> f64 {
        let ways = self.choose(own, taken) + self.choose(rest, other);
        (ways - self.choose(own + rest, taken + other)).exp()
    }

    #[expect(clippy::indexing_slicing, reason = "nobody chooses among more than there are")]
    fn choose(&self, n: usize, k: usize) -> f64 {
        self.0[n] - self.0[k] - self.0[n.saturating_sub(k)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    fn clusters(clusters: &[(usize, f64)]) -> Vec<AnswerCluster> {
        clusters
            .iter()
            .map(|(count, value)| AnswerCluster { count: *count, value: *value })
            .collect()
    }

    #[test]
    fn pass_at_k_by_hand() {
        // 1 - C(7, 2) / C(10, 2) = 1 - 21 / 45.
        assert!(near(pass_at_k(10, 3, 2), 24.0 / 45.0));
        assert_eq!(pass_at_k(10, 3, 1), Some(0.3));
        assert_eq!(pass_at_k(10, 3, 8), Some(1.0));
        assert_eq!(pass_at_k(5, 0, 5), Some(0.0));
        assert!(near(pass_at_k(100_000, 1, 50_000), 0.5));
        for (n, c, k) in [(3, 1, 4), (3, 1, 0), (0, 0, 1), (2, 3, 1)] {
            assert_eq!(pass_at_k(n, c, k), None);
        }
    }

    #[test]
    fn majority_by_hand() {
        // Two right, one wrong. Two samples: right twice with 1/3, one of each with 2/3.
        let two = clusters(&[(2, 1.0), (1, 0.0)]);
        assert!(near(majority_at_k(&two, 1), 2.0 / 3.0));
        assert!(near(majority_at_k(&two, 2), 1.0 / 3.0 + 2.0 / 3.0 / 2.0));
        assert_eq!(majority_at_k(&two, 3), Some(1.0));
        assert_eq!(majority_at_k(&clusters(&[(2, 1.0), (2, 0.0), (2, 0.0)]), 6), Some(1.0 / 3.0));
        assert_eq!((majority_at_k(&two, 4), majority_at_k(&two, 0)), (None, None));
    }

    /// The same by every subset.
    fn by_subsets(clusters: &[AnswerCluster], k: usize) -> f64 {
        let owners: Vec<usize> = (0..clusters.len())
            .flat_map(|at| std::iter::repeat_n(at, clusters[at].count))
            .collect();
        let (mut sum, mut subsets) = (0.0, 0.0);
        for mask in 0_u32..1 << owners.len() {
            if mask.count_ones() as usize == k {
                let mut counts = vec![0; clusters.len()];
                for (at, owner) in owners.iter().enumerate() {
                    counts[*owner] += (mask >> at) as usize & 1;
                }
                let drawn = counts.iter().zip(clusters);
                let drawn =
                    drawn.map(|(count, cluster)| AnswerCluster { count: *count, ..*cluster });
                sum += whole_vote(&drawn.collect::<Vec<_>>());
                subsets += 1.0;
            }
        }
        sum / subsets
    }

    proptest! {
        #[test]
        fn majority_is_the_mean_over_all_subsets(
            drawn in prop::collection::vec((1_usize..4, 0.0..1.0), 1..4),
        ) {
            let clusters = clusters(&drawn);
            let samples: usize = drawn.iter().map(|(count, _)| count).sum();
            for k in 1..=samples {
                prop_assert!(near(majority_at_k(&clusters, k), by_subsets(&clusters, k)));
            }
        }

        #[test]
        fn pass_at_k_is_the_binomial_form_and_grows(samples in 1_usize..30, correct in 0_usize..30) {
            let correct = correct.min(samples);
            let choose = |n: usize, k: usize| (0..k).map(|i| float(n - i) / float(i + 1)).product::<f64>();
            let mut before = 0.0;
            for k in 1..=samples {
                let none = if samples - correct < k { 0.0 } else { choose(samples - correct, k) };
                let value = pass_at_k(samples, correct, k);
                prop_assert!(near(value, 1.0 - none / choose(samples, k)));
                prop_assert!(value.unwrap() >= before - 1e-12);
                before = value.unwrap();
            }
        }
    }
}
