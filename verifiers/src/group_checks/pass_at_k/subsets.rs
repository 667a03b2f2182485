//! Means over all sets of k members of a group, of the best reward in the set.

use crate::prelude::*;
use crate::stats::float;

/// The rewards of a group, sorted.
pub(super) struct Subsets {
    ascending: Vec<f64>,
}

impl Subsets {
    pub(super) fn new(values: &[f64]) -> Self {
        let mut ascending = values.to_vec();
        ascending.sort_by(f64::total_cmp);
        Self { ascending }
    }

    pub(super) fn count(&self) -> usize {
        self.ascending.len()
    }

    /// The mean of the best reward over all sets of `k` members; where a member is left out, over
    /// the sets of the others. 0 where there is no such set.
    pub(super) fn mean_of_best(
        &self,
        k: usize,
        without: Option<f64>,
        meter: &mut Meter<'_>,
    ) -> Result<f64, Fault> {
        self.mean_of_maximum(f64::NEG_INFINITY, k, without, meter)
    }

    /// The mean of the best reward over all sets of `k` members that a member with this reward is
    /// in.
    pub(super) fn mean_with(
        &self,
        value: f64,
        k: usize,
        meter: &mut Meter<'_>,
    ) -> Result<f64, Fault> {
        if k == 1 {
            return Ok(value);
        }
        self.mean_of_maximum(value, k - 1, Some(value), meter)
    }

    /// The mean, over all sets of `k` members, of the best reward in the set, at least `floor`. One
    /// member with the reward `without` is left out.
    fn mean_of_maximum(
        &self,
        floor: f64,
        k: usize,
        without: Option<f64>,
        meter: &mut Meter<'_>,
    ) -> Result<f64, Fault> {
        let left_out = without.map(|value| self.ascending.partition_point(|one| *one < value));
        let count = self.count() - usize::from(left_out.is_some());
        if k == 0 || k > count {
            return Ok(0.0);
        }
        meter.spend(10 * (count as u64).saturating_mul(k as u64))?;
        let of_others = self.ascending.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        let others = of_others.map(|(_, value)| value.max(floor));
        // The shares sum to 1; counted from the best down, what all sets have in common is exact.
        let best = others.clone().fold(floor, f64::max);
        let missed = others
            .zip(0..)
            .filter(|(value, _)| *value < best)
            .map(|(value, below)| (best - value) * share_of_best(below, count, k));
        Ok(best - missed.sum::<f64>())
    }
}

/// How many of the sets of `k` among `count` members have the member with `below` others below it
/// as their best: C(below, k - 1)/C(count, k).
fn share_of_best(below: usize, count: usize, k: usize) -> f64 {
    if below + 1 < k {
        return 0.0;
    }
    // C(below, k-1)/C(count, k) = k/count * C(below, k-1)/C(count-1, k-1), factor by factor.
    let factor = |at: usize| float(below - at) / float(count - 1 - at);
    float(k) / float(count) * (0..k - 1).map(factor).product::<f64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All sets of `k` of the indices below `count`.
    fn sets(count: usize, k: usize) -> Vec<Vec<usize>> {
        (0..1_usize << count)
            .filter(|set| set.count_ones() as usize == k)
            .map(|set| (0..count).filter(|at| set & (1 << at) != 0).collect())
            .collect()
    }

    fn best(values: &[f64], set: &[usize]) -> f64 {
        set.iter().map(|at| values[*at]).fold(f64::NEG_INFINITY, f64::max)
    }

    fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
        values.clone().sum::<f64>() / float(values.count())
    }

    proptest! {
        #[test]
        fn means_are_those_of_all_sets(
            values in proptest::collection::vec((-4..5_i32).prop_map(f64::from), 2..8),
            k in 1..8_usize,
            at in 0..8_usize,
        ) {
            let (k, at) = (1 + (k - 1) % values.len(), at % values.len());
            let (subsets, mut meter) = (Subsets::new(&values), Meter::default());
            let all = sets(values.len(), k);
            let wanted = mean(all.iter().map(|set| best(&values, set)));
            let got = subsets.mean_of_best(k, None, &mut meter).unwrap();
            prop_assert!((got - wanted).abs() < 1e-12, "{got} {wanted}");
            let with: Vec<_> = all.iter().filter(|set| set.contains(&at)).collect();
            let wanted = mean(with.iter().map(|set| best(&values, set)));
            let got = subsets.mean_with(values[at], k, &mut meter).unwrap();
            prop_assert!((got - wanted).abs() < 1e-12, "with: {got} {wanted}");
            let without: Vec<_> = all.iter().filter(|set| !set.contains(&at)).collect();
            let got = subsets.mean_of_best(k, Some(values[at]), &mut meter).unwrap();
            if without.is_empty() {
                prop_assert!(got.abs() < 1e-12, "{got}");
            } else {
                let wanted = mean(without.iter().map(|set| best(&values, set)));
                prop_assert!((got - wanted).abs() < 1e-12, "without: {got} {wanted}");
            }
        }
    }

    #[test]
    fn pass_at_k_is_that_of_the_paper() {
        // 1 - C(7, 2)/C(10, 2) = 1 - 21/45.
        let values: Vec<f64> = (0..10).map(|at| f64::from(u8::from(at < 3))).collect();
        let pass = Subsets::new(&values).mean_of_best(2, None, &mut Meter::default()).unwrap();
        assert!((pass - 24.0 / 45.0).abs() < 1e-15);
    }

    #[test]
    fn large_groups_stay_finite() {
        let values: Vec<f64> = (0..4000).map(f64::from).collect();
        let best =
            Subsets::new(&values).mean_of_best(2000, None, &mut Meter::new(u64::MAX)).unwrap();
        assert!((3997.0..4000.0).contains(&best), "{best}");
    }
}
