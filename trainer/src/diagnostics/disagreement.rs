//! Annotators that disagree, and a model that should disagree like them.

use assay_verifiers::stats::{
    corrected_mean, entropy, float, present, ratio, sample_variance, share,
};
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::correlation::correlation;
use super::drift::{jensen_shannon, total_variation};

/// The labels of one item: numbers, such as grades or classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledItem<'a> {
    /// By people.
    pub people: &'a [f64],
    /// Samples of the model.
    pub model: &'a [f64],
}

/// Whether a model disagrees where people do. Means are over the items that have labels of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DisagreementReport {
    /// Items with labels of both.
    pub items: usize,
    /// Pearson's correlation of the variance of the labels of people with that of the model, over the
    /// items with two labels or more of both: `VarCorr`.
    pub variance_correlation: Option<f64>,
    /// The correlation of the entropies of the labels.
    pub entropy_correlation: Option<f64>,
    /// The mean divergence of Jensen and Shannon of the distributions of labels, in nats.
    pub jensen_shannon: Option<f64>,
    /// The mean total variation of them.
    pub total_variation: Option<f64>,
    /// The macro F1 of the majority labels: it hides that disagreement is not modelled.
    pub majority_f1: Option<f64>,
    /// Krippendorff's alpha of people, labels as names.
    pub alpha_people: Option<f64>,
    /// That of the samples of the model.
    pub alpha_model: Option<f64>,
}

/// Compares the disagreement of people with that of a model's samples.
///
/// Source: "Can Large Language Models Capture Human Annotator Disagreements?" (Ni et al. 2025),
/// section on evaluation: `VarCorr`, distributions, F1.
pub fn disagreement(items: &[LabelledItem<'_>]) -> DisagreementReport {
    let has_both = |item: &&LabelledItem<'_>| !item.people.is_empty() && !item.model.is_empty();
    let items: Vec<LabelledItem<'_>> = items.iter().filter(has_both).copied().collect();
    let distributions: Vec<(Vec<f64>, Vec<f64>)> = items.iter().map(distributions).collect();
    let of_each = |distance: fn(&[f64], &[f64]) -> Option<f64>| {
        let values = distributions.iter().filter_map(|(p, q)| distance(p, q));
        corrected_mean(&values.collect::<Vec<_>>())
    };
    let variances = items.iter().map(|item| {
        let both = sample_variance(item.people).zip(sample_variance(item.model));
        both.unwrap_or((f64::NAN, f64::NAN))
    });
    let (people, model): (Vec<f64>, Vec<f64>) = variances.unzip();
    let spread = |labels: &[f64]| entropy(counts(labels).into_values()).unwrap_or(f64::NAN);
    let (spread_people, spread_model): (Vec<f64>, Vec<f64>) =
        items.iter().map(|item| (spread(item.people), spread(item.model))).unzip();
    let majorities: Vec<(u64, u64)> = items
        .iter()
        .filter_map(|item| Some((majority(item.people)?, majority(item.model)?)))
        .collect();
    let units = |labels: fn(&LabelledItem<'_>) -> Vec<f64>| -> Vec<Vec<f64>> {
        items.iter().map(labels).collect()
    };
    DisagreementReport {
        items: items.len(),
        variance_correlation: correlation(&people, &model).pearson,
        entropy_correlation: correlation(&spread_people, &spread_model).pearson,
        jensen_shannon: of_each(jensen_shannon),
        total_variation: of_each(total_variation),
        majority_f1: macro_f1(&majorities),
        alpha_people: krippendorff_alpha(&units(|item| item.people.to_vec()), LabelScale::Nominal),
        alpha_model: krippendorff_alpha(&units(|item| item.model.to_vec()), LabelScale::Nominal),
    }
}

/// What the difference of two labels means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelScale {
    /// Labels are names: they are equal or not.
    Nominal,
    /// Labels are ranks.
    Ordinal,
    /// Labels are amounts.
    Interval,
}

/// Krippendorff's alpha over units, each with the labels that it was given (NaN: not given): 1 for
/// agreement, 0 for what chance gives, negative below. `None` where no unit has two labels or all
/// labels are equal.
///
/// Source: "Computing Krippendorff's Alpha-Reliability" (Krippendorff 2011), sections A to D.
pub fn krippendorff_alpha(units: &[Vec<f64>], scale: LabelScale) -> Option<f64> {
    let units: Vec<Vec<f64>> =
        units.iter().map(|labels| present(labels)).filter(|labels| labels.len() > 1).collect();
    let totals = counts(&units.concat());
    let values: Vec<(f64, usize)> =
        totals.iter().map(|(bits, count)| (f64::from_bits(*bits), *count)).collect();
    let mut values = values;
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: usize = values.iter().map(|(_, count)| count).sum();
    let distance = |a: f64, b: f64| scale.distance(&values, a, b);
    let mut observed = 0.0;
    for labels in &units {
        let pairs: f64 =
            labels.iter().map(|a| labels.iter().map(|b| distance(*a, *b)).sum::<f64>()).sum();
        observed += pairs / float(labels.len() - 1);
    }
    let expected: f64 = values
        .iter()
        .map(|(a, n)| {
            values.iter().map(|(b, m)| float(*n) * float(*m) * distance(*a, *b)).sum::<f64>()
        })
        .sum();
    let disagreement =
        ratio(observed / float(all), expected / (float(all) * float(all.checked_sub(1)?)))?;
    Some(1.0 - disagreement)
}

