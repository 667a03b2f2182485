//! Items of the Responses API as the messages of a conversation, which is what verifiers read.

use serde_json::{Map, Value, json};

/// The messages. Reasoning, the text after it and the calls of functions after that are one message
/// of the assistant; an item of a kind that is not known stays as it is.
pub(crate) fn messages(items: Vec<Map<String, Value>>) -> Vec<Value> {
    let mut conversation = Conversation::default();
    for item in items {
        conversation.push(item);
    }
    conversation.close();
    conversation.messages
}

/// Messages, and the one of the assistant that is still being put together.
#[derive(Default)]
struct Conversation {
    messages: Vec<Value>,
    open: Option<Map<String, Value>>,
}

impl Conversation {
    fn push(&mut self, mut item: Map<String, Value>) {
        let is_message = item.contains_key("role");
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind.as_str() {
            "message" | "" if is_message => self.message(item),
            "reasoning" => self.reasoning(&item),
            "function_call" => {
                let mut take = |name: &str| item.remove(name).unwrap_or_default();
                let call = json!({
                    "id": take("call_id"),
                    "type": "function",
                    "function": { "name": take("name"), "arguments": take("arguments") },
                });
                let calls = self.open().entry("tool_calls").or_insert_with(|| json!([]));
                if let Value::Array(calls) = calls {
                    calls.push(call);
                }
            }
            "function_call_output" => {
                self.close();
                let call = item.remove("call_id").unwrap_or_default();
                let content = content(item.remove("output").unwrap_or_default());
                let answer = json!({ "role": "tool", "tool_call_id": call, "content": content });
                self.messages.push(answer);
            }
            _ => {
                self.close();
                self.messages.push(Value::Object(item));
            }
        }
    }

    fn message(&mut self, item: Map<String, Value>) {
        let is_own = item.get("role").is_some_and(|role| role == "assistant");
        if !is_own || self.has("content") || self.has("tool_calls") {
            self.close();
        }
        let mut message = if is_own { std::mem::take(self.open()) } else { Map::new() };
        for (name, value) in item {
            let value = if name == "content" { content(value) } else { value };
            if !["type", "id", "status"].contains(&name.as_str()) && !is_of_training(&name) {
                message.insert(name, value);
            }
        }
        if is_own {
            self.open = Some(message);
        } else {
            self.messages.push(Value::Object(message));
        }
    }

    /// What the model thinks before it speaks, where that is told: the text itself, else its summary.
    fn reasoning(&mut self, item: &Map<String, Value>) {
        if self.has("content") || self.has("tool_calls") {
            self.close();
        }
        let texts = |name: &str| -> Vec<&str> {
            let parts = item.get(name).and_then(Value::as_array).into_iter().flatten();
            parts.filter_map(|part| part.get("text")?.as_str()).collect()
        };
        let own = texts("content");
        let told = if own.is_empty() { texts("summary") } else { own }.join("\n");
        let entry = self.open().entry("reasoning_content").or_insert_with(|| Value::from(""));
        if let Value::String(text) = entry {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&told);
        }
    }

    fn open(&mut self) -> &mut Map<String, Value> {
        self.open
            .get_or_insert_with(|| Map::from_iter([("role".to_owned(), Value::from("assistant"))]))
    }

    fn has(&self, name: &str) -> bool {
        self.open.as_ref().is_some_and(|open| open.contains_key(name))
    }

    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            open.entry("content").or_insert_with(|| Value::from(""));
            self.messages.push(Value::Object(open));
        }
    }
}

/// Whether a member holds tokens and their log-probabilities, which no message has.
fn is_of_training(name: &str) -> bool {
    name.ends_with("_token_ids") || name.ends_with("_log_probs")
}

/// Parts that are all text as one text.
fn content(value: Value) -> Value {
    let Value::Array(parts) = &value else { return value };
    let text = |part: &Value| {
        let kind = part.get("type")?.as_str()?;
        let is_text = ["text", "input_text", "output_text"].contains(&kind);
        is_text.then(|| part.get("text")?.as_str().map(str::to_owned))?
    };
    parts.iter().map(text).collect::<Option<String>>().map_or(value, Value::String)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(items: Value) -> Value {
        let items: Vec<Map<String, Value>> = serde_json::from_value(items).unwrap();
        Value::Array(messages(items))
    }

    #[test]
    fn what_the_assistant_does_at_once_is_one_message() {
        let items = json!([
            { "role": "user", "content": [{ "type": "input_text", "text": "hot?" }] },
            { "type": "reasoning", "id": "r", "summary": [{ "type": "summary_text", "text": "hm" }] },
            { "type": "message", "id": "m", "role": "assistant", "status": "completed",
              "generation_token_ids": [1, 2],
              "content": [{ "type": "output_text", "text": "one ", "annotations": [] },
                          { "type": "output_text", "text": "moment", "annotations": [] }] },
            { "type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c", "output": "sunny" },
            { "type": "message", "role": "assistant", "content": "yes" },
            { "type": "message", "role": "assistant", "content": "very" },
        ]);
        let call = json!({
            "id": "c", "type": "function", "function": { "name": "weather", "arguments": "{}" },
        });
        let expected = json!([
            { "role": "user", "content": "hot?" },
            { "role": "assistant", "reasoning_content": "hm", "content": "one moment", "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c", "content": "sunny" },
            { "role": "assistant", "content": "yes" },
            { "role": "assistant", "content": "very" },
        ]);
        assert_eq!(of(items), expected);
    }

    #[test]
    fn what_is_not_known_is_kept() {
        let odd = json!({ "type": "web_search_call", "id": "w" });
        let refusal = json!([{ "type": "refusal", "refusal": "no" }]);
        let items = json!([
            odd,
            { "type": "message", "role": "assistant", "content": refusal },
            { "type": "reasoning", "content": [{ "text": "but" }, { "text": "no" }], "summary": [] },
        ]);
        let expected = json!([
            odd,
            { "role": "assistant", "content": refusal },
            { "role": "assistant", "content": "", "reasoning_content": "but\nno" },
        ]);
        assert_eq!(of(items), expected);
        assert_eq!(of(json!([])), json!([]));
        // No role: the row is refused for it.
        assert_eq!(of(json!([{ "type": "message" }])), json!([{ "type": "message" }]));
    }
}
