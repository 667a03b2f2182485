//! The rubric judge of `verifiers` (version 1): criteria with choices from the worst to the best.
//!
//! An answer earns its rank over the highest rank, and the reward is the mean by weight. Negative
//! weights and weights that add up to 0 are refused, as they are there.

use super::draft::Draft;
use super::found::Found;
use super::place::At;
use crate::rubric::{AnswerChoice, AnswerKind, Criterion, Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let list =
        if found.at.value.is_array() { found.at.clone() } else { found.at.need("criteria")? };
    let keys = &[("points", "weight"), ("kind.choices", "choices")];
    let mut draft = Draft::new(&list, keys);
    for item in list.filled()? {
        let name = draft.given(&item, &item.need("name")?)?;
        let mut criterion = Criterion::new(name, item.need("text")?.text()?);
        if let Some(weight) = item.key("weight") {
            criterion.points = weight.weight()?;
        }
        criterion.kind = match item.key("choices") {
            Some(choices) => AnswerKind::Choices(ordered(&choices)?),
            None => AnswerKind::YesNo,
        };
        draft.rubric.criteria.push(criterion);
    }
    draft.finish()
}

fn ordered(at: &At<'_>) -> Result<Vec<AnswerChoice>, RubricError> {
    let choice = |label: String| AnswerChoice { label, text: String::new(), value: None };
    Ok(at.texts()?.into_iter().map(choice).collect())
}
