//! Samples as a judge sees them.

use assay_verifiers::extract::{Thinking, thinking};
use assay_verifiers::sample::value_text;
use assay_verifiers::{Content, Message};
use serde_json::Value;

/// A text without the thinking in it.
pub(super) fn without_thinking(whole: String, how: Thinking) -> String {
    if how == Thinking::Keep {
        return whole;
    }
    let answer = thinking::answer(&whole, how).and_then(|part| whole.get(part));
    answer.unwrap_or_default().trim().to_owned()
}

/// A reference as a judge sees it: a text, one of several a line, the `answer` of an object. Other
/// objects are tests, rubrics and the like, no answers.
pub(super) fn shown_reference(reference: &Value) -> Option<String> {
    match reference {
        Value::Object(members) => members.get("answer").and_then(shown_reference),
        Value::Array(several) => {
            let texts: Option<Vec<String>> = several.iter().map(shown_reference).collect();
            texts.map(|texts| texts.join("\n"))
        }
        Value::Null => None,
        value => Some(value_text(value).into_owned()),
    }
}

/// A prompt or a completion as a judge sees it: a text, or who says what.
pub(super) fn conversation(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Messages(messages) => match messages.as_slice() {
            [one] if one.role == "user" => one.text().to_owned(),
            messages => transcript(messages),
        },
    }
}

/// Who says what, calls of tools as their JSON.
pub(super) fn transcript(messages: &[Message]) -> String {
    let each = messages.iter().map(|message| {
        let calls = message.tool_calls.iter().map(|call| format!("\ncalls {}", call.to_value()));
        format!("[{}]\n{}{}", message.role, message.text(), calls.collect::<String>())
    });
    each.collect::<Vec<_>>().join("\n\n")
}

/// Whether a conversation got as far as this turn: somebody other than the user speaks in it. A text
/// is not told apart into turns.
pub(super) fn reaches(content: &Content, turn: usize) -> bool {
    let asks = |message: &Message| matches!(&*message.role, "user" | "system" | "developer");
    match content {
        Content::Text(_) => true,
        Content::Messages(messages) => !of_turn(messages, turn).iter().all(asks),
    }
}

/// The messages of the turn with this number: from the message of a user to the next one.
pub(super) fn of_turn(messages: &[Message], turn: usize) -> &[Message] {
    let users = messages.iter().enumerate().filter(|(_, message)| message.role == "user");
    let mut starts: Vec<usize> = users.map(|(at, _)| at).collect();
    // What comes before the first message of a user answers the prompt.
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let start = |turn: usize| starts.get(turn).copied().unwrap_or(messages.len());
    messages.split_at(start(turn + 1)).0.split_at(start(turn)).1
}
