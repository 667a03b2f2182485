//! Paths such as `meta.kind`, and places in a script.

use assay::verifiers::Sample;
use rhai::Position;
use serde::Deserialize;
use serde_json::Value;

/// A path, with the place of each name; the first stands for what is given.
#[derive(Deserialize)]
pub(crate) struct Path {
    pub(crate) names: Vec<String>,
    pub(crate) at: Vec<Option<Spot>>,
    /// The script allows for its absence.
    pub(crate) is_guarded: bool,
}

/// A line, from 1, and bytes in it.
pub(crate) type Spot = (usize, usize, usize);

impl Path {
    /// What a sample has at the path; `None` for a path of something else than `meta` and `reference`.
    pub(crate) fn value_in<'s>(&self, sample: &'s Sample) -> Option<&'s Value> {
        let (first, rest) = self.names.split_first()?;
        let (start, rest) = match first.as_str() {
            "meta" => (sample.meta().get(rest.first()?)?, rest.get(1..)?),
            "reference" => (sample.reference()?, rest),
            _ => return None,
        };
        rest.iter().try_fold(start, |value, name| value.get(name))
    }
}

/// The place of a word of rhai.
pub(crate) fn spot_of(text: &str, at: Position) -> Option<Spot> {
    spot_at(text, at.line()?, at.position()?)
}

/// The place of the word at a line and a character, both from 1.
pub(super) fn spot_at(text: &str, line: usize, column: usize) -> Option<Spot> {
    let own = text.lines().nth(line.checked_sub(1)?)?;
    let (start, first) = own.char_indices().nth(column.checked_sub(1)?)?;
    let rest = own.get(start..)?;
    let length = match first {
        '"' => rest.get(1..)?.find('"')? + 2,
        _ => rest.find(|char: char| !(char.is_alphanumeric() || char == '_')).unwrap_or(rest.len()),
    };
    Some((line, start, start + length.max(first.len_utf8())))
}
