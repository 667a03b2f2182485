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

/// Where the word at a character of a line ends.
pub(super) fn word_end(line: &str, column: usize) -> Option<usize> {
    let (start, first) = line.char_indices().nth(column)?;
    let rest = line.get(start..)?;
    let length = match first {
        '"' => rest.get(1..)?.find('"')? + 2,
        _ => rest.find(|char: char| !(char.is_alphanumeric() || char == '_')).unwrap_or(rest.len()),
    };
    Some(start + length.max(first.len_utf8()))
}

/// The place of a word of rhai.
pub(crate) fn spot_of(text: &str, at: Position) -> Option<Spot> {
    let (line, column) = (at.line()?, at.position()?.checked_sub(1)?);
    let own = text.lines().nth(line - 1)?;
    Some((line, own.char_indices().nth(column)?.0, word_end(own, column)?))
}
