//! One criterion with described levels 1 to 5, as `Prometheus` and `BiGGen-Bench` have it.
//!
//! "Prometheus 2: An Open Source Language Model Specialized in Evaluating Other Language Models",
//! section on direct assessment: the reward is the level itself, a whole number from 1 to 5.

use super::draft::Draft;
use super::found::Found;
use crate::aggregate::How;
use crate::rubric::{AnswerKind, Criterion, Rubric, RubricError, Scale};

/// The levels of such a rubric, from 1 on.
pub(super) struct Levels {
    pub(super) criterion: String,
    pub(super) levels: Vec<String>,
}

impl Levels {
    pub(super) fn rubric(self, found: &Found<'_>) -> Result<Rubric, RubricError> {
        let mut draft = Draft::new(&found.at, &[("kind.scale", "levels")]);
        let name = draft.made(&found.at, "score");
        let mut criterion = Criterion::new(name, self.criterion);
        let max = i64::try_from(self.levels.len()).unwrap_or(i64::MAX);
        criterion.kind = AnswerKind::Scale(Scale { max, levels: self.levels, ..Scale::default() });
        draft.rubric.criteria.push(criterion);
        draft.rubric.aggregate.how = How::Value;
        draft.rubric.reference = found.reference();
        draft.finish()
    }
}
