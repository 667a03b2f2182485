//! A value and the keys that lead to it, so that every error can name them.

use super::data::Data;
use super::error::SuiteError;

#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) key: String,
    pub(super) data: &'a Data,
}

impl<'a> Node<'a> {
    pub(super) fn root(data: &'a Data) -> Self {
        Self { key: String::new(), data }
    }

    /// The member called `key`, even if it is null.
    pub(super) fn field(&self, key: &str) -> Option<Self> {
        let data = self.data.field(key)?;
        let dot = if self.key.is_empty() { "" } else { "." };
        Some(Self { key: format!("{}{dot}{key}", self.key), data })
    }

    /// The member called `key`, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.field(key).filter(|node| *node.data != Data::None)
    }

    pub(super) fn need(&self, key: &'static str) -> Result<Self, SuiteError> {
        self.field(key).ok_or_else(|| self.missing(key))
    }

    pub(super) fn missing(&self, missing: &'static str) -> SuiteError {
        SuiteError::Missing { key: self.key.clone(), missing, has: self.data.keys() }
    }

    pub(super) fn wrong(&self, expected: impl Into<String>) -> SuiteError {
        let (key, found) = (self.key.clone(), self.data.kind());
        SuiteError::Wrong { key, expected: expected.into(), found }
    }

    pub(super) fn refused(&self, why: impl Into<String>) -> SuiteError {
        SuiteError::Refused { key: self.key.clone(), why: why.into() }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.data, Data::List(_))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.data, Data::Text(_))
    }

    pub(super) fn text(&self) -> Result<&'a str, SuiteError> {
        match self.data {
            Data::Text(text) => Ok(text),
            _ => Err(self.wrong("text")),
        }
    }

    /// Text that says something.
    pub(super) fn words(&self) -> Result<&'a str, SuiteError> {
        let text = self.text()?;
        if text.trim().is_empty() { Err(self.wrong("text that is not empty")) } else { Ok(text) }
    }

    pub(super) fn list(&self) -> Result<Vec<Self>, SuiteError> {
        let Data::List(items) = self.data else { return Err(self.wrong("a list")) };
        let node = |(index, data)| Self { key: format!("{}[{index}]", self.key), data };
        Ok(items.iter().enumerate().map(node).collect())
    }

    /// The name of a function or a class: dotted names and the like cannot be bound.
    pub(super) fn name(&self) -> Result<String, SuiteError> {
        let text = self.text()?;
        let mut chars = text.chars();
        let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$');
        if starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            return Ok(text.to_owned());
        }
        Err(self.wrong("the name of a function"))
    }

    /// Refuses keys that are not `known`: a misspelt one would be overlooked.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), SuiteError> {
        let Data::Dict(members) = self.data else { return Err(self.wrong("an object")) };
        match members.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some((unknown, _)) => Err(SuiteError::Unknown {
                key: self.key.clone(),
                unknown: unknown.clone(),
                known: known.join(", "),
            }),
        }
    }
}
