//! An answer with its row, and what it earns.

use std::borrow::Cow;

use serde_json::Value;

/// An answer, and the row that judges it.
#[derive(Clone, Copy, Debug)]
pub struct Puzzle<'a> {
    /// The answer.
    pub answer: &'a str,
    /// The published answer.
    pub reference: &'a Value,
    /// The data of the puzzle.
    pub metadata: &'a Value,
}

/// What an answer earns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marked {
    /// The score as published, from 0 to 1.
    pub published: f64,
    /// The answer is right.
    pub right: bool,
}

/// Marks, or why the row cannot be judged by.
pub type Judged = Result<Marked, String>;

impl Marked {
    /// Right or wrong alone.
    pub fn exact(right: bool) -> Self {
        Self::floor(right, 0.0)
    }

    /// What is wrong earns `floor`.
    pub fn floor(right: bool, floor: f64) -> Self {
        Self { published: if right { 1.0 } else { floor }, right }
    }

    /// Wrong, with a score.
    pub fn wrong(published: f64) -> Self {
        Self { published, right: false }
    }
}

impl<'a> Puzzle<'a> {
    /// The published answer as text.
    pub fn gold(&self) -> Result<Cow<'a, str>, String> {
        match self.reference {
            Value::String(text) => Ok(Cow::Borrowed(text)),
            Value::Number(number) => Ok(Cow::Owned(number.to_string())),
            _ => Err("the reference is neither a text nor a number".to_owned()),
        }
    }

    /// A part of the data, by its path with dots.
    pub fn part(&self, path: &str) -> Result<&'a Value, String> {
        let found = path.split('.').try_fold(self.metadata, |value, key| value.get(key));
        found.ok_or_else(|| format!("the metadata lacks `{path}`"))
    }

    /// A text of the data.
    pub fn text(&self, path: &str) -> Result<&'a str, String> {
        self.part(path)?.as_str().ok_or_else(|| format!("`{path}` of the metadata is not a text"))
    }

    /// A whole number of the data.
    pub fn number(&self, path: &str) -> Result<i64, String> {
        let wrong = || format!("`{path}` of the metadata is not a whole number");
        self.part(path)?.as_i64().ok_or_else(wrong)
    }

    /// A list of the data.
    pub fn list(&self, path: &str) -> Result<&'a [Value], String> {
        let wrong = || format!("`{path}` of the metadata is not a list");
        Ok(self.part(path)?.as_array().ok_or_else(wrong)?.as_slice())
    }

    /// A list of whole numbers.
    pub fn numbers(&self, path: &str) -> Result<Vec<i64>, String> {
        let numbers: Option<Vec<i64>> = self.list(path)?.iter().map(Value::as_i64).collect();
        numbers.ok_or_else(|| format!("`{path}` of the metadata has more than whole numbers"))
    }

    /// A list of texts.
    pub fn texts(&self, path: &str) -> Result<Vec<&'a str>, String> {
        let texts: Option<Vec<&str>> = self.list(path)?.iter().map(Value::as_str).collect();
        texts.ok_or_else(|| format!("`{path}` of the metadata has more than texts"))
    }

    /// A grid of whole numbers that has a cell.
    pub fn grid(&self, path: &str) -> Result<Vec<Vec<i64>>, String> {
        let row = |row: &Value| row.as_array()?.iter().map(Value::as_i64).collect();
        let rows: Option<Vec<Vec<i64>>> = self.list(path)?.iter().map(row).collect();
        rows.filter(|rows| rows.first().is_some_and(|row| !row.is_empty()))
            .ok_or_else(|| format!("`{path}` of the metadata is not a grid of whole numbers"))
    }
}

/// About how many bytes a value has.
pub fn weight(value: &Value) -> u64 {
    match value {
        Value::String(text) => 8 + text.len() as u64,
        Value::Array(values) => 8 + values.iter().map(weight).sum::<u64>(),
        Value::Object(map) => {
            8 + map.iter().map(|(key, value)| key.len() as u64 + weight(value)).sum::<u64>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
