//! What decides the requests of a judge beside the questions.

use serde_json::{Map, Value, json};

use super::super::config::{JudgeApi, JudgeConfig, Structured, TokensMember};

/// What decides the requests of a judge beside the questions.
#[derive(Clone, Debug, Default)]
pub struct OpenAiSettings {
    /// The API.
    pub api: JudgeApi,
    /// The name of the model.
    pub model: String,
    /// How the form of the reply is asked for.
    pub structured: Structured,
    /// The member that holds the most tokens of the reply.
    pub tokens_member: TokensMember,
    /// Further members of each request.
    pub extra: Map<String, Value>,
    /// Members that are not sent.
    pub omit: Vec<String>,
}

impl OpenAiSettings {
    /// Those of a configuration.
    pub fn of(config: &JudgeConfig) -> Self {
        Self {
            api: config.api,
            model: config.model.clone(),
            structured: config.structured,
            tokens_member: config.tokens_member,
            extra: config.extra.clone(),
            omit: config.omit.clone(),
        }
    }

    /// What decides a reply beside the request. Neither the URL nor the key do.
    pub fn identity(&self) -> Value {
        json!({"kind": "openai", "api": self.api, "model": self.model, "extra": self.extra})
    }
}
