//! The content of a prompt or a completion, and the message of it that is judged.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::message::Message;
use crate::canonical;

/// A prompt or a completion: plain text, or a list of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A conversation.
    Messages(Vec<Message>),
}

/// Which message of a conversation is judged. A completion of plain text is judged as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The last message of the assistant; of a conversation without one, the last message.
    #[default]
    LastAssistant,
    /// The first message of the assistant; of a conversation without one, the last message.
    FirstAssistant,
    /// The last message, of any role.
    Last,
    /// The message with this index, counted from 0.
    At(usize),
}

impl Content {
    /// Reads text, or a list of messages.
    ///
    /// # Errors
    /// What is wrong with it, and with which message.
    pub fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Array(values) => {
                let read = |(at, value)| {
                    let in_message = |why| format!("message {}: {why}", at + 1);
                    Message::from_value(value).map_err(in_message)
                };
                values
                    .into_iter()
                    .enumerate()
                    .map(read)
                    .collect::<Result<_, _>>()
                    .map(Self::Messages)
            }
            other => Err(format!("expected text or messages, found {}", canonical::kind(&other))),
        }
    }

    /// The text itself, or that of the message at the default [`Turn`].
    pub fn text(&self) -> &str {
        self.text_at(Turn::default())
    }

    /// The text itself, or that of the message at `turn`; empty without such a message.
    pub fn text_at(&self, turn: Turn) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Messages(_) => self.message(turn).map_or("", Message::text),
        }
    }

    /// The message at `turn`. `None` for plain text, and without such a message.
    pub fn message(&self, turn: Turn) -> Option<&Message> {
        self.messages()?.get(self.place(turn)?)
    }

    /// The place of that message, from 0 on.
    pub fn place(&self, turn: Turn) -> Option<usize> {
        let messages = self.messages()?;
        let own = |message: &Message| message.role == "assistant";
        let last = messages.len().checked_sub(1);
        match turn {
            Turn::LastAssistant => messages.iter().rposition(own).or(last),
            Turn::FirstAssistant => messages.iter().position(own).or(last),
            Turn::Last => last,
            Turn::At(at) => Some(at),
        }
    }

    /// The messages, where the content came as messages.
    pub fn messages(&self) -> Option<&[Message]> {
        match self {
            Self::Text(_) => None,
            Self::Messages(messages) => Some(messages),
        }
    }

    pub(super) fn write_canonical(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => canonical::write_text(out, text),
            Self::Messages(messages) => {
                let values = messages.iter().map(Message::to_value).collect();
                canonical::write(out, &Value::Array(values));
            }
        }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Messages(messages) => messages.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
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
