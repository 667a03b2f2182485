//! Evidence: what led to an outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ordered::OrderedMap;

/// What led to an outcome, in the order in which it was noted. Keys are part of the run format.
///
/// `extracted` (text) and `span` (byte offsets into the completion, end excluded) say what was
/// judged; `reason` is a short fixed word that says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Evidence(OrderedMap<Value>);

impl Evidence {
    /// The longest text that is kept whole, in bytes. Longer ones are cut: evidence points at the
    /// sample, it does not copy it.
    pub const TEXT_BYTES_MAX: usize = 512;

    /// Notes one thing. Long texts are cut at a character and end in an ellipsis.
    pub fn push(&mut self, key: &'static str, value: impl Into<Value>) {
        match value.into() {
            Value::String(text) if text.len() > Self::TEXT_BYTES_MAX => self.push_text(key, &text),
            value => self.0.push(key, value),
        }
    }

    /// Notes a text, as [`push`](Self::push) does, of which nothing is copied that is not kept.
    pub fn push_text(&mut self, key: &'static str, text: &str) {
        let is_whole = text.len() <= Self::TEXT_BYTES_MAX;
        self.0.push(key, Value::String(if is_whole { text.to_owned() } else { cut(text) }));
    }

    /// The first value noted under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Every note, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter()
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(Evidence::TEXT_BYTES_MAX);
    [&text[..end], "…"].concat()
}
