//! The body of a request.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Value, json};

use super::super::config::{JudgeApi, Structured, TokensMember};
use super::super::{ChatMessage, JudgeRequest};
use super::settings::OpenAiSettings;

/// A request as it is written: our members, less those of `omit`, then those of `extra`.
pub(super) struct RequestBody<'a> {
    pub(super) settings: &'a OpenAiSettings,
    pub(super) request: &'a JudgeRequest,
    pub(super) structured: Structured,
}

/// A member of the body. The conversation is written where it lies.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Member<'a> {
    Messages(&'a [ChatMessage]),
    Value(Value),
}

impl Serialize for RequestBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OpenAiSettings { extra, omit, .. } = self.settings;
        let mut map = serializer.serialize_map(None)?;
        for (name, member) in self.members() {
            if !extra.contains_key(name) && !omit.iter().any(|omitted| omitted == name) {
                map.serialize_entry(name, &member)?;
            }
        }
        for (name, value) in extra.iter().filter(|(_, value)| !value.is_null()) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'a> RequestBody<'a> {
    fn members(&self) -> Vec<(&'static str, Member<'a>)> {
        let sampling = &self.request.sampling;
        let messages = Member::Messages(&self.request.messages);
        let mut members = vec![
            ("model", Member::Value(json!(self.settings.model))),
            ("temperature", Member::Value(json!(sampling.temperature))),
        ];
        let mut add = |name, value| members.push((name, Member::Value(value)));
        match self.settings.api {
            JudgeApi::Chat => {
                add("seed", json!(sampling.seed));
                add(self.tokens_member(), json!(sampling.tokens_max));
                if sampling.top_logprobs > 0 {
                    add("logprobs", json!(true));
                    add("top_logprobs", json!(sampling.top_logprobs));
                }
                if let Some(format) = self.format() {
                    add("response_format", format);
                }
                members.push(("messages", messages));
            }
            JudgeApi::Checker => members.push(("messages", messages)),
            JudgeApi::Responses => {
                add("max_output_tokens", json!(sampling.tokens_max));
                add("store", json!(false));
                if sampling.top_logprobs > 0 {
                    add("include", json!(["message.output_text.logprobs"]));
                    add("top_logprobs", json!(sampling.top_logprobs));
                }
                if let Some(format) = self.format() {
                    add("text", json!({ "format": format }));
                }
                members.push(("input", messages));
            }
        }
        members
    }

    fn tokens_member(&self) -> &'static str {
        match self.settings.tokens_member {
            TokensMember::MaxTokens => "max_tokens",
            TokensMember::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// The form of the reply; none where the request has no schema.
    fn form(&self) -> Structured {
        match self.request.schema {
            Value::Object(_) => self.structured,
            _ => Structured::Text,
        }
    }

    /// How the form is asked for. The two APIs differ in where they take the schema.
    fn format(&self) -> Option<Value> {
        let schema = &self.request.schema;
        match (self.form(), self.settings.api) {
            (Structured::Text, _) | (_, JudgeApi::Checker) => None,
            (Structured::JsonObject, _) => Some(json!({"type": "json_object"})),
            (Structured::JsonObjectSchema, _) => {
                Some(json!({"type": "json_object", "schema": schema}))
            }
            (Structured::Auto | Structured::JsonSchema, JudgeApi::Chat) => Some(json!({
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": true, "schema": schema},
            })),
            (Structured::Auto | Structured::JsonSchema, JudgeApi::Responses) => Some(json!({
                "type": "json_schema", "name": "reply", "strict": true, "schema": schema,
            })),
        }
    }
}
