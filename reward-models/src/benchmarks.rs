//! The published protocols by which reward models are measured, as arithmetic on scores.

use std::collections::BTreeMap;

use serde::Serialize;

/// One solution of `ProcessBench`: where people found the first wrong step, and where the model did.
#[derive(Clone, Debug)]
pub struct FirstError {
    /// The subset, such as `gsm8k`.
    pub subset: String,
    /// The first wrong step by people, from 0; `None` where all are right.
    pub labelled: Option<usize>,
    /// The first wrong step by the model.
    pub found: Option<usize>,
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
        for subset in [case.subset.as_str(), "all"] {
            let [erroneous, correct] = counts.entry(subset).or_default();
            let count = if case.labelled.is_some() { erroneous } else { correct };
            count.0 += usize::from(case.labelled == case.found);
            count.1 += 1;
        }
    }
    let score = |[erroneous, correct]: [(usize, usize); 2]| {
        let (one, two) = (share(erroneous), share(correct));
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

/// One prompt of `RewardBench`: the scores of right and of wrong completions.
#[derive(Clone, Debug)]
pub struct Preference {
    /// The subset, such as `Math`.
    pub subset: String,
    /// The id of the prompt: in the subset `Ties`, `ref:N` and `tied:N` belong together.
    pub id: String,
    /// Scores of right completions.
    pub chosen: Vec<f64>,
    /// Scores of wrong ones.
    pub rejected: Vec<f64>,
}

/// The subset in which several completions are right.
const TIES: &str = "ties";

/// The score of each subset: the share of prompts whose right completion stands above every wrong
/// one. `Ties` has a score of its own; `all` is the mean of the subsets.
///
/// Source: "`RewardBench` 2: Advancing Reward Model Evaluation", section on scoring.
pub fn preferences(cases: &[Preference]) -> BTreeMap<String, f64> {
    let mut subsets: BTreeMap<&str, Vec<&Preference>> = BTreeMap::new();
    for case in cases {
        subsets.entry(&case.subset).or_default().push(case);
    }
    let score = |(subset, cases): (&str, Vec<&Preference>)| {
        let score = if subset.eq_ignore_ascii_case(TIES) {
            ties(&cases)
        } else {
            mean(cases.iter().map(|case| f64::from(u8::from(margin(case) > 0.0))))
        };
        (subset.to_owned(), score)
    };
    let mut scores: BTreeMap<String, f64> = subsets.into_iter().map(score).collect();
    scores.insert("all".to_owned(), mean(scores.values().copied()));
    scores
}

/// How far the least right completion stands above the best wrong one.
fn margin(case: &Preference) -> f64 {
    least(&case.chosen) - greatest(&case.rejected)
}

/// 0.3 for the accuracy with several right answers, 0.3 for that with one, 0.2 each for right
/// answers that differ less from each other than from the wrong ones, and 0.01 for how much less.
fn ties(cases: &[&Preference]) -> f64 {
    let of = |kind: &str| -> BTreeMap<&str, &Preference> {
        let own = cases.iter().filter_map(|case| Some((case.id.strip_prefix(kind)?, *case)));
        own.collect()
    };
    let (single, several) = (of("ref:"), of("tied:"));
    let accuracy = |cases: &BTreeMap<&str, &Preference>| {
        mean(cases.values().map(|case| f64::from(u8::from(margin(case) > 0.0))))
    };
    let mut margins = Vec::new();
    for (id, tied) in &several {
        if let Some(single) = single.get(id) {
            let among = greatest(&tied.chosen) - least(&tied.chosen);
            margins.push((among, margin(tied), margin(tied).min(margin(single))));
        }
    }
    let share = |is: fn(&(f64, f64, f64)) -> bool| {
        mean(margins.iter().map(|margins| f64::from(u8::from(is(margins)))))
    };
    let apart = mean(margins.iter().map(|(among, _, both)| {
        let ratio = both / among - 1.0;
        if ratio.is_nan() { 0.0 } else { ratio.tanh() }
    }));
    0.3 * accuracy(&several)
        + 0.3 * accuracy(&single)
        + 0.2 * share(|(among, tied, _)| tied > among)
        + 0.2 * share(|(among, _, both)| both > among)
        + 0.01 * apart
}

/// One step of `PRMBench`: whether people found it valid, and whether the model did.
#[derive(Clone, Debug)]
pub struct StepValidity {
    /// The subset, such as `redundency`.
    pub subset: String,
    /// By people.
    pub valid: bool,
    /// By the model.
    pub found_valid: bool,
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
        for subset in [step.subset.as_str(), "all"] {
            subsets.entry(subset).or_default().push(step);
        }
    }
    let score = |steps: &[&StepValidity]| {
        let f1 = |valid: bool| {
            let both = |step: &&&StepValidity| step.valid == valid && step.found_valid == valid;
            let either =
                |step: &&&StepValidity| (step.valid == valid) != (step.found_valid == valid);
            let hits = 2.0 * count(steps.iter().filter(both).count());
            let all = hits + count(steps.iter().filter(either).count());
            if all > 0.0 { hits / all } else { 0.0 }
        };
        let (f1_valid, f1_invalid) = (f1(true), f1(false));
        let prm_score = f64::midpoint(f1_valid, f1_invalid);
        ValidityScore { steps: steps.len(), f1_valid, f1_invalid, prm_score }
    };
    subsets.into_iter().map(|(subset, steps)| (subset.to_owned(), score(&steps))).collect()
}

