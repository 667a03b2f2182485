//! `WildBench`: a checklist of questions, and one score from 1 to 10.
//!
//! "`WildBench`: Benchmarking LLMs with Challenging Tasks from Real Users in the Wild", section on
//! the individual score: the score s becomes `(s - 5) * 2`, from -8 to 10.

use std::fmt::Write as _;

use super::draft::Draft;
use super::found::Found;
use crate::aggregate::How;
use crate::rubric::{AnswerKind, Criterion, Rubric, RubricError, Scale};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let list =
        if found.at.value.is_array() { found.at.clone() } else { found.at.need("checklist")? };
    let mut draft = Draft::new(&list, &[]);
    let mut instructions = "Answer these questions about the completion first:\n".to_owned();
    for question in list.filled()? {
        // Writing to a text does not fail.
        let _ = writeln!(instructions, "- {}", question.text()?.trim());
    }
    instructions.truncate(instructions.trim_end().len());
    draft.rubric.instructions = instructions;
    draft.rubric.reference = found.reference();
    let name = draft.made(&list, "score");
    let mut criterion = Criterion::new(
        name,
        "How good is the completion as an answer to the prompt, from 1 to 10?",
    );
    criterion.kind = AnswerKind::Scale(Scale { max: 10, ..Scale::default() });
    draft.rubric.criteria.push(criterion);
    draft.rubric.aggregate.how = How::Expression;
    draft.rubric.aggregate.expression = Some("(value.score - 5.0) * 2.0".to_owned());
    draft.finish()
}
