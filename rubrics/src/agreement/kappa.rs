//! Agreement of categories: accuracy and kappa.

use std::collections::{BTreeMap, BTreeSet};

use assay_verifiers::stats::{float, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The share of cases whose two answers are equal, 0 to 1.
pub fn accuracy<Label: PartialEq>(cases: &[(Label, Label)]) -> Option<f64> {
    let equal = cases.iter().filter(|(judge, truth)| judge == truth).count();
    ratio(float(equal), float(cases.len()))
}

/// Cohen's kappa: "A Coefficient of Agreement for Nominal Scales" (Cohen 1960). At most 1; 0 is the
/// agreement of chance. `None` where both give one and the same answer throughout.
pub fn cohen_kappa<Label: Ord + Clone>(cases: &[(Label, Label)]) -> Option<f64> {
    kappa(cases, |judge, truth| f64::from(u8::from(judge != truth)))
}

/// How much a disagreement of ordered categories weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KappaWeights {
    /// By their distance.
    Linear,
    /// By the square of their distance.
    #[default]
    Quadratic,
}

/// Weighted kappa: "Weighted Kappa: Nominal Scale Agreement with Provision for Scaled Disagreement or
/// Partial Credit" (Cohen 1968), over levels that are whole numbers. `None` where both give one and
/// the same level throughout.
pub fn weighted_kappa(cases: &[(i64, i64)], weights: KappaWeights) -> Option<f64> {
    kappa(cases, |judge, truth| {
        let distance = float(judge.abs_diff(*truth));
        match weights {
            KappaWeights::Linear => distance,
            KappaWeights::Quadratic => distance * distance,
        }
    })
}

/// 1 less the weight of the disagreements over that which chance would give.
fn kappa<Label: Ord + Clone>(
    cases: &[(Label, Label)],
    weight: impl Fn(&Label, &Label) -> f64,
) -> Option<f64> {
    let labels: BTreeSet<&Label> = cases.iter().flat_map(|(judge, truth)| [judge, truth]).collect();
    let counts = |of: fn(&(Label, Label)) -> &Label| {
        let mut counts: BTreeMap<&Label, f64> = BTreeMap::new();
        for case in cases {
            *counts.entry(of(case)).or_default() += 1.0;
        }
        counts
    };
    let (judged, true_labels) = (counts(|case| &case.0), counts(|case| &case.1));
    let observed: f64 = cases.iter().map(|(judge, truth)| weight(judge, truth)).sum();
    let count = |counts: &BTreeMap<&Label, f64>, label| counts.get(label).copied().unwrap_or(0.0);
    let chance: f64 = labels
        .iter()
        .flat_map(|judge| labels.iter().map(move |truth| (judge, truth)))
        .map(|(judge, truth)| {
            weight(judge, truth) * count(&judged, judge) * count(&true_labels, truth)
        })
        .sum();
    let chance = ratio(chance, float(cases.len()))?;
    Some(1.0 - ratio(observed, chance)?)
}