impl LabelScale {
    /// The squared difference of two labels, given how often each label was given, in order.
    fn distance(self, values: &[(f64, usize)], a: f64, b: f64) -> f64 {
        match self {
            Self::Nominal => f64::from(a.total_cmp(&b).is_ne()),
            Self::Interval => (a - b).powi(2),
            Self::Ordinal if a.total_cmp(&b).is_eq() => 0.0,
            Self::Ordinal => {
                let (low, high) = if a < b { (a, b) } else { (b, a) };
                let within = values.iter().filter(|(value, _)| (low..=high).contains(value));
                let counts: Vec<f64> = within.map(|(_, count)| float(*count)).collect();
                let ends = counts.first().copied().unwrap_or_default()
                    + counts.last().copied().unwrap_or_default();
                (counts.iter().sum::<f64>() - ends / 2.0).powi(2)
            }
        }
    }
}

/// How often each label was given, by its bits; the two zeros are one label.
fn counts(labels: &[f64]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::new();
    for label in labels.iter().filter(|label| label.is_finite()) {
        *counts.entry((label + 0.0).to_bits()).or_default() += 1;
    }
    counts
}

/// The distributions of both sides over the labels that either gave.
fn distributions(item: &LabelledItem<'_>) -> (Vec<f64>, Vec<f64>) {
    let (people, model) = (counts(item.people), counts(item.model));
    let labels: BTreeSet<u64> = people.keys().chain(model.keys()).copied().collect();
    let shares = |counts: &BTreeMap<u64, usize>| -> Vec<f64> {
        let all: usize = counts.values().sum();
        let count = |label: &u64| counts.get(label).copied().unwrap_or_default();
        labels.iter().map(|label| share(count(label), all).unwrap_or_default()).collect()
    };
    (shares(&people), shares(&model))
}

/// The most frequent label; `None` where two are equally frequent.
fn majority(labels: &[f64]) -> Option<u64> {
    let counts = counts(labels);
    let most = counts.values().max()?;
    let mut winners = counts.iter().filter(|(_, count)| *count == most);
    let (winner, _) = winners.next()?;
    winners.next().is_none().then_some(*winner)
}

/// The mean over labels of the harmonic mean of precision and recall.
fn macro_f1(pairs: &[(u64, u64)]) -> Option<f64> {
    let labels: BTreeSet<u64> =
        pairs.iter().flat_map(|(people, model)| [*people, *model]).collect();
    let f1 = |label: &u64| {
        let both = pairs.iter().filter(|(people, model)| people == label && model == label).count();
        let either = pairs
            .iter()
            .map(|(people, model)| usize::from(people == label) + usize::from(model == label));
        share(2 * both, either.sum())
    };
    corrected_mean(&labels.iter().filter_map(f1).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn alpha_is_that_of_the_paper() {
        // "Computing Krippendorff's Alpha-Reliability", section C: four observers, 12 units.
        let x = f64::NAN;
        let observers = [
            [1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 4.0, 1.0, 2.0, x, x, x],
            [1.0, 2.0, 3.0, 3.0, 2.0, 2.0, 4.0, 1.0, 2.0, 5.0, x, 3.0],
            [x, 3.0, 3.0, 3.0, 2.0, 3.0, 4.0, 2.0, 2.0, 5.0, 1.0, x],
            [1.0, 2.0, 3.0, 3.0, 2.0, 4.0, 4.0, 1.0, 2.0, 5.0, 1.0, x],
        ];
        let units: Vec<Vec<f64>> =
            (0..12).map(|unit| observers.iter().map(|labels| labels[unit]).collect()).collect();
        for (scale, alpha) in [
            (LabelScale::Nominal, 0.743),
            (LabelScale::Ordinal, 0.815),
            (LabelScale::Interval, 0.849),
        ] {
            let found = krippendorff_alpha(&units, scale).unwrap();
            assert!((found - alpha).abs() < 6e-4, "{scale:?}: {found}");
        }
        assert_eq!(krippendorff_alpha(&[vec![1.0], vec![x, x]], LabelScale::Nominal), None);
        assert_eq!(krippendorff_alpha(&[vec![1.0, 1.0]], LabelScale::Nominal), None);
    }

    #[test]
    fn a_model_that_disagrees_like_people() {
        let people = [vec![1.0, 1.0, 1.0], vec![0.0, 1.0, 1.0], vec![0.0, 0.0, 0.0]];
        let items: Vec<LabelledItem<'_>> =
            people.iter().map(|labels| LabelledItem { people: labels, model: labels }).collect();
        let found = disagreement(&items);
        assert_eq!(found.items, 3);
        assert!(near(found.variance_correlation, 1.0) && near(found.entropy_correlation, 1.0));
        assert!(near(found.jensen_shannon, 0.0) && near(found.majority_f1, 1.0));
    }

    #[test]
    fn a_sure_model_hides_behind_its_majority() {
        let items = [
            LabelledItem { people: &[1.0, 1.0, 0.0, 0.0, 1.0], model: &[1.0, 1.0] },
            LabelledItem { people: &[0.0, 0.0], model: &[0.0, 0.0] },
            LabelledItem { people: &[1.0], model: &[] },
        ];
        let found = disagreement(&items);
        assert_eq!((found.items, found.variance_correlation), (2, None));
        assert!(near(found.majority_f1, 1.0));
        // (3/5, 2/5) against (1, 0), and no difference.
        assert!(near(found.total_variation, 0.2));
    }
}
