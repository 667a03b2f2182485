//! The settings of a judge.

use serde_json::Map;

use assay_verifiers::prelude::*;

/// A judge: exactly one of `url`, `folder` and `column` says where its replies come from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeConfig {
    /// The base URL of a server with the API of `OpenAI`, such as `http://localhost:8000/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The folder of a model that runs on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The column of the rows in which the replies stand; dots lead into objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The name of the model, as the server knows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The most requests in flight. Judges on one server share them, and the least number counts.
    #[default(64)]
    pub in_flight_max: usize,
    /// The deadline of a question, with all its tries, in milliseconds.
    #[default(20_000)]
    pub timeout_ms: u64,
    /// The most tries after the first.
    #[default(2)]
    pub retries: u32,
    /// Which API is spoken.
    pub api: JudgeApi,
    /// How the server is asked for the form of the reply.
    pub structured: Structured,
    /// The temperature; 0 takes the likeliest token.
    pub temperature: f64,
    /// The seed that the server is asked to use.
    pub seed: u64,
    /// The most tokens of a reply.
    #[default(1024)]
    pub tokens_max: u32,
    /// The member of the request that holds `tokens_max`.
    pub tokens_member: TokensMember,
    /// How many of the likeliest tokens are asked for at each place; 0 asks for none.
    pub top_logprobs: u32,
    /// Further members of the request; one that we set ourselves is replaced.
    pub extra: Map<String, Value>,
    /// Members of the request that are not sent, such as `temperature`, for servers that refuse
    /// them.
    pub omit: Vec<String>,
    /// A file of certificates (PEM) that are trusted beside those of the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// How the model of `folder` runs.
    pub run: Map<String, Value>,
    /// The most questions that are sent in a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_calls: Option<u64>,
    /// The tokens after which no further question is sent in a run. Those in flight end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
}

/// What a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeApi {
    /// `POST /chat/completions`.
    #[default]
    Chat,
    /// `POST /responses`.
    Responses,
    /// Our own, for `external_checker`: the sample is posted to `url` itself, as JSON, and the answer is JSON.
    Checker,
}

/// How a server is asked for the form of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// By the JSON Schema; from then on as `json_object_schema` where the server refuses that, and by
    /// nothing where it refuses that too.
    #[default]
    Auto,
    /// By the JSON Schema, strictly.
    JsonSchema,
    /// As a JSON object, with the JSON Schema beside it, as llama-cpp-python takes it.
    JsonObjectSchema,
    /// As any JSON object.
    JsonObject,
    /// By nothing but the words of the prompt.
    Text,
}

/// The member of a chat request that holds the most tokens of the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokensMember {
    /// `max_tokens`, which most servers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer models of `OpenAI` ask for.
    MaxCompletionTokens,
}

/// What is wrong with the base URL of a server.
fn flaw_in_url(url: &str, is_checker: bool) -> Option<String> {
    if url.contains("${") || url.starts_with('$') {
        let why = "a value is not read from the environment in the file: write the URL, or set it by \
                   --set or a variable such as ASSAY_JUDGES__NAME__URL";
        return Some(why.to_owned());
    }
    if !["http://", "https://"].iter().any(|scheme| url.to_ascii_lowercase().starts_with(scheme)) {
        let host = url.split_once("://").map_or(url, |(_, host)| host);
        return Some(format!("expected a URL whose scheme is http or https, as in http://{host}"));
    }
    if is_checker {
        return None;
    }
    let end = ["/chat/completions", "/completions", "/responses"]
        .into_iter()
        .find_map(|end| url.trim_end_matches('/').strip_suffix(end));
    end.map(|base| format!("the path of the API is added to it: write url = \"{base}\""))
}

/// Whether a text is rather a key than the name of a variable.
fn is_key(text: &str) -> bool {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.starts_with("sk-") || !text.chars().all(is_name) || text.len() > 64
}

/// Members of a request that are ours to set.
const RESERVED: [&str; 5] = ["input", "messages", "model", "n", "stream"];

/// The most of the likeliest tokens that servers give.
const TOP_LOGPROBS_MAX: u32 = 20;

impl JudgeConfig {
    /// Checks what the types do not say. The messages name a setting, not the judge.
    ///
    /// # Errors
    /// The setting at fault.
    pub fn check(&self) -> Result<(), BuildError> {
        let given = [&self.url, &self.folder, &self.column].into_iter().flatten().count();
        let wrong = |setting: &str, why: &str| Err(BuildError::new(setting, why));
        if given != 1 {
            let why = "exactly one of `url`, `folder` and `column` is expected: write url = \
                       \"http://localhost:8000/v1\" for a server, folder for a model of this machine, or \
                       column for recorded replies";
            return wrong("", why);
        }
        let is_checker = self.api == JudgeApi::Checker;
        if self.url.is_some() && self.model.is_empty() && !is_checker {
            let why = "a judge with a `url` has a `model`: write model = \"NAME\", as the server knows it";
            return wrong("model", why);
        }
        if let Some(why) = self.url.as_deref().and_then(|url| flaw_in_url(url, is_checker)) {
            return wrong("url", &why);
        }
        if self.key_env.as_deref().is_some_and(is_key) {
            // Pointing at the key would print it.
            let why = "`key_env` holds a key, and not the name of a variable: put the key into an \
                       environment variable, and write its name, as in key_env = \"OPENAI_API_KEY\"";
            return wrong("", why);
        }
        if self.in_flight_max == 0 {
            return wrong("in_flight_max", "expected at least 1");
        }
        if self.timeout_ms == 0 {
            return wrong("timeout_ms", "expected at least 1");
        }
        if self.tokens_max == 0 {
            return wrong("tokens_max", "expected at least 1");
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return wrong("temperature", "expected 0 to 2");
        }
        if self.top_logprobs > TOP_LOGPROBS_MAX {
            return wrong("top_logprobs", "expected 0 to 20");
        }
        match RESERVED.iter().find(|name| self.extra.contains_key(**name)) {
            Some(name) => Err(BuildError::new(
                format!("extra.{name}"),
                format!("`{name}` is set for each request and cannot be replaced"),
            )),
            None => Ok(()),
        }
    }
}
