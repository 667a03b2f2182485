//! Graders of `OpenAI`: `string_check`, `text_similarity`, `score_model`, `label_model`, `python`
//! and `multi`.
//!
//! `score_model` gives the number of its judge, taken into `range`; `label_model` 1 for a passing
//! label; `multi` the value of `calculate_output` over its graders. A grader that fails leaves the
//! sample unscored, whatever `invalid_grade` says: a fault is not a reward. The model and its sampling
//! are those of our judge. Messages are templates of the row; where they hold
//! `{{ sample.output_text }}` the judge reads "(the completion)", which it is shown apart.

mod calculate;
mod single;

use self::calculate::{Variable, calculation, variable};
use self::single::{Grader, grader};
use super::draft::Draft;
use super::found::Found;
use super::place::At;
use crate::aggregate::How;
use crate::rubric::{Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let listed = if found.at.value.is_array() { found.at.filled()? } else { Vec::new() };
    let at = match listed.as_slice() {
        [] => &found.at,
        [one] => one,
        [_, second, ..] => {
            return Err(second.refuse("a rubric is read from one grader; a `multi` holds several"));
        }
    };
    let mut draft = Draft::new(at, &[("kind.choices", "labels"), ("kind.scale", "range")]);
    if at.need("type")?.text()? == "multi" {
        multi(&mut draft, at)?;
    } else {
        let name = at.key("name").map(|name| name.text()).transpose()?.unwrap_or("grader");
        let name = draft.made(at, name);
        let Grader { criterion, is_number } = grader(at, name)?;
        draft.rubric.criteria.push(criterion);
        draft.rubric.aggregate.how = if is_number { How::Value } else { How::WeightedMean };
    }
    let is_template = |text: &str| text.contains("{{");
    draft.rubric.templates = draft.rubric.leaves().iter().any(|leaf| is_template(&leaf.text));
    draft.finish()
}

fn multi(draft: &mut Draft, at: &At<'_>) -> Result<(), RubricError> {
    let graders = at.need("graders")?;
    let listed = if graders.value.is_array() {
        let mut listed = Vec::new();
        for one in graders.list()? {
            listed.push((one.need("name")?.text()?, one));
        }
        listed
    } else {
        graders.members()?
    };
    let mut variables = Vec::new();
    for (key, one) in listed {
        let name = draft.named(&one, &one, variable(key))?;
        let Grader { criterion, is_number } = grader(&one, name.clone())?;
        draft.rubric.criteria.push(criterion);
        let source = if is_number { format!("value.{name}") } else { name };
        variables.push(Variable { key: key.to_owned(), source });
    }
    let output = at.need("calculate_output")?;
    let source = calculation(output.text()?, &variables).map_err(|why| output.refuse(why))?;
    draft.rubric.aggregate.how = How::Expression;
    draft.rubric.aggregate.expression = Some(source);
    Ok(())
}
