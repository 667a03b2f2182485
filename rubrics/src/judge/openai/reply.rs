//! The answers of servers, in the shapes in which they come.

use assay_verifiers::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::super::{JudgeReply, ReplyToken};

/// The answer to `POST /chat/completions`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChatAnswer {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    #[serde(flatten)]
    errors: ErrorMembers,
}

/// The answer to `POST /responses`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponsesAnswer {
    output: Option<Vec<OutputItem>>,
    status: Option<String>,
    incomplete_details: Option<IncompleteDetails>,
    usage: Option<Value>,
    #[serde(flatten)]
    errors: ErrorMembers,
}

/// An error that comes with a good status.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorMembers {
    error: Option<Value>,
    object: Option<Value>,
    message: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Option<ChoiceMessage>,
    finish_reason: Option<String>,
    logprobs: Option<ChoiceLogprobs>,
}

/// What a model thought (`reasoning_content`) is not a part of its reply.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChoiceMessage {
    content: Option<Value>,
    refusal: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ChoiceLogprobs {
    content: Option<Vec<TokenLogprobs>>,
}

#[derive(Debug, Deserialize)]
struct TokenLogprobs {
    token: String,
    top_logprobs: Option<Vec<TopLogprob>>,
}

#[derive(Debug, Deserialize)]
struct TopLogprob {
    token: String,
    logprob: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct OutputItem {
    #[serde(default, rename = "type")]
    kind: String,
    content: Option<Vec<OutputPart>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    logprobs: Option<Vec<TokenLogprobs>>,
}

#[derive(Debug, Deserialize)]
struct IncompleteDetails {
    reason: Option<String>,
}

impl ChatAnswer {
    /// The reply, or what the answer lacks.
    pub(super) fn read(self) -> Result<JudgeReply, String> {
        self.errors.check()?;
        let Some(choice) = self.choices.into_iter().flatten().next() else {
            return Err("the answer has no choices".to_owned());
        };
        let Some(message) = choice.message else {
            return Err("the first choice of the answer has no message".to_owned());
        };
        let logprobs = choice.logprobs.and_then(|logprobs| logprobs.content);
        let reply = JudgeReply {
            text: message.content.as_ref().map(content_text).unwrap_or_default(),
            tokens: logprobs.into_iter().flatten().map(ReplyToken::from).collect(),
            yes: None,
            finish_reason: choice.finish_reason.unwrap_or_default(),
            usage: usage(self.usage.as_ref()),
        };
        let is_refusal = message.refusal.is_some_and(|refusal| !refusal.is_empty());
        Ok(if is_refusal { refused(reply.usage, "refusal") } else { filtered(reply) })
    }
}

impl ResponsesAnswer {
    /// The reply, or what the answer lacks.
    pub(super) fn read(self) -> Result<JudgeReply, String> {
        self.errors.check()?;
        let reason = self.incomplete_details.and_then(|details| details.reason);
        let finish_reason = match (self.status.as_deref(), reason) {
            (_, Some(reason)) if reason == "max_output_tokens" => "length".to_owned(),
            (_, Some(reason)) => reason,
            (Some("completed"), None) => "stop".to_owned(),
            (Some(status @ ("failed" | "cancelled" | "queued" | "in_progress")), None) => {
                return Err(format!("the status of the answer is \"{status}\""));
            }
            (status, None) => status.unwrap_or_default().to_owned(),
        };
        let usage = usage(self.usage.as_ref());
        let mut reply = JudgeReply { finish_reason, usage, ..JudgeReply::default() };
        let Some(items) = self.output else {
            return Err("the answer has no output".to_owned());
        };
        let messages = items.into_iter().filter(|item| item.kind == "message");
        for part in messages.flat_map(|item| item.content.unwrap_or_default()) {
            match part.kind.as_str() {
                "refusal" => return Ok(refused(reply.usage, "refusal")),
                "output_text" => {
                    reply.text.push_str(&part.text.unwrap_or_default());
                    let tokens = part.logprobs.into_iter().flatten();
                    reply.tokens.extend(tokens.map(ReplyToken::from));
                }
                _ => {}
            }
        }
        Ok(filtered(reply))
    }
}

impl ErrorMembers {
    fn check(&self) -> Result<(), String> {
        let is_error = self.object.as_ref().and_then(Value::as_str) == Some("error");
        let found = match (&self.error, &self.message) {
            (Some(Value::Object(members)), _) => members.get("message"),
            (Some(Value::String(_)), _) => self.error.as_ref(),
            (_, message) if is_error => message.as_ref(),
            _ => return Ok(()),
        };
        let words = found.and_then(Value::as_str).unwrap_or("an error without a message");
        Err(format!("the server answered with an error: {words}"))
    }
}

impl From<TokenLogprobs> for ReplyToken {
    fn from(token: TokenLogprobs) -> Self {
        let top = token.top_logprobs.into_iter().flatten();
        let top = top.filter_map(|one| Some((one.token, one.logprob?))).collect();
        Self { text: token.token, top }
    }
}

/// A text, or the texts of the parts of a list. Null is an empty text.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
            parts.iter().filter_map(text).collect()
        }
        _ => String::new(),
    }
}

