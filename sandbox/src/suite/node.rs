//! A value and the keys that lead to it, so that every error can name them.

use super::error::SuiteError;
use crate::value::{PyValue, truncated};

/// The class in which `LeetCode` has its functions.
pub(super) const SOLUTION: &str = "Solution";
/// Characters of a value that a message repeats.
const SHOWN_CHARS_MAX: usize = 80;

#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) key: String,
    pub(super) data: &'a PyValue,
}

impl<'a> Node<'a> {
    pub(super) fn root(data: &'a PyValue) -> Self {
        Self { key: String::new(), data }
    }

    /// The member called `key`, even if it is null.
    pub(super) fn field(&self, key: &str) -> Option<Self> {
        let data = self.data.get(key)?;
        let dot = if self.key.is_empty() { "" } else { "." };
        Some(Self { key: format!("{}{dot}{key}", self.key), data })
    }

    /// The member called `key`, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.field(key).filter(|node| *node.data != PyValue::None)
    }

    pub(super) fn need(&self, key: &'static str) -> Result<Self, SuiteError> {
        self.field(key).ok_or_else(|| self.missing(key))
    }

    pub(super) fn missing(&self, missing: &'static str) -> SuiteError {
        SuiteError::Missing { key: self.key.clone(), missing, has: keys(self.data) }
    }

    pub(super) fn wrong(&self, expected: impl Into<String>) -> SuiteError {
        let (key, found) = (self.key.clone(), kind(self.data));
        SuiteError::Wrong { key, expected: expected.into(), found }
    }

    pub(super) fn refused(&self, why: impl Into<String>) -> SuiteError {
        SuiteError::Refused { key: self.key.clone(), why: why.into() }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.data, PyValue::List(_))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.data, PyValue::Str(_))
    }

    pub(super) fn text(&self) -> Result<&'a str, SuiteError> {
        self.data.as_str().ok_or_else(|| self.wrong("text"))
    }

    /// Text that says something.
    pub(super) fn words(&self) -> Result<&'a str, SuiteError> {
        let text = self.text()?;
        if text.trim().is_empty() { Err(self.wrong("text that is not empty")) } else { Ok(text) }
    }

    pub(super) fn list(&self) -> Result<Vec<Self>, SuiteError> {
        let PyValue::List(items) = self.data else { return Err(self.wrong("a list")) };
        let node = |(index, data)| Self { key: format!("{}[{index}]", self.key), data };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// The name of a function or a class: dotted names and the like cannot be bound.
    pub(super) fn name(&self) -> Result<String, SuiteError> {
        self.named(self.text()?)
    }

    /// The name of a function. Of `Solution().f` and `Solution.f` it is that of the method: a function
    /// that is not there is looked for in that class.
    pub(super) fn function(&self) -> Result<String, SuiteError> {
        let text = self.text()?;
        self.named(method_of_solution(text).unwrap_or(text))
    }

    /// Whether it names a method of `Solution`.
    pub(super) fn is_method_of_solution(&self) -> bool {
        self.data.as_str().and_then(method_of_solution).is_some()
    }

    fn named(&self, text: &str) -> Result<String, SuiteError> {
        let mut chars = text.chars();
        let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$');
        if starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            return Ok(text.to_owned());
        }
        Err(self.wrong("the name of a function"))
    }

    /// Refuses keys that are not `known`: a misspelt one would be overlooked.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), SuiteError> {
        match self.names().ok_or_else(|| self.wrong("an object"))?.find(|key| !known.contains(key))
        {
            None => Ok(()),
            Some(unknown) => Err(self.unknown(unknown, known)),
        }
    }

    /// The keys of an object.
    pub(super) fn names(&self) -> Option<impl Iterator<Item = &'a str>> {
        names(self.data)
    }

    pub(super) fn unknown(&self, unknown: &str, known: &[&str]) -> SuiteError {
        let (key, unknown) = (self.key.clone(), unknown.to_owned());
        SuiteError::Unknown { key, unknown, known: known.join(", ") }
    }
}

/// The method in `Solution().f` and `Solution.f`.
fn method_of_solution(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(SOLUTION)?;
    rest.strip_prefix("()").unwrap_or(rest).strip_prefix('.')
}

/// What a value is, in words.
fn kind(value: &PyValue) -> String {
    match value {
        PyValue::None => "null".to_owned(),
        PyValue::Bool(value) => value.to_string(),
        PyValue::Str(_) => {
            let text = truncated(value.as_str().unwrap_or_default(), SHOWN_CHARS_MAX);
            format!("text {text:?}")
        }
        PyValue::List(items) => format!("a list of {}", items.len()),
        PyValue::Dict(_) => format!("an object with the keys {}", keys(value)),
        number => {
            format!("the number {}", truncated(format_args!("{number:#}"), SHOWN_CHARS_MAX))
        }
    }
}

/// The keys of an object, for a message.
fn keys(value: &PyValue) -> String {
    let shown: Vec<&str> = names(value).into_iter().flatten().take(20).collect();
    if shown.is_empty() { "none".to_owned() } else { truncated(shown.join(", "), SHOWN_CHARS_MAX) }
}

fn names(value: &PyValue) -> Option<impl Iterator<Item = &str>> {
    let PyValue::Dict(members) = value else { return None };
    Some(members.iter().filter_map(|(key, _)| key.as_str()))
}
