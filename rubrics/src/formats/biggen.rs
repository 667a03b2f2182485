//! `BiGGen-Bench`: a criterion of its own for each prompt, with five described levels.

use super::found::Found;
use super::levels::Levels;
use crate::rubric::{Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let at = &found.at;
    let level = |number| Ok(at.need(&format!("score{number}_description"))?.text()?.to_owned());
    let levels = (1..=5).map(level).collect::<Result<_, RubricError>>()?;
    Levels { criterion: at.need("criteria")?.text()?.to_owned(), levels }.rubric(found)
}
