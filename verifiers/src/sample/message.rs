//! One message of a conversation, in the shape that chat completion APIs and chat templates use.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::canonical;

/// One message of a conversation. Members without a field of their own are kept in
/// [`Message::other`], so that two different trajectories stay different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The content of the message.
    pub content: MessageContent,
    /// The calls of tools that the message makes.
    pub tool_calls: Vec<ToolCall>,
    /// The call that the message answers.
    pub tool_call_id: Option<String>,
    /// Who speaks, or the tool that answers.
    pub name: Option<String>,
    /// The reasoning of the model, where the API gives it apart.
    pub reasoning_content: Option<String>,
    /// Every other member, as it came.
    pub other: Map<String, Value>,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageContent {
    /// Plain text.
    Text(String),
    /// Parts of which at least one is more than text, such as an image.
    Parts {
        /// The parts as they came.
        parts: Vec<Value>,
        /// The text of those that are text, joined.
        text: String,
    },
    /// An item of the Responses API that is not a message, such as `function_call`: its members are
    /// [`Message::other`], and its text is their canonical JSON.
    Item(String),
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The id by which the answer names the call.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments, as they came: an object, or text that holds JSON.
    pub arguments: Value,
    /// Every other member, as it came.
    pub other: Map<String, Value>,
}

impl MessageContent {
    /// The text, without the parts that are not text.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Item(text) | Self::Parts { text, .. } => text,
        }
    }

    /// The types of the parts that are not text, in their order.
    pub fn unread(&self) -> impl Iterator<Item = &str> {
        let parts = match self {
            Self::Parts { parts, .. } => parts.as_slice(),
            Self::Text(_) | Self::Item(_) => &[],
        };
        parts.iter().filter(|part| part_text(part).is_none()).map(part_type)
    }
}

impl Default for MessageContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for MessageContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for MessageContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Message {
    /// A message that is text alone.
    pub fn new(role: impl Into<String>, content: impl Into<MessageContent>) -> Self {
        Self { role: role.into(), content: content.into(), ..Self::default() }
    }

    /// The text of the message, without the parts that are not text.
    pub fn text(&self) -> &str {
        self.content.text()
    }

    /// Reads a message from JSON.
    ///
    /// # Errors
    /// What is wrong with it: a value that is not an object, no role, or content of another type.
    pub fn from_value(value: Value) -> Result<Self, String> {
        let Value::Object(mut members) = value else {
            return Err(format!("expected {{role, content}}, found {}", canonical::kind(&value)));
        };
        let role = match members.remove("role") {
            Some(Value::String(role)) => role,
            Some(other) => {
                return Err(format!("role: expected text, found {}", canonical::kind(&other)));
            }
            None => return item(members),
        };
        let content = match members.remove("content") {
            None | Some(Value::Null) => MessageContent::default(),
            Some(Value::String(text)) => MessageContent::Text(text),
            Some(Value::Array(parts)) => content_of(parts)?,
            Some(other) => {
                let found = canonical::kind(&other);
                return Err(format!("content: expected text or parts, found {found}"));
            }
        };
        let tool_calls = take_tool_calls(&mut members);
        Ok(Self {
            role,
            content,
            tool_calls,
            tool_call_id: take_text(&mut members, "tool_call_id"),
            name: take_text(&mut members, "name"),
            reasoning_content: take_text(&mut members, "reasoning_content"),
            other: without_nulls(members),
        })
    }

