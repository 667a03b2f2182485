//! The sample: one prompt, one completion, its reference, and the rest of its row.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::canonical::{self, Digest};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The text of the message.
    pub content: String,
}

/// A prompt or a completion: plain text, or a list of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A conversation.
    Messages(Vec<Message>),
}

impl Content {
    /// The text that is judged: the text itself, or the last message of the assistant (of a
    /// prompt without one: the last message).
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Messages(messages) => messages
                .iter()
                .rfind(|message| message.role == "assistant")
                .or(messages.last())
                .map_or("", |message| &message.content),
        }
    }

    /// The messages, where the content came as messages.
    pub fn messages(&self) -> Option<&[Message]> {
        match self {
            Self::Text(_) => None,
            Self::Messages(messages) => Some(messages),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Messages(messages) => {
                serde_json::to_value(messages).unwrap_or(Value::Array(Vec::new()))
            }
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Message>> for Content {
    fn from(messages: Vec<Message>) -> Self {
        Self::Messages(messages)
    }
}

/// One prompt, one completion, its reference and its metadata. Immutable.
///
/// ```
/// use assay_verifiers::Sample;
///
/// let sample = Sample::builder("the answer is 4").reference("4").build();
/// assert_eq!(sample.completion(), "the answer is 4");
/// assert_eq!(sample.reference_text().as_deref(), Some("4"));
/// assert_eq!(sample.id().len(), 64, "no id was given, so it is the SHA-256 of the sample");
/// ```
#[derive(Clone, Debug)]
pub struct Sample {
    id: Option<String>,
    prompt: Content,
    completion: Content,
    reference: Option<Value>,
    group: Option<String>,
    meta: Map<String, Value>,
    digest: OnceLock<(Digest, String)>,
}

impl Sample {
    /// Starts a sample from its completion.
    pub fn builder(completion: impl Into<Content>) -> SampleBuilder {
        SampleBuilder {
            sample: Self {
                id: None,
                prompt: Content::Text(String::new()),
                completion: completion.into(),
                reference: None,
                group: None,
                meta: Map::new(),
                digest: OnceLock::new(),
            },
        }
    }

    /// The id that was given, or the SHA-256 of the canonical form in hexadecimal.
    pub fn id(&self) -> &str {
        match &self.id {
            Some(id) => id,
            None => &self.digests().1,
        }
    }

    /// The text that is judged.
    pub fn completion(&self) -> &str {
        self.completion.text()
    }

    /// The completion as it came: text or messages.
    pub fn completion_content(&self) -> &Content {
        &self.completion
    }

    /// The text of the prompt.
    pub fn prompt(&self) -> &str {
        self.prompt.text()
    }

    /// The prompt as it came: text or messages.
    pub fn prompt_content(&self) -> &Content {
        &self.prompt
    }

    /// The reference as it came. `None` where the row has none, or null.
    pub fn reference(&self) -> Option<&Value> {
        self.reference.as_ref()
    }

    /// The reference as text: a string as it is, a number in canonical form, anything else as
    /// JSON.
    pub fn reference_text(&self) -> Option<Cow<'_, str>> {
        self.reference.as_ref().map(value_text)
    }

    /// Every acceptable reference as text: the members of a list, or the one that there is.
    pub fn references(&self) -> Vec<Cow<'_, str>> {
        match &self.reference {
            Some(Value::Array(values)) => values.iter().map(value_text).collect(),
            Some(value) => vec![value_text(value)],
            None => Vec::new(),
        }
    }

    /// The prompt that this sample shares with others, where the row names it.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// The columns that nothing else took.
    pub fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// SHA-256 of the canonical form. The id is not part of it: a verdict must not depend on it.
    pub fn digest(&self) -> Digest {
        self.digests().0
    }

    fn digests(&self) -> &(Digest, String) {
        self.digest.get_or_init(|| {
            let digest: Digest = Sha256::digest(self.canonical()).into();
            (digest, canonical::hex(&digest))
        })
    }

    /// The canonical bytes: an object with sorted keys, written straight out, without a copy of
    /// the texts.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256 + self.completion().len() + self.prompt().len());
        out.extend_from_slice(b"{\"completion\":");
        canonical::write(&mut out, &self.completion.to_value());
        if let Some(group) = &self.group {
            out.extend_from_slice(b",\"group\":");
            canonical::write_text(&mut out, group);
        }
        out.extend_from_slice(b",\"meta\":");
        canonical::write_members(&mut out, self.meta.iter());
        out.extend_from_slice(b",\"prompt\":");
        canonical::write(&mut out, &self.prompt.to_value());
        if let Some(reference) = &self.reference {
            out.extend_from_slice(b",\"reference\":");
            canonical::write(&mut out, reference);
        }
        out.push(b'}');
        out
    }
}

