//! The rubrics of `NeMo` Gym, as its environment `inverse_if` has them: criteria without weights.
//!
//! `aggregation_mode` beside the list is `mean`, the default, or `all`, by which every criterion
//! must be met.

use super::draft::Draft;
use super::found::Found;
use crate::aggregate::How;
use crate::rubric::{Criterion, Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let mut draft = Draft::new(&found.at, &[("text", "criteria"), ("name", "id")]);
    draft.rubric.reference = found.reference();
    if let Some(mode) = found.beside(&["aggregation_mode"]) {
        draft.rubric.aggregate.how = match mode.text()? {
            "mean" => How::WeightedMean,
            "all" => How::Min,
            other => {
                return Err(mode.refuse(format!("expected \"mean\" or \"all\", found \"{other}\"")));
            }
        };
    }
    for item in found.at.filled()? {
        let name = draft.given(&item, &item.need("id")?)?;
        let text = item.need_any(&["criteria", "criterion"])?.text()?;
        draft.rubric.criteria.push(Criterion::new(name, text));
    }
    draft.finish()
}
