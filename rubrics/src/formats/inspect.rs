//! `inspect_ai`: the scorers `model_graded_qa` and `model_graded_fact`.
//!
//! The grade is C (1), P (0.5, where `partial_credit` offers it) or I (0). A grade that was not
//! offered, or none, leaves the sample unscored. With `instructions` of one's own all three grades
//! count. The criterion is the target of the sample, which is its reference, unless `criterion` or
//! `target` says otherwise.

use super::draft::Draft;
use super::found::Found;
use super::place::At;
use crate::rubric::{AnswerChoice, AnswerKind, Criterion, Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let listed = if found.at.value.is_array() { found.at.filled()? } else { Vec::new() };
    let at = listed.first().unwrap_or(&found.at);
    let mut draft = Draft::new(at, &[]);
    let settings = at.any(&["options", "params", "args"]).unwrap_or_else(|| at.clone());
    for key in ["template", "grade_pattern"] {
        if let Some(own) = settings.key(key) {
            return Err(own.refuse(format!("`{key}` of one's own is not read")));
        }
    }
    let partial = settings.key("partial_credit").map_or(Ok(false), |flag| flag.flag())?;
    let own = settings.key("instructions").map(|own| own.text()).transpose()?;
    let grades = choices(partial || own.is_some());
    draft.rubric.instructions = own.map_or_else(|| instructions(&grades), str::to_owned);
    let name = draft.made(at, "grade");
    let mut criterion = Criterion::new(name, question(at)?);
    criterion.kind = AnswerKind::Choices(grades);
    draft.rubric.criteria.push(criterion);
    draft.finish()
}

fn question(at: &At<'_>) -> Result<String, RubricError> {
    let scorer = at.any(&["scorer", "name", "type"]).and_then(|name| name.value.as_str());
    let is_fact = scorer.is_some_and(|name| name.ends_with("model_graded_fact"));
    let told = at.any(&["criterion", "target"]).map(|told| told.texts()).transpose()?;
    Ok(match (told, is_fact) {
        (Some(told), true) => {
            format!("Does the completion hold the facts of this answer?\n{}", told.join("\n"))
        }
        (Some(told), false) => {
            format!("Does the completion meet this criterion?\n{}", told.join("\n"))
        }
        (None, true) => "Does the completion hold the facts of the reference answer?".to_owned(),
        (None, false) => "Does the completion meet the criterion in the reference?".to_owned(),
    })
}

fn choices(partial: bool) -> Vec<AnswerChoice> {
    let grades = [("I", "incorrect", 0.0), ("P", "partially correct", 0.5), ("C", "correct", 1.0)];
    let offered = grades.into_iter().filter(|(label, ..)| partial || *label != "P");
    let choice = |(label, text, value): (&str, &str, f64)| AnswerChoice {
        label: label.to_owned(),
        text: text.to_owned(),
        value: Some(value),
    };
    offered.map(choice).collect()
}

fn instructions(grades: &[AnswerChoice]) -> String {
    let letters: Vec<&str> = grades.iter().rev().map(|grade| grade.label.as_str()).collect();
    format!(
        "Give your reasons first. Then end with one line, `GRADE: ` and a letter of {}.",
        letters.join(", ")
    )
}
