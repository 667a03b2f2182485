//! Drift: how far two samples of a reward are apart as distributions, such as those of two runs.

use assay_verifiers::stats::{corrected_mean, float, present, ratio};
use serde::Serialize;

/// How far two samples are apart. Each is `null` where a sample is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Drift {
    /// Values of the first sample.
    pub first: usize,
    /// Values of the second.
    pub second: usize,
    /// The mean of the second minus that of the first.
    pub mean_shift: Option<f64>,
    /// The greatest distance of the distribution functions, 0 to 1: Kolmogorov and Smirnov.
    pub kolmogorov_smirnov: Option<f64>,
    /// The area between the distribution functions, in units of the reward: Wasserstein's distance of
    /// order 1.
    pub wasserstein: Option<f64>,
    /// Kullback and Leibler's divergence of the second from the first, over bins, in nats:
    /// `sum q ln(q / p)`.
    pub kullback_leibler: Option<f64>,
    /// Jensen and Shannon's divergence over bins, in nats, 0 to ln 2.
    pub jensen_shannon: Option<f64>,
    /// Half the sum of the differences over bins, 0 to 1: total variation.
    pub total_variation: Option<f64>,
    /// The population stability index over bins: `sum (q - p) ln(q / p)`. By custom, below 0.1 is
    /// stable and above 0.25 is a shift.
    pub stability_index: Option<f64>,
    /// The bins that were used.
    pub bins: usize,
}

/// Compares two samples; values that are not finite are left out. Where both have at most `bins`
/// different values, each of these is a bin, else bins have equal width over the range of both. For
/// the divergences that divide, half a row is added to each bin, so that an empty bin is not infinite.
///
/// Sources: "On Information and Sufficiency" (Kullback, Leibler 1951); "Divergence Measures Based on
/// the Shannon Entropy" (Lin 1991); "An Invariant Form for the Prior Probability in Estimation
/// Problems" (Jeffreys 1946), whose divergence the stability index is.
pub fn drift(first: &[f64], second: &[f64], bins: usize) -> Drift {
    let (mut first, mut second) = (present(first), present(second));
    first.sort_by(f64::total_cmp);
    second.sort_by(f64::total_cmp);
    let mut found = Drift { first: first.len(), second: second.len(), ..Drift::default() };
    let (Some(before), Some(after)) = (corrected_mean(&first), corrected_mean(&second)) else {
        return found;
    };
    found.mean_shift = Some(after - before);
    let (greatest, area) = between_functions(&first, &second);
    found.kolmogorov_smirnov = Some(greatest);
    found.wasserstein = Some(area);
    let edges = edges(&first, &second, bins.max(1));
    let (p, q) = (counts(&first, &edges), counts(&second, &edges));
    found.bins = p.len();
    found.jensen_shannon = jensen_shannon(&shares(&p, 0.0), &shares(&q, 0.0));
    found.total_variation = total_variation(&shares(&p, 0.0), &shares(&q, 0.0));
    let (p, q) = (shares(&p, 0.5), shares(&q, 0.5));
    found.kullback_leibler = kullback_leibler(&q, &p);
    let index = p.iter().zip(&q).map(|(p, q)| (q - p) * (q / p).ln()).sum::<f64>();
    found.stability_index = Some(index);
    found
}

/// `sum p ln(p / q)` over two distributions with the same places, in nats; infinite where `q` is 0 and
/// `p` is not. `None` where the places are not the same many.
pub fn kullback_leibler(p: &[f64], q: &[f64]) -> Option<f64> {
    let term = |(p, q): (&f64, &f64)| if *p > 0.0 { p * (p / q).ln() } else { 0.0 };
    (p.len() == q.len()).then(|| p.iter().zip(q).map(term).sum::<f64>().max(0.0))
}

/// The mean divergence of two distributions from their mean, in nats, 0 to ln 2. `None` where the
/// places are not the same many.
pub fn jensen_shannon(p: &[f64], q: &[f64]) -> Option<f64> {
    let middle: Vec<f64> = p.iter().zip(q).map(|(p, q)| f64::midpoint(*p, *q)).collect();
    if p.len() != q.len() {
        return None;
    }
    Some(f64::midpoint(kullback_leibler(p, &middle)?, kullback_leibler(q, &middle)?))
}

/// Half the sum of the differences of two distributions, 0 to 1. `None` where the places are not the
/// same many.
pub fn total_variation(p: &[f64], q: &[f64]) -> Option<f64> {
    (p.len() == q.len()).then(|| p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0)
}