/// A value as text: a string as it is, a number in canonical form, anything else as JSON.
pub fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => Cow::Owned(canonical::number_text(number)),
        other => Cow::Owned(other.to_string()),
    }
}

/// Sets what a sample has beside its completion.
#[derive(Clone, Debug)]
#[must_use]
pub struct SampleBuilder {
    sample: Sample,
}

impl SampleBuilder {
    /// The id under which the sample is reported.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.sample.id = Some(id.into());
        self
    }

    /// What the completion answers.
    pub fn prompt(mut self, prompt: impl Into<Content>) -> Self {
        self.sample.prompt = prompt.into();
        self
    }

    /// What a right completion comes to. A null is no reference.
    pub fn reference(mut self, reference: impl Into<Value>) -> Self {
        self.sample.reference = Some(reference.into()).filter(|value| !value.is_null());
        self
    }

    /// The prompt that the sample shares with others.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.sample.group = Some(group.into());
        self
    }

    /// Everything else that is known of the sample.
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.sample.meta = meta;
        self
    }

    /// The finished sample.
    pub fn build(self) -> Sample {
        self.sample
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meta(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    #[test]
    fn the_digest_is_of_the_content_and_not_of_the_id() {
        let one = Sample::builder("c").prompt("p").reference("r").id("a").build();
        let two = Sample::builder("c").prompt("p").reference("r").id("b").build();
        assert_eq!(one.digest(), two.digest());
        let three = Sample::builder("c").prompt("pr").reference("").build();
        assert_ne!(one.digest(), three.digest());
        let canonical = String::from_utf8(one.canonical()).unwrap();
        assert_eq!(canonical, r#"{"completion":"c","meta":{},"prompt":"p","reference":"r"}"#);
    }

    #[test]
    fn a_null_and_a_missing_member_are_the_same() {
        let null = Sample::builder("c").meta(meta(json!({"a": 1.0, "b": null}))).build();
        let missing = Sample::builder("c").meta(meta(json!({"a": 1}))).build();
        assert_eq!(null.digest(), missing.digest());
        assert!(Sample::builder("c").reference(Value::Null).build().reference().is_none());
    }

    #[test]
    fn the_last_message_of_the_assistant_is_judged() {
        let message = |role: &str, content: &str| Message {
            role: role.to_owned(),
            content: content.to_owned(),
        };
        let content = Content::from(vec![
            message("assistant", "first"),
            message("assistant", "second"),
            message("tool", "output"),
        ]);
        assert_eq!(content.text(), "second");
        let content = Content::from(vec![message("user", "question")]);
        assert_eq!(content.text(), "question");
        assert_eq!(Content::from(Vec::<Message>::new()).text(), "");
    }

    #[test]
    fn references_as_text() {
        let sample = Sample::builder("").reference(json!(["a", 2.0, true])).build();
        assert_eq!(sample.references(), ["a", "2", "true"]);
        assert_eq!(Sample::builder("").reference(18).build().references(), ["18"]);
    }
}
