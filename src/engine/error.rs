//! What can be wrong with a configuration, pointing at the place.

use std::ops::Range;

/// A configuration that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Lower case, no final dot, names the key.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
    name: String,
    text: String,
    span: Option<Range<usize>>,
}

impl ConfigError {
    /// An error in the file called `name`, which reads `text`.
    pub fn new(name: &str, text: &str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            name: name.to_owned(),
            text: text.to_owned(),
            span: None,
        }
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

/// The known word that is nearest to `word`, where one is near.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(nearness, _)| *nearness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
