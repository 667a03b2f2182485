//! The sample: one prompt, one completion, its reference, and the rest of its row.

mod content;
mod listed;
mod message;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::canonical::{self, Digest};
use crate::column_path;
pub use content::{Content, Turn};
pub(crate) use listed::listed;
pub use message::{Message, MessageContent, ToolCall};

/// One prompt, one completion, its reference and its metadata. Immutable; a clone shares them.
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
    data: Arc<Data>,
    turn: Turn,
}

/// The content of a sample, shared by its clones.
#[derive(Clone, Debug)]
struct Data {
    id: Option<String>,
    prompt: Content,
    completion: Content,
    reference: Option<Value>,
    group: Option<String>,
    meta: Map<String, Value>,
    token_ids: Option<Vec<u32>>,
    logprobs: Option<Vec<f64>>,
    finish_reason: Option<String>,
    is_rendered: bool,
    digest: OnceLock<(Digest, String)>,
}

impl Sample {
    /// Starts a sample from its completion.
    pub fn builder(completion: impl Into<Content>) -> SampleBuilder {
        SampleBuilder {
            data: Data {
                id: None,
                prompt: Content::Text(String::new()),
                completion: completion.into(),
                reference: None,
                group: None,
                meta: Map::new(),
                token_ids: None,
                logprobs: None,
                finish_reason: None,
                is_rendered: false,
                digest: OnceLock::new(),
            },
        }
    }

    /// The same sample, with another message to be judged. `None` without such a message.
    pub fn at_turn(&self, turn: Turn) -> Option<Self> {
        let there = match &self.data.completion {
            Content::Text(_) => true,
            Content::Messages(_) => self.data.completion.message(turn).is_some(),
        };
        there.then(|| Self { data: Arc::clone(&self.data), turn })
    }

    /// The indices of the messages of the assistant; `None` where the completion is plain text.
    pub fn assistant_turns(&self) -> Option<Vec<usize>> {
        let messages = self.data.completion.messages()?.iter().enumerate();
        Some(messages.filter(|(_, one)| one.role == "assistant").map(|(at, _)| at).collect())
    }

    /// The id that was given, or the SHA-256 of the canonical form in hexadecimal.
    pub fn id(&self) -> &str {
        match &self.data.id {
            Some(id) => id,
            None => &self.digests().1,
        }
    }

    /// The text that is judged.
    pub fn completion(&self) -> &str {
        self.data.completion.text_at(self.turn)
    }

    /// The message that is judged; `None` where the completion is plain text.
    pub fn completion_message(&self) -> Option<&Message> {
        self.data.completion.message(self.turn)
    }

    /// The place of that message, where others come behind it.
    pub fn earlier_place(&self) -> Option<usize> {
        let last = self.data.completion.messages()?.len().checked_sub(1);
        self.data.completion.place(self.turn).filter(|place| Some(*place) != last)
    }

    /// The completion as it came: text or messages.
    pub fn completion_content(&self) -> &Content {
        &self.data.completion
    }

    /// The text of the prompt.
    pub fn prompt(&self) -> &str {
        self.data.prompt.text()
    }

    /// The prompt as it came: text or messages.
    pub fn prompt_content(&self) -> &Content {
        &self.data.prompt
    }

    /// The token ids of the completion, where the row has them.
    pub fn token_ids(&self) -> Option<&[u32]> {
        self.data.token_ids.as_deref()
    }

    /// The log-probability of each token of the completion, where the row has them.
    pub fn logprobs(&self) -> Option<&[f64]> {
        self.data.logprobs.as_deref()
    }

    /// Why the completion ended (`stop`, `length`, `tool_calls`), where the row says so.
    pub fn finish_reason(&self) -> Option<&str> {
        self.data.finish_reason.as_deref()
    }

    /// Whether the prompt, or where there is none the completion with all before it, is as a model reads
    /// it, special tokens included.
    pub fn is_rendered(&self) -> bool {
        self.data.is_rendered
    }

    /// The prompt, where its caller rendered it. `None` too where the completion holds it.
    pub fn rendered_prompt(&self) -> Option<&str> {
        match &self.data.prompt {
            Content::Text(prompt) if self.data.is_rendered && !prompt.is_empty() => Some(prompt),
            _ => None,
        }
    }

    /// The reference as it came. `None` where the row has none, or null.
    pub fn reference(&self) -> Option<&Value> {
        self.data.reference.as_ref()
    }

