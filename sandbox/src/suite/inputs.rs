//! What functions are given, as text: JSON with an argument a line, or arguments by name as
//! `LeetCode` prints them. Literals are read, and nothing is run.

use super::error::SuiteError;
use super::json;
use super::limits::BYTES_MAX;
use super::node::Node;
use crate::value::literal::{self, Words};
use crate::value::{Arguments, PyValue};

/// The arguments in a text: `nums = [3, 3], target = 6`, or an argument a line, as JSON.
pub(super) fn read(node: &Node<'_>) -> Result<Arguments, SuiteError> {
    let text = node.text()?;
    if !begins_with_name(text) {
        return Ok(Arguments { args: json_lines(node)?, kwargs: Vec::new() });
    }
    if text.len() > BYTES_MAX {
        let (key, found) = (node.key.clone(), text.len());
        return Err(SuiteError::TooMuch { key, what: "bytes", found, limit: BYTES_MAX });
    }
    let read = |text: &str| literal::arguments(text, Words::Json);
    let one_a_line = || text.trim().lines().collect::<Vec<_>>().join(", ");
    read(text).or_else(|error| read(&one_a_line()).map_err(|_| error)).map_err(|error| {
        let rest: String = text.get(error.0..).unwrap_or(text).chars().take(20).collect();
        node.refused(format!("expected a literal or a name and \"=\", found {rest:?}"))
    })
}

/// Whether a text begins with a name and `=`.
fn begins_with_name(text: &str) -> bool {
    let is_name = |name: &str| {
        let name = name.trim();
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// One argument a line.
fn json_lines(node: &Node<'_>) -> Result<Vec<PyValue>, SuiteError> {
    let lines = node.text()?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| json::read(line, &format!("{}, line {}", node.key, index + 1)))
        .collect()
}

/// What is returned, as JSON or as a literal of Python. `#` stands for itself: with it `LeetCode` ends
/// the levels of a tree.
pub(super) fn json_text(node: &Node<'_>) -> Result<PyValue, SuiteError> {
    if !node.is_text() {
        return Ok(node.data.clone());
    }
    let text = node.text()?;
    json::read(text, &node.key).or_else(|error| {
        let marked = text.replace(",#", ",\"#\"");
        if text.len() > BYTES_MAX {
            return Err(error);
        }
        literal::read(&marked, Words::Json).map_err(|_| error)
    })
}