fn share((hits, all): (usize, usize)) -> Option<f64> {
    (all > 0).then(|| count(hits) / count(all))
}

#[expect(clippy::cast_precision_loss, reason = "benchmarks have far fewer than 2^53 rows")]
fn count(n: usize) -> f64 {
    n as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    if n == 0 { 0.0 } else { sum / count(n) }
}

fn least(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::INFINITY, f64::min)
}

fn greatest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_of_the_first_wrong_step() {
        let case = |labelled, found| FirstError { subset: "gsm8k".into(), labelled, found };
        let cases =
            [case(Some(1), Some(1)), case(Some(1), Some(2)), case(None, None), case(None, None)];
        let score = &first_errors(&cases)["gsm8k"];
        assert_eq!((score.erroneous, score.correct), (2, 2));
        assert_eq!(score.accuracy_erroneous, Some(0.5));
        assert!((score.f1.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let only_wrong = first_errors(&[case(Some(0), Some(0))]);
        assert_eq!(only_wrong["all"].f1, None);
    }

    #[test]
    fn the_best_of_four_must_stand_above_all_others() {
        let case = |chosen: f64, rejected: &[f64]| Preference {
            subset: "Math".into(),
            id: "1".into(),
            chosen: vec![chosen],
            rejected: rejected.to_vec(),
        };
        let scores = preferences(&[case(1.0, &[0.5, 0.2, 0.9]), case(1.0, &[1.0, 0.2, 0.9])]);
        assert_eq!(scores.get("Math"), Some(&0.5));
    }

    #[test]
    fn ties_reward_right_answers_that_stand_close() {
        let case = |id: &str, chosen: &[f64]| Preference {
            subset: "Ties".into(),
            id: id.into(),
            chosen: chosen.to_vec(),
            rejected: vec![0.0],
        };
        let close = preferences(&[case("ref:0", &[4.0]), case("tied:0", &[4.0, 5.0])])["Ties"];
        assert!((close - (1.0 + 0.01 * 3.0_f64.tanh())).abs() < 1e-12, "{close}");
        let wide = preferences(&[case("ref:0", &[4.0]), case("tied:0", &[4.0, 50.0])])["Ties"];
        assert!(wide < 0.61, "{wide}");
    }

    #[test]
    fn the_score_of_valid_and_invalid_steps() {
        let step = |valid, found_valid| StepValidity { subset: "all".into(), valid, found_valid };
        let steps = [step(true, true), step(true, false), step(false, false), step(false, false)];
        let score = &step_validity(&steps[..])["all"];
        assert!((score.f1_valid - 2.0 / 3.0).abs() < 1e-12);
        assert!((score.f1_invalid - 0.8).abs() < 1e-12);
    }
}