/// The greatest distance of the distribution functions of sorted values, and the area between them.
fn between_functions(first: &[f64], second: &[f64]) -> (f64, f64) {
    let mut places = [first, second].concat();
    places.sort_by(f64::total_cmp);
    let (mut at_first, mut at_second) = (0, 0);
    let (mut greatest, mut area) = (0.0_f64, 0.0);
    let next = places.iter().skip(1).map(Some).chain([None]);
    for (place, next) in places.iter().zip(next) {
        let upto = |values: &[f64], from: usize| {
            from + values.iter().skip(from).take_while(|value| *value <= place).count()
        };
        at_first = upto(first, at_first);
        at_second = upto(second, at_second);
        let gap = float(at_first) / float(first.len()) - float(at_second) / float(second.len());
        greatest = greatest.max(gap.abs());
        let width = next.map_or(0.0, |next| next - place);
        area += gap.abs() * width;
    }
    (greatest, area)
}

/// The upper edges of all bins but the last.
fn edges(first: &[f64], second: &[f64], bins: usize) -> Vec<f64> {
    let mut values = [first, second].concat();
    values.sort_by(f64::total_cmp);
    let (least, most) = (values.first().copied(), values.last().copied());
    values.dedup();
    if values.len() <= bins {
        values.pop();
        return values;
    }
    let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
    (1..bins).map(|bin| least + (most - least) * float(bin) / float(bins)).collect()
}

fn counts(values: &[f64], edges: &[f64]) -> Vec<usize> {
    let mut counts = vec![0; edges.len() + 1];
    for value in values {
        let bin = edges.partition_point(|edge| edge < value);
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    counts
}

fn shares(counts: &[usize], added: f64) -> Vec<f64> {
    let whole: f64 = counts.iter().map(|count| float(*count) + added).sum();
    counts.iter().filter_map(|count| ratio(float(*count) + added, whole)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn two_levels_by_hand() {
        // 1/4 and 3/4 are right.
        let found = drift(&[0.0, 0.0, 0.0, 1.0], &[0.0, 1.0, 1.0, 1.0, f64::NAN], 10);
        assert_eq!((found.first, found.second, found.bins), (4, 4, 2));
        assert!(near(found.mean_shift, 0.5) && near(found.kolmogorov_smirnov, 0.5));
        assert!(near(found.wasserstein, 0.5) && near(found.total_variation, 0.5));
        // Middle (1/2, 1/2): 1/4 ln(1/2) + 3/4 ln(3/2), the same for both.
        let divergence = 0.25 * 0.5_f64.ln() + 0.75 * 1.5_f64.ln();
        assert!(near(found.jensen_shannon, divergence));
        // With half a row in each bin: (3.5, 1.5) and (1.5, 3.5) of 5.
        assert!(near(found.kullback_leibler, 0.4 * (3.5_f64 / 1.5).ln()));
        assert!(near(found.stability_index, 0.8 * (3.5_f64 / 1.5).ln()));
    }

    #[test]
    fn nothing_to_compare() {
        let found = drift(&[f64::NAN], &[1.0], 10);
        assert_eq!((found.mean_shift, found.jensen_shannon, found.bins), (None, None, 0));
        assert_eq!(kullback_leibler(&[1.0], &[]), None);
        assert_eq!(jensen_shannon(&[1.0], &[]), None);
        assert_eq!(kullback_leibler(&[1.0, 0.0], &[0.0, 1.0]), Some(f64::INFINITY));
    }

    proptest! {
        #[test]
        fn a_sample_does_not_drift_from_itself_and_bounds_hold(
            first in prop::collection::vec(-5.0..5.0, 1..40),
            second in prop::collection::vec(-5.0..5.0, 1..40),
        ) {
            let same = drift(&first, &first, 8);
            prop_assert!(near(same.kolmogorov_smirnov, 0.0) && near(same.stability_index, 0.0));
            prop_assert!(near(same.wasserstein, 0.0) && near(same.jensen_shannon, 0.0));
            let (there, back) = (drift(&first, &second, 8), drift(&second, &first, 8));
            prop_assert!(near(there.jensen_shannon, back.jensen_shannon.unwrap()));
            prop_assert!(near(there.wasserstein, back.wasserstein.unwrap()));
            prop_assert!(there.jensen_shannon.unwrap() <= std::f64::consts::LN_2 + 1e-12);
            // The area is at least the shift of the mean.
            prop_assert!(there.wasserstein.unwrap() >= there.mean_shift.unwrap().abs() - 1e-9);
        }
    }
}