    /// The reference as text: a string as it is, a number in canonical form, anything else as
    /// JSON.
    pub fn reference_text(&self) -> Option<Cow<'_, str>> {
        self.data.reference.as_ref().map(value_text)
    }

    /// Every acceptable reference as text: the members of a list, or the single reference.
    pub fn references(&self) -> Vec<Cow<'_, str>> {
        match &self.data.reference {
            Some(Value::Array(values)) => values.iter().map(value_text).collect(),
            Some(value) => vec![value_text(value)],
            None => Vec::new(),
        }
    }

    /// Every acceptable answer: as [`Self::references`], and the entries of a list of texts that is
    /// itself written as text (`"['70']"`), before that text.
    ///
    /// ```
    /// use assay_verifiers::Sample;
    ///
    /// let sample = Sample::builder("").reference(r"['70', '\\frac{1}{2}']").build();
    /// assert_eq!(sample.answers()[..2], ["70", r"\frac{1}{2}"]);
    /// ```
    pub fn answers(&self) -> Vec<Cow<'_, str>> {
        let values = match &self.data.reference {
            Some(Value::Array(values)) => values.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        let mut answers = Vec::with_capacity(values.len());
        for value in values {
            // A list within a list is not a text.
            let entries = value.as_str().and_then(listed);
            answers.extend(entries.into_iter().flatten().map(Cow::Owned));
            answers.push(value_text(value));
        }
        answers
    }

    /// The id of the prompt that this sample shares with others, where the row has one.
    pub fn group(&self) -> Option<&str> {
        self.data.group.as_deref()
    }

    /// The remaining columns of the row.
    pub fn meta(&self) -> &Map<String, Value> {
        &self.data.meta
    }

    /// The column of metadata that a setting names: the one of this very name, else what the dotted path
    /// leads to, with or without a leading `meta.`.
    ///
    /// ```
    /// use assay_verifiers::Sample;
    /// use serde_json::json;
    ///
    /// let meta = [("choices".to_owned(), json!({"text": ["red", "blue"]}))].into_iter().collect();
    /// let sample = Sample::builder("B").meta(meta).build();
    /// assert_eq!(sample.column("choices.text.1"), Some(&json!("blue")));
    /// assert_eq!(sample.column("meta.choices.text.1"), Some(&json!("blue")));
    /// assert_eq!(sample.column("text"), None);
    /// ```
    pub fn column(&self, path: &str) -> Option<&Value> {
        let meta = self.meta();
        column_path::at(meta, path).or_else(|| column_path::at(meta, path.strip_prefix("meta.")?))
    }

    /// SHA-256 of the canonical form, without the id, on which a verdict must not depend. A turn
    /// other than the default is part of the digest.
    pub fn digest(&self) -> Digest {
        let digest = self.digests().0;
        match self.turn {
            Turn::LastAssistant => digest,
            turn => canonical::digest_parts(&[b"turn", &digest, format!("{turn:?}").as_bytes()]),
        }
    }

    fn digests(&self) -> &(Digest, String) {
        self.data.digest.get_or_init(|| {
            let digest: Digest = Sha256::digest(self.canonical()).into();
            (digest, canonical::hex(&digest))
        })
    }

    /// The canonical bytes: an object with sorted keys, written without a copy of the texts.
    pub fn canonical(&self) -> Vec<u8> {
        let data = &*self.data;
        let mut out = Vec::with_capacity(256 + self.completion().len() + self.prompt().len());
        out.extend_from_slice(b"{\"completion\":");
        data.completion.write_canonical(&mut out);
        if let Some(reason) = &data.finish_reason {
            out.extend_from_slice(b",\"finish_reason\":");
            canonical::write_text(&mut out, reason);
        }
        if let Some(group) = &data.group {
            out.extend_from_slice(b",\"group\":");
            canonical::write_text(&mut out, group);
        }
        if let Some(logprobs) = &data.logprobs {
            out.extend_from_slice(b",\"logprobs\":");
            canonical::write(&mut out, &Value::from(logprobs.as_slice()));
        }
        out.extend_from_slice(b",\"meta\":");
        canonical::write_members(&mut out, data.meta.iter());
        out.extend_from_slice(b",\"prompt\":");
        data.prompt.write_canonical(&mut out);
        if let Some(reference) = &data.reference {
            out.extend_from_slice(b",\"reference\":");
            canonical::write(&mut out, reference);
        }
        if data.is_rendered {
            out.extend_from_slice(b",\"rendered\":true");
        }
        if let Some(ids) = &data.token_ids {
            out.extend_from_slice(b",\"token_ids\":");
            canonical::write(&mut out, &Value::from(ids.as_slice()));
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

/// The object with members that a text holds as JSON; `{1, 2}` is a set.
pub(crate) fn object_in(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_enclosed = text.starts_with('{') && text.ends_with('}');
    let object: Value = is_enclosed.then(|| serde_json::from_str(text).ok())??;
    object.as_object().is_some_and(|members| !members.is_empty()).then_some(object)
}

/// Sets the fields of a sample beside its completion.
#[derive(Clone, Debug)]
#[must_use]
pub struct SampleBuilder {
    data: Data,
}

impl SampleBuilder {
    /// The id under which the sample is reported.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.data.id = Some(id.into());
        self
    }

    /// What the completion answers.
    pub fn prompt(mut self, prompt: impl Into<Content>) -> Self {
        self.data.prompt = prompt.into();
        self
    }

    /// The reference. A null is not a reference.
    pub fn reference(mut self, reference: impl Into<Value>) -> Self {
        self.data.reference = Some(reference.into()).filter(|value| !value.is_null());
        self
    }

    /// The id of the prompt that the sample shares with others.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.data.group = Some(group.into());
        self
    }

    /// The remaining columns of the row.
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.data.meta = meta;
        self
    }

    /// The token ids of the completion.
    pub fn token_ids(mut self, ids: impl Into<Vec<u32>>) -> Self {
        self.data.token_ids = Some(ids.into());
        self
    }

    /// The log-probability of each token of the completion.
    pub fn logprobs(mut self, logprobs: impl Into<Vec<f64>>) -> Self {
        self.data.logprobs = Some(logprobs.into());
        self
    }

    /// Why the completion ended: `stop`, `length`, `tool_calls`.
    pub fn finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.data.finish_reason = Some(reason.into());
        self
    }

    /// The prompt is as its caller rendered it, and a completion without a prompt is the whole text that a
    /// model reads: special tokens in it count. For callers that are trusted alone; no row of data says so of
    /// itself.
    pub fn rendered(mut self) -> Self {
        self.data.is_rendered = true;
        self
    }

    /// The finished sample.
    pub fn build(self) -> Sample {
        Sample { data: Arc::new(self.data), turn: Turn::default() }
    }
}