/// What a filter has cut is not a reply.
fn filtered(reply: JudgeReply) -> JudgeReply {
    if reply.finish_reason == "content_filter" {
        refused(reply.usage, "content_filter")
    } else {
        reply
    }
}

fn refused(usage: Usage, reason: &str) -> JudgeReply {
    JudgeReply { finish_reason: reason.to_owned(), usage, ..JudgeReply::default() }
}

/// The tokens of an answer, of which servers say as much as they like. One call, however many tries
/// it took: verdicts do not depend on those.
fn usage(usage: Option<&Value>) -> Usage {
    let count = |name: &str| usage?.get(name)?.as_u64();
    let parts = ["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"];
    let sum = || parts.iter().filter_map(|name| count(name)).fold(0, u64::saturating_add);
    Usage { tokens: count("total_tokens").unwrap_or_else(sum), calls: 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHAT: &str = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"refusal":null},"finish_reason":"stop","logprobs":{"content":[{"token":"a","top_logprobs":[{"token":"a","logprob":-1e3}]}]}}],"usage":{"total_tokens":3},"error":null}"#;
    const RESPONSES: &str = r#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"a","logprobs":[]}]}],"usage":{"input_tokens":1,"output_tokens":2},"error":null}"#;

    /// `text` with one byte replaced by each of several.
    fn changed(text: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut changed = text.as_bytes().to_vec();
        let at = at % changed.len();
        changed.splice(at..=at, bytes.iter().copied());
        changed
    }

    proptest! {
        #[test]
        fn a_changed_answer_is_read_or_refused(
            at in 0_usize..1000,
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..3),
                prop::sample::select(vec!["null", "[]", "{}", "-1", "1e999", "\"\""])
                    .prop_map(|text| text.as_bytes().to_vec()),
            ],
        ) {
            let chat = serde_json::from_slice::<ChatAnswer>(&changed(CHAT, at, &bytes));
            let responses = serde_json::from_slice::<ResponsesAnswer>(&changed(RESPONSES, at, &bytes));
            let read = [chat.ok().map(ChatAnswer::read), responses.ok().map(ResponsesAnswer::read)];
            for reply in read.into_iter().flatten().flatten() {
                let top = reply.tokens.iter().flat_map(|token| &token.top);
                prop_assert!(top.into_iter().all(|(_, logprob)| logprob.is_finite()));
                prop_assert_eq!(reply.usage.calls, 1);
            }
        }
    }

    #[test]
    fn unchanged_answers_are_read() {
        let chat: ChatAnswer = serde_json::from_str(CHAT).unwrap();
        assert_eq!(chat.read().unwrap().usage.tokens, 3);
        let responses: ResponsesAnswer = serde_json::from_str(RESPONSES).unwrap();
        assert_eq!(responses.read().unwrap().finish_reason, "length");
    }
}
