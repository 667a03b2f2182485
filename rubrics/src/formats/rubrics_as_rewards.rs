//! Rubrics as Rewards: criteria with a title, a description and a weight.
//!
//! "Rubrics as Rewards: Reinforcement Learning Beyond Verifiable Domains", sections on explicit and
//! implicit aggregation. Explicit: a yes or no each, and `sum(w * c) / sum(w)`; weights in numbers
//! are kept as they are, of either sign. Words for weights stand for 1.0 (Essential), 0.7
//! (Important), 0.3 (Optional) and 0.9 (Pitfall); a pitfall by its word says what is avoided, and
//! so counts for the completion. Implicit: one rating x from 1 to 10, and `(x - 1) / 9`; it is read
//! where `aggregation` beside the list is `implicit`.

use std::fmt::Write as _;

use super::draft::{Draft, slug};
use super::found::Found;
use super::place::At;
use crate::aggregate::How;
use crate::rubric::{AnswerKind, Criterion, Rubric, RubricError, Scale};

/// The words for weights, by the section on explicit aggregation.
const CATEGORIES: [(&str, f64); 4] =
    [("essential", 1.0), ("important", 0.7), ("optional", 0.3), ("pitfall", 0.9)];

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    match found.beside(&["aggregation"]) {
        Some(how) => match how.text()? {
            "explicit" => explicit(found),
            "implicit" => implicit(found),
            other => {
                let why = format!("expected \"explicit\" or \"implicit\", found \"{other}\"");
                Err(how.refuse(why))
            }
        },
        None => explicit(found),
    }
}

fn explicit(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let mut draft = Draft::new(&found.at, &[("points", "weight"), ("text", "description")]);
    draft.rubric.reference = found.reference();
    for (at, item) in found.at.filled()?.iter().enumerate() {
        let title = item.key("title").map(|title| title.text()).transpose()?.unwrap_or_default();
        let wish = slug(title);
        let wish = if wish.is_empty() { format!("criterion-{}", at + 1) } else { wish };
        let name = draft.made(item, &wish);
        let mut criterion = Criterion::new(name, item.need("description")?.text()?);
        let weighed = weight(item)?;
        criterion.points = weighed.number;
        criterion.tags.extend(weighed.category.map(str::to_owned));
        draft.rubric.criteria.push(criterion);
    }
    draft.finish()
}

fn implicit(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let mut draft = Draft::new(&found.at, &[]);
    draft.rubric.reference = found.reference();
    let mut text = "Rate the completion as a whole, from 1 to 10. What to look at, each with its \
                    weight:\n"
        .to_owned();
    for item in found.at.filled()? {
        let description = item.need("description")?.text()?;
        let weight = weight(&item)?.number;
        // Writing to a text does not fail.
        let _ = writeln!(text, "- ({weight}) {description}");
    }
    let name = draft.made(&found.at, "rating");
    let mut criterion = Criterion::new(name, text.trim_end());
    criterion.kind = AnswerKind::Scale(Scale { max: 10, ..Scale::default() });
    draft.rubric.criteria.push(criterion);
    draft.rubric.aggregate.how = How::Value;
    draft.rubric.aggregate.range = Some([1.0, 10.0]);
    draft.finish()
}

/// The weight of a criterion, and the word for it.
struct Weighed {
    number: f64,
    category: Option<&'static str>,
}

/// A weight in numbers, or the word for one in `weight`, in `category`, or before the description
/// (`Essential Criteria: ...`).
fn weight(item: &At<'_>) -> Result<Weighed, RubricError> {
    let given = item.any(&["weight", "category"]);
    let told = given.as_ref().and_then(|at| at.value.as_str());
    let description = item.key("description").and_then(|at| at.value.as_str());
    let word = told.or_else(|| item.key("category")?.value.as_str()).or(description);
    let category = word.and_then(category);
    match (&given, category) {
        (Some(given), category) if given.value.is_number() => {
            Ok(Weighed { number: given.number()?, category: category.map(|(word, _)| word) })
        }
        (Some(given), None) => {
            let why = "expected a number, Essential, Important, Optional or Pitfall";
            Err(given.refuse(why))
        }
        (_, Some((word, number))) => Ok(Weighed { number, category: Some(word) }),
        (None, None) => Err(item.need("weight").err().unwrap_or_else(|| item.refuse("no weight"))),
    }
}

fn category(text: &str) -> Option<(&'static str, f64)> {
    let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    CATEGORIES.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(first))
}
