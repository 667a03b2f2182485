//! What the rows of groups say of two regressors and a response, as sums that add up and fade.

use serde::{Deserialize, Serialize};

/// The second moments of one group about its means, each a mean over its rows: `cc`, `cf`, `ff`, `ca`,
/// `fa` of rightness `c`, a feature `f` and the advantage `a`.
pub(super) type GroupMoments = [f64; 5];

/// Sums of the moments of groups, and of their products, for standard errors with groups as clusters.
///
/// With `v` the moments of a group, every estimate here is a smooth function of `sum v`; its influence
/// is `q . v` of each group, and its variance `sum (q . v)^2 = q' P q` with `P = sum v v'` (the sandwich
/// of "A Heteroskedasticity-Consistent Covariance Matrix Estimator", White 1980, over clusters). As
/// `sum v` and `P` add up, groups of steps that are gone count less by a factor, and no row is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PayMoments {
    /// The sum of the weights of the groups.
    weight: f64,
    /// The sum of their squares.
    weight_squared: f64,
    sums: [f64; 5],
    /// The upper triangle of `P`, row after row.
    products: [f64; 15],
}

/// A number and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimated {
    /// The number.
    pub(super) value: f64,
    /// Its standard error.
    pub(super) error: f64,
}

impl Estimated {
    /// Above `limit` by more than `errors` standard errors.
    pub(super) fn is_above(self, limit: f64, errors: f64) -> bool {
        self.value - errors * self.error > limit
    }

    /// Below `limit` by more than `errors` standard errors.
    pub(super) fn is_below(self, limit: f64, errors: f64) -> bool {
        self.value + errors * self.error < limit
    }
}

impl PayMoments {
    /// Adds a group. One with a number that is not finite is left out.
    pub(super) fn add(&mut self, group: GroupMoments) {
        if !group.iter().all(|moment| moment.is_finite() && moment.abs() < 1e100) {
            return;
        }
        self.weight += 1.0;
        self.weight_squared += 1.0;
        for (sum, moment) in self.sums.iter_mut().zip(group) {
            *sum += moment;
        }
        let pairs = group
            .iter()
            .enumerate()
            .flat_map(|(at, first)| group.iter().skip(at).map(move |second| first * second));
        for (product, pair) in self.products.iter_mut().zip(pairs) {
            *product += pair;
        }
    }

    /// What was added so far counts `factor` as much.
    pub(super) fn fade(&mut self, factor: f64) {
        self.weight *= factor;
        self.weight_squared *= factor * factor;
        for sum in &mut self.sums {
            *sum *= factor;
        }
        for product in &mut self.products {
            *product *= factor * factor;
        }
    }

    /// The same with the feature turned round: `-f`.
    pub(super) fn mirrored(&self) -> Self {
        let mut mirrored = self.clone();
        let signs = [1.0, -1.0, 1.0, 1.0, -1.0];
        for (sum, sign) in mirrored.sums.iter_mut().zip(signs) {
            *sum *= sign;
        }
        let pairs = signs
            .iter()
            .enumerate()
            .flat_map(|(at, first)| signs.iter().skip(at).map(move |second| first * second));
        for (product, sign) in mirrored.products.iter_mut().zip(pairs) {
            *product *= sign;
        }
        mirrored
    }

    /// How many groups of equal weight would tell as much: `(sum w)^2 / sum w^2` (Kish 1965).
    pub(super) fn groups(&self) -> f64 {
        let squared = self.weight * self.weight / self.weight_squared;
        if squared.is_finite() { squared } else { 0.0 }
    }

    /// The sum of the weights: how many groups are remembered.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// The mean of `cc` and of `ff` over groups: the variances within groups.
    pub(super) fn spreads(&self) -> (f64, f64) {
        let [cc, _, ff, _, _] = self.sums;
        (cc / self.weight, ff / self.weight)
    }

    /// The slope of the advantage on rightness: what being right pays.
    pub(super) fn right_pays(&self) -> Option<Estimated> {
        let [cc, _, _, ca, _] = self.sums;
        let slope = ca / cc;
        self.estimated(slope, [-slope / cc, 0.0, 0.0, 1.0 / cc, 0.0])
    }

    /// The slope of the advantage on the feature, whatever its cause.
    pub(super) fn feature_pays(&self) -> Option<Estimated> {
        let [_, _, ff, _, fa] = self.sums;
        let slope = fa / ff;
        self.estimated(slope, [0.0, 0.0, -slope / ff, 0.0, 1.0 / ff])
    }

    /// The slope of rightness on the feature: how much more often completions with it are right.
    pub(super) fn feature_is_right(&self) -> Option<Estimated> {
        let [_, cf, ff, _, _] = self.sums;
        let slope = cf / ff;
        self.estimated(slope, [0.0, 1.0 / ff, -slope / ff, 0.0, 0.0])
    }

    /// What being right pays, and what the feature pays, each while the other is held fixed: the
    /// slopes of the regression of the advantage on both.
    pub(super) fn both_pay(&self) -> Option<(f64, f64)> {
        let [cc, cf, ff, ca, fa] = self.sums;
        let determinant = cc * ff - cf * cf;
        if determinant <= 1e-9 * cc * ff {
            return None;
        }
        Some(((ca * ff - fa * cf) / determinant, (fa * cc - ca * cf) / determinant))
    }

    /// What the feature pays less `times` what being right pays, each while the other is held fixed.
    pub(super) fn feature_over_right(&self, times: f64) -> Option<Estimated> {
        let (right, feature) = self.both_pay()?;
        let [cc, cf, ff, _, _] = self.sums;
        let determinant = cc * ff - cf * cf;
        // The contrast (-times, 1) through the inverse of ((cc, cf), (cf, ff)).
        let on_right = (-times * ff - cf) / determinant;
        let on_feature = (times * cf + cc) / determinant;
        let influence = [
            -on_right * right,
            -on_right * feature - on_feature * right,
            -on_feature * feature,
            on_right,
            on_feature,
        ];
        self.estimated(feature - times * right, influence)
    }

