//! `ResearchRubrics`: weights from -5 to 5, and an answer between yes and no.
//!
//! "`ResearchRubrics`: A Benchmark of Prompts and Rubrics For Evaluating Deep Research Agents",
//! section on evaluation: satisfied counts 1, partially satisfied 0.5 and not satisfied 0; the score
//! is `sum(w * s)` over the sum of the positive weights, without a clip.

use super::draft::Draft;
use super::found::Found;
use crate::aggregate::How;
use crate::rubric::{AnswerChoice, AnswerKind, Criterion, Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let mut draft = Draft::new(&found.at, &[("points", "weight"), ("text", "criterion")]);
    draft.rubric.aggregate.how = How::PositivePoints;
    draft.rubric.reference = found.reference();
    for (at, item) in found.at.filled()?.iter().enumerate() {
        let text = item.need_any(&["criterion", "criteria", "text"])?.text()?;
        let name = draft.made(item, &format!("criterion-{}", at + 1));
        let mut criterion = Criterion::new(name, text);
        criterion.points = item.need("weight")?.number()?;
        criterion.kind = AnswerKind::Choices(choices());
        if let Some(tags) = item.any(&["axis", "category", "tags"]) {
            criterion.tags = tags.texts()?;
        }
        draft.rubric.criteria.push(criterion);
    }
    draft.finish()
}

fn choices() -> Vec<AnswerChoice> {
    let choice = |(label, value): (&str, f64)| AnswerChoice {
        label: label.to_owned(),
        text: String::new(),
        value: Some(value),
    };
    [("Not satisfied", 0.0), ("Partially satisfied", 0.5), ("Satisfied", 1.0)].map(choice).into()
}
