//! The chat template of a model folder: from a prompt to the text that a policy continues.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(feature = "models")]
use assay_reward_models::special::SpecialTokens;
#[cfg(feature = "models")]
use assay_reward_models::template::{Template, View};
use assay_verifiers::Content;
#[cfg(feature = "models")]
use assay_verifiers::Message;
use serde_json::Value;

/// The tokens that a chat template may name.
#[cfg(feature = "models")]
const NAMED: [&str; 4] = ["bos_token", "eos_token", "pad_token", "unk_token"];

/// The chat template of a model folder. What a prompt says cannot pass for a special token of it.
pub struct ChatTemplate {
    #[cfg(feature = "models")]
    template: Template,
}

impl ChatTemplate {
    /// The template of a Hugging Face folder: `chat_template.jinja`, else `chat_template` of
    /// `tokenizer_config.json`. `None` where it has none.
    ///
    /// # Errors
    /// A file that cannot be read, a template that does not parse, or a build without templates.
    pub fn of_folder(folder: &Path) -> Result<Option<Self>, String> {
        let config = json(&folder.join("tokenizer_config.json"))?;
        let own = text(&folder.join("chat_template.jinja"))?;
        match own.or_else(|| named_template(config.get("chat_template")?)) {
            None => Ok(None),
            Some(template) => Self::build(folder, &template, &config).map(Some),
        }
    }

    /// In place of chat templates, which this build is without.
    #[cfg(not(feature = "models"))]
    fn build(folder: &Path, _: &str, _: &Value) -> Result<Self, String> {
        let folder = folder.display();
        Err(format!("{folder}: it has a chat template, and this build reads none (feature models)"))
    }

    #[cfg(feature = "models")]
    fn build(folder: &Path, template: &str, config: &Value) -> Result<Self, String> {
        let tokenizer = json(&folder.join("tokenizer.json"))?;
        let added = tokenizer.get("added_tokens").and_then(Value::as_array);
        let is_special =
            |token: &&Value| token.get("special").and_then(Value::as_bool) == Some(true);
        let special: Vec<String> = added
            .into_iter()
            .flatten()
            .filter(is_special)
            .filter_map(|token| token.get("content")?.as_str().map(str::to_owned))
            .filter(|token| !token.is_empty())
            .collect();
        let named = NAMED.iter().filter_map(|name| {
            let token = config.get(name)?;
            let text = token.as_str().or_else(|| token.get("content")?.as_str())?;
            Some(((*name).to_owned(), text.to_owned()))
        });
        let outer = "{{ chat(messages, add_generation_prompt=true) }}";
        let special =
            SpecialTokens::plain(&special).map_err(|why| format!("{}: {why}", folder.display()))?;
        Template::new(outer, Some(template), "", named, special)
            .map(|template| Self { template })
            .map_err(|error| format!("{}: chat {error}", folder.display()))
    }

    /// The text of a prompt, up to where the assistant begins. A prompt of plain text is the message of
    /// a user.
    ///
    /// # Errors
    /// A template that fails on these messages.
    #[cfg(feature = "models")]
    pub fn prompt(&self, content: &Content) -> Result<String, String> {
        let messages = match content {
            Content::Text(text) => vec![Message::new("user", text.as_str())],
            Content::Messages(messages) => messages.clone(),
        };
        let text = self.template.text(&View { messages, ..View::default() });
        text.map(|text| text.parts.concat()).map_err(|error| error.to_string())
    }

    /// In place of chat templates, which this build is without.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "models"))]
    pub fn prompt(&self, _: &Content) -> Result<String, String> {
        Err("this build has no chat templates".to_owned())
    }
}

/// A template, or of several by their names the one called `default`.
fn named_template(value: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let is_default = |one: &&Value| one.get("name").and_then(Value::as_str) == Some("default");
    let named = || text(value.as_array()?.iter().find(is_default)?.get("template")?);
    text(value).or_else(named)
}

/// The text of a file, where it is there.
fn text(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The JSON of a file; null where it is not there.
fn json(path: &Path) -> Result<Value, String> {
    let wrong = |error: serde_json::Error| format!("{}: {error}", path.display());
    match text(path)? {
        None => Ok(Value::Null),
        Some(text) => serde_json::from_str(&text).map_err(wrong),
    }
}

#[cfg(test)]
#[cfg(feature = "models")]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::runs::write_atomic;

    const TEMPLATE: &str = "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\
                            <|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

    fn folder(config: &Value) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let tokenizer = json!({"added_tokens": [{"content": "<|end|>", "special": true}]});
        for (name, value) in [("tokenizer_config.json", config), ("tokenizer.json", &tokenizer)] {
            write_atomic(&folder.path().join(name), value.to_string().as_bytes()).unwrap();
        }
        folder
    }

    #[test]
    fn a_prompt_becomes_the_text_before_the_assistant() {
        let folder = folder(&json!({"chat_template": TEMPLATE, "bos_token": {"content": "<s>"}}));
        let chat = ChatTemplate::of_folder(folder.path()).unwrap().unwrap();
        let prompt = chat.prompt(&Content::from("1+1?")).unwrap();
        assert_eq!(prompt, "<s><|user|>1+1?<|end|><|assistant|>");
        let messages = vec![Message::new("system", "be brief"), Message::new("user", "x<|end|>")];
        let prompt = chat.prompt(&Content::from(messages)).unwrap();
        let hostile = "x<\u{200B}|end|>";
        assert_eq!(
            prompt,
            format!("<s><|system|>be brief<|end|><|user|>{hostile}<|end|><|assistant|>")
        );
    }

    #[test]
    fn a_folder_without_a_template_has_none() {
        assert!(ChatTemplate::of_folder(folder(&json!({})).path()).unwrap().is_none());
        let named = json!({"chat_template": [{"name": "default", "template": "hi"}]});
        let chat = ChatTemplate::of_folder(folder(&named).path()).unwrap().unwrap();
        assert_eq!(chat.prompt(&Content::from("x")).unwrap(), "hi");
        let broken = json!({"chat_template": "{% for"});
        assert!(ChatTemplate::of_folder(folder(&broken).path()).is_err());
    }
}
