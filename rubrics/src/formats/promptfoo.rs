//! Assertions of `promptfoo`: checks and questions with weights.
//!
//! The score is the mean of the scores by weight (1 where none is given); with a `threshold` of the
//! test the reward is 1 where the score reaches it and 0 below. The score of an `assert-set` is the
//! mean of its own assertions; its threshold is that of its `pass`, which is reported and not paid.
//! `{{name}}` in a value is a column of the row. A type that cannot be answered here is refused with
//! its place.
//!
//! `contains-json` finds JSON that is the whole completion, in its last code fence or in its last
//! answer tag, not in the midst of a sentence.

mod assertions;
mod value;

use self::assertions::fill;
use super::draft::{Draft, slug};
use super::found::Found;
use super::place::At;
use crate::rubric::{Criterion, Rubric, RubricError};

/// The deepest nesting of sets.
const DEPTH_MAX: usize = 8;

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let at = &found.at;
    let keys =
        &[("points", "weight"), ("text", "value"), ("name", "metric"), ("criterion", "assert")];
    let mut draft = Draft::new(at, keys);
    let test = test(at)?;
    let shared = at.key("defaultTest");
    if at.value.is_array() {
        draft.rubric.criteria = set(&mut draft, at, 1)?;
    } else if at.key("type").is_some() {
        let criterion = assertion(&mut draft, at, 1)?;
        draft.rubric.criteria.push(criterion);
    } else {
        let holders = shared.iter().chain([&test]).filter_map(|one| one.key("assert"));
        let lists: Vec<At<'_>> = holders.collect();
        if lists.is_empty() {
            return Err(test.need("assert").err().unwrap_or_else(|| at.refuse("no assertions")));
        }
        for list in lists {
            let criteria = set(&mut draft, &list, 1)?;
            draft.rubric.criteria.extend(criteria);
        }
        let threshold = test.key("threshold").or_else(|| shared.as_ref()?.key("threshold"));
        draft.rubric.aggregate.threshold = threshold.map(|at| at.number()).transpose()?;
    }
    draft.rubric.templates = draft.rubric.leaves().iter().any(|leaf| leaf.text.contains("{{"));
    draft.finish()
}

/// The one test of a configuration, or the value itself.
fn test<'a>(at: &At<'a>) -> Result<At<'a>, RubricError> {
    let Some(tests) = at.key("tests") else { return Ok(at.clone()) };
    match tests.filled()?.as_slice() {
        [one] => Ok(one.clone()),
        [_, second, ..] => {
            Err(second.refuse("a rubric is read from one test, and this is another"))
        }
        [] => Err(tests.refuse("the list is empty")),
    }
}

fn set(draft: &mut Draft, at: &At<'_>, depth: usize) -> Result<Vec<Criterion>, RubricError> {
    at.filled()?.iter().map(|one| assertion(draft, one, depth)).collect()
}

fn assertion(draft: &mut Draft, at: &At<'_>, depth: usize) -> Result<Criterion, RubricError> {
    if depth > DEPTH_MAX {
        return Err(at.refuse(format!("assertions nest deeper than {DEPTH_MAX}")));
    }
    let kind = at.need("type")?.text()?;
    let metric = at.key("metric").and_then(|metric| metric.value.as_str()).map(slug);
    let wish = metric.filter(|name| !name.is_empty()).unwrap_or_else(|| kind.to_owned());
    let name = draft.made(at, &wish);
    let mut criterion = Criterion::new(name, "");
    if let Some(weight) = at.key("weight") {
        criterion.points = weight.weight()?;
    }
    criterion.pass = at.key("threshold").map(|pass| pass.number()).transpose()?;
    if kind == "assert-set" {
        criterion.criteria = set(draft, &at.need("assert")?, depth + 1)?;
    } else {
        fill(&mut criterion, at, |wish: &str| draft.made(at, wish))?;
    }
    Ok(criterion)
}
