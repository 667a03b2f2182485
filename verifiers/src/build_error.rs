//! What is wrong with a value that was given: a code and fields.

use std::ops::Range;

use crate::code::Code;

/// Settings, or another value, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    /// What is wrong.
    pub code: Code,
    /// The setting at fault, as a dotted path; empty when it is not one setting.
    pub setting: String,
    /// What is there, where the type is wrong.
    pub found: Option<String>,
    /// What would be taken: types, words or keys.
    pub expected: Vec<String>,
    /// Lower case, no final dot.
    pub message: String,
    /// The bytes of the setting's text that are wrong, where it is a formula.
    pub place: Option<Box<Range<usize>>>,
}

impl BuildError {
    /// The setting at fault, and why its value cannot be used.
    pub fn new(setting: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: Code::BadValue,
            setting: setting.into(),
            found: None,
            expected: Vec::new(),
            message: message.into(),
            place: None,
        }
    }

    /// A setting that names a file or a folder which cannot be read.
    pub fn unreadable(setting: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(setting, why).code(Code::UnreadableFile)
    }

    /// Says more closely what is wrong.
    #[must_use]
    pub fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// Lists what would be taken.
    #[must_use]
    pub fn expected<T: Into<String>>(self, expected: impl IntoIterator<Item = T>) -> Self {
        Self { expected: expected.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same of a setting within a table.
    #[must_use]
    pub fn within(self, table: &str) -> Self {
        let setting = match self.setting.as_str() {
            "" => table.to_owned(),
            setting => format!("{table}.{setting}"),
        };
        Self { setting, ..self }
    }
}