    /// The message as JSON. Members that it does not have are left out.
    pub fn to_value(&self) -> Value {
        let mut members = self.other.clone();
        let content = match &self.content {
            MessageContent::Item(_) => return Value::Object(members),
            MessageContent::Text(text) => Value::from(text.as_str()),
            MessageContent::Parts { parts, .. } => Value::Array(parts.clone()),
        };
        members.insert("role".to_owned(), Value::from(self.role.as_str()));
        members.insert("content".to_owned(), content);
        if !self.tool_calls.is_empty() {
            let calls = self.tool_calls.iter().map(ToolCall::to_value).collect();
            members.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        let named = [
            ("tool_call_id", &self.tool_call_id),
            ("name", &self.name),
            ("reasoning_content", &self.reasoning_content),
        ];
        for (name, text) in named {
            if let Some(text) = text {
                members.insert(name.to_owned(), Value::from(text.as_str()));
            }
        }
        Value::Object(members)
    }
}

impl ToolCall {
    /// Reads a call: `{id, type, function: {name, arguments}}`, or `{id, name, arguments}`.
    /// `None` where it is neither.
    fn from_value(value: &Value) -> Option<Self> {
        let mut other = value.as_object()?.clone();
        let nested = match other.get("function") {
            Some(Value::Object(function)) => Some(function.clone()),
            _ => None,
        };
        let is_nested = nested.is_some();
        let mut function = nested.unwrap_or_else(|| other.clone());
        let Some(Value::String(name)) = function.remove("name") else { return None };
        let arguments = function.remove("arguments").unwrap_or_default();
        if is_nested {
            if function.is_empty() {
                other.remove("function");
            } else {
                other.insert("function".to_owned(), Value::Object(function));
            }
        } else {
            other = function;
        }
        let id = take_text(&mut other, "id");
        if other.get("type").and_then(Value::as_str) == Some("function") {
            other.remove("type");
        }
        Some(Self { id, name, arguments, other: without_nulls(other) })
    }

    /// The call as JSON, in the nested form.
    pub fn to_value(&self) -> Value {
        let mut members = self.other.clone();
        let mut function = match members.remove("function") {
            Some(Value::Object(function)) => function,
            _ => Map::new(),
        };
        function.insert("name".to_owned(), Value::from(self.name.as_str()));
        function.insert("arguments".to_owned(), self.arguments.clone());
        members.insert("function".to_owned(), Value::Object(function));
        members.entry("type").or_insert_with(|| Value::from("function"));
        if let Some(id) = &self.id {
            members.insert("id".to_owned(), Value::from(id.as_str()));
        }
        Value::Object(members)
    }
}

/// Calls in a form that is not known stay where they are, among the other members.
fn take_tool_calls(members: &mut Map<String, Value>) -> Vec<ToolCall> {
    let read = match members.get("tool_calls") {
        Some(Value::Array(calls)) => calls.iter().map(ToolCall::from_value).collect(),
        _ => None,
    };
    if read.is_some() {
        members.remove("tool_calls");
    }
    read.unwrap_or_default()
}

fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.get(name) {
        Some(Value::String(_)) => match members.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn without_nulls(mut members: Map<String, Value>) -> Map<String, Value> {
    members.retain(|_, value| !value.is_null());
    members
}

/// An item of an agent that is not a message (a call of a tool, its output): its type is the role,
/// and its text is the whole item as JSON.
fn item(members: Map<String, Value>) -> Result<Message, String> {
    match members.get("type") {
        Some(Value::String(word)) if word != "message" => {
            let role = word.clone();
            let other = without_nulls(members);
            let text = canonical::to_bytes(&Value::Object(other.clone()));
            let text = String::from_utf8_lossy(&text).into_owned();
            Ok(Message { role, content: MessageContent::Item(text), other, ..Message::default() })
        }
        _ => Err("no role".to_owned()),
    }
}

/// Parts that are all plain text are one text.
fn content_of(parts: Vec<Value>) -> Result<MessageContent, String> {
    for part in &parts {
        let Value::Object(members) = part else {
            let found = canonical::kind(part);
            return Err(format!("content: expected {{type, text}}, found {found}"));
        };
        if !members.get("type").is_some_and(Value::is_string) {
            return Err("content: a part without a type".to_owned());
        }
    }
    let text: String = parts.iter().filter_map(part_text).collect();
    let plain = |part: &Value| {
        let members = part.as_object().map_or(0, Map::len);
        part_text(part).is_some() && members == 2
    };
    Ok(if parts.iter().all(plain) {
        MessageContent::Text(text)
    } else {
        MessageContent::Parts { parts, text }
    })
}

fn part_text(part: &Value) -> Option<&str> {
    ["text", "input_text", "output_text"]
        .contains(&part_type(part))
        .then(|| part.get("text")?.as_str())?
}

fn part_type(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.role, self.text())
    }
}
