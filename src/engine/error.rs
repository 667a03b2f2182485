//! What can be wrong with a configuration, pointing at the place.

use std::ops::Range;

use super::{foreign, synonyms};
use crate::data::nearest;

/// A configuration that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Lower case, no final dot, names the key.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
    name: Box<str>,
    text: Box<str>,
    span: Option<Range<usize>>,
    setting: Option<Box<str>>,
}

impl ConfigError {
    /// An error in the file called `name`, which reads `text`.
    pub fn new(name: &str, text: &str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            name: name.into(),
            text: text.into(),
            span: None,
            setting: None,
        }
    }

    /// Names the setting at fault by its dotted path.
    #[must_use]
    pub(super) fn of(mut self, setting: &str) -> Self {
        self.setting = Some(setting.into());
        self
    }

    /// What is wrong with bytes that are no text, where they are none.
    pub(crate) fn of_bytes(name: &str, bytes: &[u8]) -> Option<Self> {
        let (message, help) = foreign::bytes(bytes)?;
        Some(Self::new(name, "", format!("{name}: {message}")).help(Some(help)))
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
        &self.name
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
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
