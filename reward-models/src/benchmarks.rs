//! The published protocols by which reward models are measured, as arithmetic on scores.

use std::collections::BTreeMap;

use assay_verifiers::stats::{self, float, share};
use serde::Serialize;

mod preference;
mod sections;

pub use preference::{Preference, PreferenceRule, PreferenceScores, preferences};

/// The name under which the figures of all subsets are pooled.
pub const POOLED: &str = "all";

/// One solution of `ProcessBench`: where people found the first wrong step, and where the model did.
#[derive(Clone, Debug)]
pub struct FirstError {
    /// The subset, such as `gsm8k`.
    pub subset: String,
    /// The first wrong step by people, from 0; `None` where all are right.
    pub labelled: Option<usize>,
    /// What the model found.
    pub found: FoundError,
}

/// Where a model found the first wrong step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundError {
    /// In this step, from 0.
    At(usize),
    /// In none.
    Nowhere,
    /// The model did not judge the solution, which counts as wrong: the authors compare the label with
    /// a prediction that is missing.
    Unjudged,
}

/// How well a model finds the first wrong step of a subset.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FirstErrorScore {
    /// Solutions with a wrong step.
    pub erroneous: usize,
    /// Solutions without.
    pub correct: usize,
    /// The share of the erroneous of which the very step was found; `null` of none.
    pub accuracy_erroneous: Option<f64>,
    /// The share of the correct in which none was found; `null` of none.
    pub accuracy_correct: Option<f64>,
    /// The harmonic mean of the two; `null` where one is missing.
    pub f1: Option<f64>,
}

/// F1 by subset, and over all solutions under the name `all`.
///
/// Source: "`ProcessBench`: Identifying Process Errors in Mathematical Reasoning", section on
/// evaluation.
pub fn first_errors(cases: &[FirstError]) -> BTreeMap<String, FirstErrorScore> {
    let mut counts: BTreeMap<&str, [(usize, usize); 2]> = BTreeMap::new();
    for case in cases {
        for subset in [case.subset.as_str(), POOLED] {
            let [erroneous, correct] = counts.entry(subset).or_default();
            let count = if case.labelled.is_some() { erroneous } else { correct };
            let is_right = match case.found {
                FoundError::At(step) => case.labelled == Some(step),
                FoundError::Nowhere => case.labelled.is_none(),
                FoundError::Unjudged => false,
            };
            count.0 += usize::from(is_right);
            count.1 += 1;
        }
    }
    let score = |[erroneous, correct]: [(usize, usize); 2]| {
        let (one, two) = (share(erroneous.0, erroneous.1), share(correct.0, correct.1));
        let f1 = one.zip(two).map(|(a, b)| if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 });
        FirstErrorScore {
            erroneous: erroneous.1,
            correct: correct.1,
            accuracy_erroneous: one,
            accuracy_correct: two,
            f1,
        }
    };
    counts.into_iter().map(|(subset, counts)| (subset.to_owned(), score(counts))).collect()
}

/// The mean of the F1 of the subsets, as the authors of `ProcessBench` report it; `None` where a subset
/// has none.
pub fn mean_first_error_f1(scores: &BTreeMap<String, FirstErrorScore>) -> Option<f64> {
    let of_subsets = scores.iter().filter(|(subset, _)| *subset != POOLED);
    let f1: Option<Vec<f64>> = of_subsets.map(|(_, score)| score.f1).collect();
    f1.filter(|f1| !f1.is_empty()).map(|f1| mean(f1.into_iter()))
}

/// One step of `PRMBench`: whether people found it valid, and whether the model did.
#[derive(Clone, Debug)]
pub struct StepValidity {
    /// The subset, such as `redundency`.
    pub subset: String,
    /// By people.
    pub valid: bool,
    /// By the model; `None` where it did not judge the step, which it then found neither valid nor
    /// invalid.
    pub found_valid: Option<bool>,
}

/// How well a model tells valid steps from invalid ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidityScore {
    /// Steps.
    pub steps: usize,
    /// F1 of finding the valid ones.
    pub f1_valid: f64,
    /// F1 of finding the invalid ones.
    pub f1_invalid: f64,
    /// The mean of the two.
    pub prm_score: f64,
}

