//! What is wrong, as a report has it: its code, its place in the configuration, and what to type.

use annotate_snippets::{Level, Renderer};
use assay::ConfigError;
use assay::engine::ErrorFields;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::exit::drawn;
use crate::text::inline;

/// One thing that is wrong. The keys are part of the command-line contract.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    /// The code of the lint.
    code: &'static str,
    /// Where; the key is as `--set` names it.
    #[serde(flatten)]
    at: ErrorFields,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// What the message is made of.
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
    #[serde(skip)]
    error: ConfigError,
}

impl Problem {
    pub(crate) fn new(
        code: &'static str,
        key: &str,
        fields: Vec<(&'static str, Value)>,
        error: ConfigError,
    ) -> Self {
        let at = ErrorFields { key: Some(key.to_owned()), ..error.fields() };
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (message, help) = (error.message.clone(), error.help.clone());
        Self { code, at, message, help, fields, error }
    }

    /// The problem for people.
    pub(crate) fn text(&self, level: Level<'_>) -> String {
        let mut error = self.error.clone();
        let key = self.at.key.as_deref().unwrap_or_default();
        error.message = inline(&format!("{key}: {}", self.message));
        drawn(&error, self.code, level, &Renderer::plain()) + "\n"
    }
}
