//! What can be wrong with a configuration, pointing at the place.

use std::ops::Range;

use assay_verifiers::code::Code;
use serde::Serialize;

use super::synonyms;
use crate::data::{DataError, nearest};

/// A configuration that cannot be used: a code and fields, and the sentences that are made of them.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// What is wrong.
    pub code: Code,
    /// Lower case, no final dot, names the key.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
    span: Option<Range<usize>>,
    setting: Option<Box<str>>,
    about: Box<About>,
}

/// What an error is about: boxed, so that a result stays small.
#[derive(Clone, Debug)]
struct About {
    name: String,
    text: String,
    found: Option<String>,
    expected: Vec<String>,
}

/// Where a configuration is wrong, and what was expected there. The keys are part of the contract.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ErrorFields {
    /// The file, or what stands for one, such as `command line`.
    pub file: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The character in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The dotted path of the setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is there, where a type is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What would be taken: types, words or keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
}

impl From<&DataError> for ErrorFields {
    /// Which file, folder or column is at fault.
    fn from(error: &DataError) -> Self {
        let (file, key) = match error {
            DataError::Read { file, .. }
            | DataError::Unknown { file }
            | DataError::Damaged { file, .. }
            | DataError::Refused { file, .. }
            | DataError::Folder { folder: file, .. }
            | DataError::Empty { stream: file } => (file.clone(), None),
            DataError::NoColumn { key, .. } => (String::new(), Some(key.clone())),
            DataError::NoRows { .. } | DataError::Verdicts { .. } | DataError::Write { .. } => {
                (String::new(), None)
            }
        };
        Self { file, key, ..Self::default() }
    }
}

impl ConfigError {
    /// An error in the file called `name`, which reads `text`.
    pub fn new(name: &str, text: &str, message: impl Into<String>) -> Self {
        Self {
            code: Code::BadValue,
            message: message.into(),
            help: None,
            span: None,
            setting: None,
            about: Box::new(About {
                name: name.to_owned(),
                text: text.to_owned(),
                found: None,
                expected: Vec::new(),
            }),
        }
    }

    /// Says more closely what is wrong.
    #[must_use]
    pub fn code(mut self, code: Code) -> Self {
        self.code = code;
        self
    }

    /// Names the setting at fault by its dotted path.
    #[must_use]
    pub(super) fn of(mut self, setting: &str) -> Self {
        self.setting = Some(setting.into());
        self
    }

    /// Points at a range of bytes.
    #[must_use]
    pub fn at(mut self, span: Option<Range<usize>>) -> Self {
        self.span = span;
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Says what is there, and what would be taken.
    #[must_use]
    pub(super) fn taking(mut self, found: Option<String>, expected: Vec<String>) -> Self {
        (self.about.found, self.about.expected) = (found, expected);
        self
    }

    /// Lists the names that are there where `word` is none of them, and suggests one.
    #[must_use]
    pub fn known<'a>(mut self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        self.help = match did_you_mean(word, known.iter().copied()) {
            Some(near) => Some(format!("did you mean \"{near}\"?")),
            None if known.is_empty() => None,
            None => Some(format!("there are: {}", known.join(", "))),
        };
        self.about.expected = known.into_iter().map(str::to_owned).collect();
        self
    }

    /// The range of bytes at fault, where it is known.
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// The dotted path of the setting at fault, such as `reward[0].config.pattern`, where it is one.
    pub fn setting(&self) -> Option<&str> {
        self.setting.as_deref()
    }

    /// The file, as messages name it.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.about.text
    }

    /// The fields of the error.
    pub fn fields(&self) -> ErrorFields {
        let place = self.span.as_ref().and_then(|span| {
            let before = self.text().get(..span.start)?;
            let start = before.rfind('\n').map_or(0, |end| end + 1);
            let column = before.get(start..)?.chars().count() + 1;
            Some((before.matches('\n').count() + 1, column))
        });
        ErrorFields {
            file: self.about.name.clone(),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            key: self.setting.as_deref().map(str::to_owned),
            found: self.about.found.clone(),
            expected: self.about.expected.clone(),
        }
    }
}

/// Why an engine cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// A file cannot be read, or the operating system refuses a thread.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl EngineError {
    /// What is wrong.
    pub fn code(&self) -> Code {
        match self {
            Self::Config(error) => error.code,
            Self::Io(_) => Code::UnreadableFile,
        }
    }
}

impl From<ConfigError> for EngineError {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

/// The known word that `word` stands for: one that others call so, else the nearest, where one is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let best = nearest(word, known.iter().copied());
    // A slip of the finger is nearer than any other word.
    let slip = best.filter(|(nearness, _)| *nearness > 0.93);
    let (_, found) = slip.or_else(|| synonyms::of(word, &known).map(|own| (1.0, own))).or(best)?;
    Some(found)
}
