//! `Prometheus`: a criterion with five described levels.
//!
//! It comes as an object with `levels`, as the columns of the Feedback Collection (`orig_criteria`,
//! `orig_score1_description`, ...), or as the text that its prompt shows: the criterion in
//! brackets, then `Score 1:` to `Score 5:`, a line each.

use super::found::Found;
use super::levels::Levels;
use super::place::At;
use crate::rubric::{Rubric, RubricError};

pub(super) fn read(found: &Found<'_>) -> Result<Rubric, RubricError> {
    let at = &found.at;
    let levels = match at.value.as_str() {
        Some(text) => shown(at, text)?,
        None if at.key("levels").is_some() => described(at)?,
        None => columns(at)?,
    };
    levels.rubric(found)
}

fn described(at: &At<'_>) -> Result<Levels, RubricError> {
    let levels = at.need("levels")?;
    let criterion = at.need_any(&["criterion", "criteria"])?.text()?.to_owned();
    if levels.value.is_array() {
        return Ok(Levels { criterion, levels: levels.texts()? });
    }
    let count = levels.members()?.len();
    let level = |number: usize| Ok(levels.need(&number.to_string())?.text()?.to_owned());
    Ok(Levels { criterion, levels: (1..=count).map(level).collect::<Result<_, RubricError>>()? })
}

fn columns(at: &At<'_>) -> Result<Levels, RubricError> {
    let level =
        |number| Ok(at.need(&format!("orig_score{number}_description"))?.text()?.to_owned());
    let levels = (1..=5).map(level).collect::<Result<_, RubricError>>()?;
    Ok(Levels { criterion: at.need("orig_criteria")?.text()?.to_owned(), levels })
}

fn shown(at: &At<'_>, text: &str) -> Result<Levels, RubricError> {
    let missing = |what: &str| at.refuse(format!("{what} is missing in the text of the rubric"));
    let text = text.trim();
    let first = text.find("Score 1:").ok_or_else(|| missing("`Score 1:`"))?;
    let (head, mut rest) = text.split_at(first);
    let criterion = head.trim().trim_start_matches('[').trim_end_matches(']').to_owned();
    let mut levels = Vec::new();
    for number in 1..=5 {
        let mark = format!("Score {number}:");
        let told = rest.strip_prefix(&mark).ok_or_else(|| missing(&format!("`{mark}`")))?;
        let end = told.find(&format!("\nScore {}:", number + 1)).unwrap_or(told.len());
        let (level, after) = told.split_at(end);
        levels.push(level.trim().to_owned());
        rest = after.trim_start();
    }
    Ok(Levels { criterion, levels })
}
