//! `ProcessBench` and `PRMBench`: steps by the labels of people.

use std::collections::BTreeMap;

use assay::reward_models::benchmarks::{
    self, FirstError, FirstErrorScore, FoundError, POOLED, StepValidity, ValidityScore,
};
use assay::reward_models::model::Model;
use assay::reward_models::template::View;
use serde_json::{Map, json};

use super::task::{Figures, Scored, Task, percent};
use crate::eval::rows::{Row, Rows};
use crate::exit::{Exit, Failure};

/// A solution, and what people say of it.
struct Solution<'a, L> {
    row: &'a Row,
    subset: String,
    view: View,
    label: L,
}

pub(super) fn process_bench(task: &Task<'_>) -> Result<Exit, Failure> {
    let rows = task.rows(&["problem", "steps", "label", "subset", "id"], "subset")?;
    let solutions = solutions(&rows, "problem", "steps", |row, steps| {
        let label = row.integer("label")?;
        if label < -1 || usize::try_from(label).is_ok_and(|label| label >= steps) {
            return Err(row.wrong("label", &format!("-1 to {} ({steps} steps)", steps - 1)));
        }
        Ok(usize::try_from(label).ok())
    })?;
    let model = task.model(&rows)?;
    let Scored { scores, unjudged } = scored(&model, &solutions)?;
    let case = |(solution, scores): (&Solution<'_, Option<usize>>, Option<Vec<f64>>)| {
        let wrong = |score: &f64| *score < task.args.threshold;
        let found = scores.map_or(FoundError::Unjudged, |scores| {
            scores.iter().position(wrong).map_or(FoundError::Nowhere, FoundError::At)
        });
        FirstError { subset: solution.subset.clone(), labelled: solution.label, found }
    };
    let cases: Vec<FirstError> = solutions.iter().zip(scores).map(case).collect();
    let scores = benchmarks::first_errors(&cases);
    let mean = benchmarks::mean_first_error_f1(&scores);
    let mut lines = lines(&scores, first_error_line);
    if lines.len() > 2 {
        lines.push(("mean of subsets".to_owned(), named("F1", mean)));
    }
    let beside = Map::from_iter([("mean".to_owned(), json!(mean))]);
    task.tell(&model, Figures { scores: json!(scores), beside, lines }, &unjudged)
}

pub(super) fn prm_bench(task: &Task<'_>) -> Result<Exit, Failure> {
    let names = &["question", "process", "error_steps", "classification", "id"];
    let rows = task.rows(names, "classification")?;
    let solutions = solutions(&rows, "question", "process", error_steps)?;
    let model = task.model(&rows)?;
    let Scored { scores, unjudged } = scored(&model, &solutions)?;
    let mut steps = Vec::new();
    for (solution, scores) in solutions.iter().zip(scores) {
        steps.extend((0..solution.view.steps.len()).map(|at| {
            let score = scores.as_ref().and_then(|scores| scores.get(at));
            let score = score.filter(|score| !score.is_nan());
            let found_valid = score.map(|score| *score >= task.args.threshold);
            let valid = !solution.label.contains(&at);
            StepValidity { subset: solution.subset.clone(), valid, found_valid }
        }));
    }
    let scores = benchmarks::step_validity(&steps);
    let mean = benchmarks::mean_prm_score(&scores);
    let mut lines = lines(&scores, validity_line);
    if lines.len() > 2 {
        lines.push(("mean of subsets".to_owned(), format!("PRMScore {}", percent(mean))));
    }
    let beside = Map::from_iter([("mean".to_owned(), json!(mean))]);
    task.tell(&model, Figures { scores: json!(scores), beside, lines }, &unjudged)
}

/// The wrong steps of a row, from 0. Its authors count them from 1.
fn error_steps(row: &Row, steps: usize) -> Result<Vec<usize>, Failure> {
    const NAME: &str = "error_steps";
    let mut wrong = Vec::new();
    for number in row.integers(NAME)? {
        if number == 0 {
            let expected = format!("numbers from 1 to {steps}: the first step is 1, not 0");
            return Err(row.wrong(NAME, &expected));
        }
        let at = usize::try_from(number).ok().filter(|number| *number <= steps);
        let Some(at) = at.and_then(|number| number.checked_sub(1)) else {
            return Err(row.wrong(NAME, &format!("numbers from 1 to {steps} ({steps} steps)")));
        };
        if wrong.contains(&at) {
            return Err(row.wrong(NAME, &format!("each step once; {number} is there twice")));
        }
        wrong.push(at);
    }
    Ok(wrong)
}

/// A solution a row; `label` reads what people say of its steps, which are so many.
fn solutions<'a, L>(
    rows: &'a Rows,
    problem: &str,
    steps: &str,
    label: impl Fn(&Row, usize) -> Result<L, Failure>,
) -> Result<Vec<Solution<'a, L>>, Failure> {
    let read = |row: &'a Row| {
        let (messages, steps) = (row.messages(problem)?, row.texts(steps)?);
        let (label, subset) = (label(row, steps.len())?, row.subset()?);
        let view = View { messages, steps, ..View::default() };
        Ok(Solution { row, subset, view, label })
    };
    rows.iter().map(read).collect()
}

fn scored<L>(model: &Model, solutions: &[Solution<'_, L>]) -> Result<Scored<Vec<f64>>, Failure> {
    let views: Vec<View> = solutions.iter().map(|solution| solution.view.clone()).collect();
    let owners: Vec<(&Row, &str)> =
        solutions.iter().map(|solution| (solution.row, solution.subset.as_str())).collect();
    Scored::of(model, &views, &owners, Model::step_scores)
}

/// The figures of each subset, and first those of all together.
fn lines<S>(scores: &BTreeMap<String, S>, line: impl Fn(&S) -> String) -> Vec<(String, String)> {
    let pooled = scores.get_key_value(POOLED).into_iter();
    let subsets = scores.iter().filter(|(subset, _)| *subset != POOLED);
    pooled.chain(subsets).map(|(subset, score)| (subset.clone(), line(score))).collect()
}

fn first_error_line(score: &FirstErrorScore) -> String {
    let f1 = named("F1", score.f1);
    let one = named("erroneous", score.accuracy_erroneous);
    let two = named("correct", score.accuracy_correct);
    format!("{f1}  ({one} of {}, {two} of {})", score.erroneous, score.correct)
}

fn validity_line(score: &ValidityScore) -> String {
    let (valid, invalid) = (percent(score.f1_valid), percent(score.f1_invalid));
    let whole = percent(score.prm_score);
    format!("PRMScore {whole}  (F1 valid {valid}, invalid {invalid}, {} steps)", score.steps)
}

fn named(name: &str, value: Option<f64>) -> String {
    format!("{name} {}", value.map_or_else(|| "-".to_owned(), percent))
}