/// `PRMScore` by subset, and over all steps under the name `all`.
///
/// Source: "`PRMBench`: A Fine-grained and Challenging Benchmark for Process-Level Reward Models",
/// section on evaluation metrics.
pub fn step_validity(steps: &[StepValidity]) -> BTreeMap<String, ValidityScore> {
    let mut subsets: BTreeMap<&str, Vec<&StepValidity>> = BTreeMap::new();
    for step in steps {
        for subset in [step.subset.as_str(), POOLED] {
            subsets.entry(subset).or_default().push(step);
        }
    }
    let score = |steps: &[&StepValidity]| {
        let f1 = |valid: bool| {
            let found = |step: &StepValidity| step.found_valid == Some(valid);
            let both = |step: &&&StepValidity| step.valid == valid && found(step);
            let either = |step: &&&StepValidity| (step.valid == valid) != found(step);
            let hits = 2.0 * float(steps.iter().filter(both).count());
            let all = hits + float(steps.iter().filter(either).count());
            if all > 0.0 { hits / all } else { 0.0 }
        };
        let (f1_valid, f1_invalid) = (f1(true), f1(false));
        let prm_score = f64::midpoint(f1_valid, f1_invalid);
        ValidityScore { steps: steps.len(), f1_valid, f1_invalid, prm_score }
    };
    subsets.into_iter().map(|(subset, steps)| (subset.to_owned(), score(&steps))).collect()
}

/// The mean of the `PRMScore` of the subsets.
pub fn mean_prm_score(scores: &BTreeMap<String, ValidityScore>) -> f64 {
    let of_subsets = scores.iter().filter(|(subset, _)| *subset != POOLED);
    mean(of_subsets.map(|(_, score)| score.prm_score))
}

/// The mean; 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_of_the_first_wrong_step() {
        use FoundError::{At, Nowhere, Unjudged};
        let case = |labelled, found| FirstError { subset: "gsm8k".into(), labelled, found };
        let cases =
            [case(Some(1), At(1)), case(Some(1), At(2)), case(None, Nowhere), case(None, Nowhere)];
        let score = &first_errors(&cases)["gsm8k"];
        assert_eq!((score.erroneous, score.correct), (2, 2));
        assert_eq!(score.accuracy_erroneous, Some(0.5));
        assert!((score.f1.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let only_wrong = first_errors(&[case(Some(0), At(0))]);
        assert_eq!(only_wrong["all"].f1, None);
        let unjudged = first_errors(&[case(Some(0), Unjudged), case(None, Unjudged)]);
        assert_eq!(unjudged["all"].accuracy_erroneous, Some(0.0));
        assert_eq!(unjudged["all"].accuracy_correct, Some(0.0));
    }

    #[test]
    fn the_mean_of_the_subsets_stands_beside_the_pooled_figure() {
        use FoundError::{At, Nowhere};
        let case = |subset: &str, labelled, found| FirstError {
            subset: subset.to_owned(),
            labelled,
            found,
        };
        let small = [case("a", Some(0), At(0)), case("a", None, Nowhere)];
        let large = [case("b", Some(0), Nowhere), case("b", None, Nowhere)];
        let scores = first_errors(&[small.to_vec(), [large.clone(), large].concat()].concat());
        assert_eq!(mean_first_error_f1(&scores), Some(0.5));
        assert!((scores["all"].f1.unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(scores["all"].accuracy_erroneous, Some(1.0 / 3.0));
        let step = |subset: &str, found| StepValidity {
            subset: subset.to_owned(),
            valid: true,
            found_valid: Some(found),
        };
        let scores = step_validity(&[step("a", true), step("b", false), step("b", false)]);
        assert!((mean_prm_score(&scores) - 0.25).abs() < 1e-12);
        assert!((scores["all"].prm_score - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_step_without_a_judgement_is_neither_valid_nor_invalid() {
        let step = |valid, found_valid| StepValidity { subset: "c".into(), valid, found_valid };
        let judged = [step(true, Some(true)), step(false, Some(false))];
        let score = &step_validity(&[judged.to_vec(), vec![step(true, None)]].concat())["c"];
        assert!((score.f1_valid - 2.0 / 3.0).abs() < 1e-12, "{score:?}");
        assert!((score.f1_invalid - 1.0).abs() < 1e-12, "{score:?}");
    }

    #[test]
    fn the_score_of_valid_and_invalid_steps() {
        let step = |valid, found_valid| StepValidity {
            subset: "c".into(),
            valid,
            found_valid: Some(found_valid),
        };
        let steps = [step(true, true), step(true, false), step(false, false), step(false, false)];
        let score = &step_validity(&steps[..])["c"];
        assert!((score.f1_valid - 2.0 / 3.0).abs() < 1e-12);
        assert!((score.f1_invalid - 0.8).abs() < 1e-12);
    }
}
