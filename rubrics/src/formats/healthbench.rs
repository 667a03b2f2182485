//! `HealthBench`: criteria with points, some of them negative.
//!
//! "`HealthBench`: Evaluating Large Language Models Towards Improved Human Health", section on
//! scoring: the score of a completion is the sum of the points of the criteria that are met over
//! the sum of the positive points. It is not clipped and may be negative; only the mean over the
//! samples is clipped to 0 and 1. The judge is shown each criterion with its points in front.

use super::draft::Draft;
use super::found::Found;
use crate::aggregate::How;
use crate::rubric::{Criterion, Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let mut draft = Draft::new(&found.at, &[("text", "criterion")]);
    draft.rubric.aggregate.how = How::PositivePoints;
    draft.rubric.reference = found.reference();
    for (at, item) in found.at.filled()?.iter().enumerate() {
        let points = item.need("points")?;
        let text = item.need("criterion")?.text()?;
        let name = draft.made(item, &format!("criterion-{}", at + 1));
        let mut criterion = Criterion::new(name, format!("[{}] {text}", points.value));
        criterion.points = points.number()?;
        if let Some(tags) = item.key("tags") {
            criterion.tags = tags.texts()?;
        }
        draft.rubric.criteria.push(criterion);
    }
    draft.finish()
}