    fn estimated(&self, value: f64, influence: [f64; 5]) -> Option<Estimated> {
        let pairs = influence.iter().enumerate().flat_map(|(at, first)| {
            let others = influence.iter().skip(at).enumerate();
            others.map(move |(off, second)| first * second * if off == 0 { 1.0 } else { 2.0 })
        });
        let variance: f64 = pairs.zip(self.products).map(|(pair, product)| pair * product).sum();
        // Few clusters make the sandwich too narrow by this factor.
        let groups = self.groups();
        let error = (variance.max(0.0) * groups / (groups - 1.0)).sqrt();
        (groups > 1.0 && value.is_finite() && error.is_finite())
            .then_some(Estimated { value, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    fn of(groups: &[GroupMoments]) -> PayMoments {
        let mut moments = PayMoments::default();
        for group in groups {
            moments.add(*group);
        }
        moments
    }

    #[test]
    fn what_being_right_pays_by_hand() {
        // Slopes of the groups 2 and 1 at equal spread: 1.5. Influences (0.5 - 1.5 * 0.25) / 0.5 =
        // 0.25 and -0.25: variance 2 * 0.0625, times 2 / 1.
        let found = of(&[[0.25, 0.0, 0.0, 0.5, 0.0], [0.25, 0.0, 0.0, 0.25, 0.0]]).right_pays();
        let found = found.unwrap();
        assert!(near(found.value, 1.5) && near(found.error, 0.5), "{found:?}");
        assert!(found.is_above(0.9, 1.0) && !found.is_above(1.0, 1.0));
        assert!(found.is_below(2.1, 1.0) && !found.is_below(2.0, 1.0));
    }

    #[test]
    fn payments_at_a_fixed_other_are_those_of_the_regression() {
        // a = 2 c + 3 f with cc 0.25, ff 0.5, cf 0.1: ca = 0.5 + 0.3, fa = 0.2 + 1.5.
        let moments = of(&[[0.25, 0.1, 0.5, 0.8, 1.7], [0.5, 0.2, 1.0, 1.6, 3.4]]);
        let (right, feature) = moments.both_pay().unwrap();
        assert!(near(right, 2.0) && near(feature, 3.0));
        let contrast = moments.feature_over_right(1.25).unwrap();
        assert!(near(contrast.value, 0.5) && contrast.error < 1e-6, "{contrast:?}");
        assert!(near(moments.feature_is_right().unwrap().value, 0.2));
        assert!(near(moments.feature_pays().unwrap().value, 3.4));
    }

    #[test]
    fn a_feature_turned_round_pays_the_opposite() {
        let groups = [[0.25, 0.1, 0.5, 0.8, 1.7], [0.2, 0.05, 0.3, 0.1, 0.4]];
        let turned = groups.map(|[cc, cf, ff, ca, fa]| [cc, -cf, ff, ca, -fa]);
        assert_eq!(of(&groups).mirrored(), of(&turned));
    }

    #[test]
    fn what_fades_counts_less() {
        let mut moments = of(&[[1.0, 0.0, 0.0, 4.0, 0.0]]);
        moments.fade(0.5);
        moments.add([1.0, 0.0, 0.0, 1.0, 0.0]);
        // (0.5 * 4 + 1) / 1.5, and 1.5^2 / 1.25 groups.
        assert!(near(moments.right_pays().unwrap().value, 2.0));
        assert!(near(moments.groups(), 1.8) && near(moments.weight(), 1.5));
    }

    #[test]
    fn the_error_of_a_contrast_is_that_of_the_jackknife() {
        let groups: Vec<GroupMoments> = (0..60)
            .map(|at| {
                let noise = f64::from((at * 37) % 11) / 11.0 - 0.45;
                let tilt = f64::from((at * 53) % 7) / 70.0;
                let (cc, ff, cf) = (0.2 + tilt, 0.2, 0.05 - tilt);
                [cc, cf, ff, cc + 0.5 * cf + 0.1 * noise, cf + 0.5 * ff - 0.2 * noise]
            })
            .collect();
        let whole = of(&groups).feature_over_right(1.0).unwrap();
        let left_out = (0..groups.len()).map(|out| {
            let rest: Vec<GroupMoments> = groups
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != out)
                .map(|(_, own)| *own)
                .collect();
            of(&rest).feature_over_right(1.0).unwrap().value
        });
        let left_out: Vec<f64> = left_out.collect();
        let mean = left_out.iter().sum::<f64>() / 60.0;
        let spread: f64 = left_out.iter().map(|value| (value - mean).powi(2)).sum();
        let jackknife = (spread * 59.0 / 60.0).sqrt();
        assert!((whole.error / jackknife - 1.0).abs() < 0.05, "{} {jackknife}", whole.error);
    }

    #[test]
    fn nothing_is_estimated_of_nothing() {
        let empty = PayMoments::default();
        assert_eq!((empty.right_pays(), empty.both_pay(), empty.groups()), (None, None, 0.0));
        let mut hostile = of(&[[f64::NAN; 5], [f64::INFINITY; 5], [1e200; 5]]);
        assert_eq!(hostile, empty);
        hostile.fade(0.0);
        assert_eq!(hostile.feature_over_right(1.0), None);
        assert_eq!(of(&[[0.25, 0.0, 0.0, 0.5, 0.0]]).right_pays(), None);
    }
}
