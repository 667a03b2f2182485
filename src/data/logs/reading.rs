//! How a column is read from a sample of a log.

use std::collections::BTreeMap;

use assay_verifiers::column_path::member;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::items;

/// Where a column may be, and in which form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reading {
    at: Vec<String>,
    #[serde(default)]
    read: Form,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    /// As it is.
    #[default]
    Value,
    /// A text.
    Text,
    /// The text of a list of one.
    Only,
    /// The values of all paths, with `#` between them; `=WORD` stands for itself.
    Joined,
    /// Items of the Responses API as messages, behind the instructions of the second path.
    Items,
    /// The messages up to the first answer. Answers in the second path, the input, are examples.
    BeforeAnswer,
    /// The messages from the first answer on.
    Answer,
    /// The messages of nodes with `parent`, up to the first that is `sampled`.
    BeforeSampled,
    /// The messages of nodes from the first that is `sampled` on.
    Sampled,
    /// A score: a number, or a word that the format gives as one.
    Score,
    /// Scores by name as verdicts: a number is the reward, what is beside a score is its evidence.
    Scores,
    /// The sum of scores by their weights.
    Weighted,
}

/// The value at a path: `*` is the first member, `@PATH` the member that the text at PATH names.
pub(super) fn at<'v>(sample: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(path) = path.strip_prefix('@') {
        return member(sample, at(sample, path)?.as_str()?).filter(|value| !value.is_null());
    }
    let part = |value: &'v Value, part: &str| match (part, value) {
        ("*", Value::Object(members)) => members.values().next(),
        ("*", _) => None,
        _ => member(value, part),
    };
    path.split('.').try_fold(sample, part).filter(|value| !value.is_null())
}

impl Reading {
    /// The path that it reads.
    pub(super) fn path(&self) -> &str {
        self.at.first().map_or("", String::as_str)
    }

    /// What it expects, for messages.
    pub(super) fn expects(&self) -> String {
        let what = match self.read {
            Form::Text => "text",
            Form::Only => "one text",
            Form::Items => "items of a response",
            Form::Answer => "a message of the assistant behind the input",
            Form::Sampled => "a sampled message",
            _ => "text or messages",
        };
        format!("{what} in {}", self.path())
    }

    /// What it finds in a sample.
    pub(super) fn read(&self, sample: &Value, scores: &BTreeMap<String, f64>) -> Option<Value> {
        let own = || at(sample, self.path());
        let second = || self.at.get(1).and_then(|path| at(sample, path));
        match self.read {
            Form::Value => own().cloned(),
            Form::Text => own().filter(|value| value.is_string()).cloned(),
            Form::Only => match own()?.as_array()?.as_slice() {
                [Value::String(text)] => Some(Value::from(text.as_str())),
                _ => None,
            },
            Form::Joined => {
                let text =
                    |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let part = |path: &String| match path.strip_prefix('=') {
                    Some(word) => Some(word.to_owned()),
                    None => at(sample, path).map(text),
                };
                let parts: Vec<String> = self.at.iter().filter_map(part).collect();
                (!parts.is_empty()).then(|| Value::from(parts.join("#")))
            }
            Form::Items => messages_of_items(own()?, second()),
            Form::BeforeAnswer => turns(own()?, second()).map(|(before, _)| before),
            Form::Answer => turns(own()?, second()).map(|(_, answer)| answer),
            Form::BeforeSampled => nodes(own()?).map(|(before, _)| before),
            Form::Sampled => nodes(own()?).map(|(_, sampled)| sampled),
            Form::Score => own().map(|value| score(value, scores)),
            Form::Scores => {
                let one = |(name, value): (&String, &Value)| (name.clone(), verdict(value, scores));
                Some(Value::Object(own()?.as_object()?.iter().map(one).collect()))
            }
            Form::Weighted => weighted(own()?),
        }
    }
}

/// A score as a number, where it is one, a truth value, or a word that the format gives as one.
fn score(value: &Value, scores: &BTreeMap<String, f64>) -> Value {
    match value {
        Value::Bool(is_right) => Value::from(f64::from(u8::from(*is_right))),
        Value::String(word) => {
            scores.get(word).map_or_else(|| value.clone(), |own| Value::from(*own))
        }
        _ => value.clone(),
    }
}

/// A score with its evidence, as a verdict line has it.
fn verdict(value: &Value, scores: &BTreeMap<String, f64>) -> Value {
    let (own, evidence) = match value {
        Value::Object(members) => {
            let own = ["value", "score"].into_iter().find_map(|name| members.get(name));
            let others =
                members.iter().filter(|(name, _)| !["value", "score"].contains(&name.as_str()));
            let others: Map<String, Value> =
                others.map(|(name, value)| (name.clone(), value.clone())).collect();
            (own.unwrap_or(&Value::Null), others)
        }
        other => (other, Map::new()),
    };
    let mut verdict = match score(own, scores) {
        number @ Value::Number(_) => json!({ "outcome": "scored", "reward": number }),
        Value::Null => json!({ "outcome": "abstained", "why": "the log has no score" }),
        other => {
            json!({ "outcome": "abstained", "why": format!("the score is no number: {other}") })
        }
    };
    if !evidence.is_empty()
        && let Value::Object(members) = &mut verdict
    {
        members.insert("evidence".to_owned(), Value::Object(evidence));
    }
    verdict
}

/// Items of the Responses API as messages. A text is what the user says.
fn messages_of_items(value: &Value, instructions: Option<&Value>) -> Option<Value> {
    let system = instructions.map(|text| json!({ "role": "system", "content": text }));
    match value {
        Value::String(text) => Some(match system {
            Some(system) => json!([system, { "role": "user", "content": text }]),
            None => Value::from(text.as_str()),
        }),
        Value::Array(values) => {
            let items: Option<Vec<Map<String, Value>>> =
                values.iter().map(|item| item.as_object().cloned()).collect();
            let messages = items::messages(items?);
            (!messages.is_empty())
                .then(|| Value::Array(system.into_iter().chain(messages).collect()))
        }
        _ => None,
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("role").is_some_and(|role| role == "assistant")
}

/// The messages before the first answer, and from it on. The input may hold answers: examples.
fn turns(messages: &Value, input: Option<&Value>) -> Option<(Value, Value)> {
    let messages = messages.as_array()?;
    let examples = input
        .and_then(Value::as_array)
        .map_or(0, |input| input.iter().filter(|message| is_answer(message)).count());
    let mut answers = messages.iter().enumerate().filter(|(_, message)| is_answer(message));
    let (first, _) = answers.nth(examples)?;
    let (before, answer) = messages.split_at(first);
    let list = |messages: &[Value]| Value::Array(messages.iter().map(named_calls).collect());
    Some((list(before), list(answer)))
}

/// The message with the names of its calls of tools where they are read: inspect writes them as `function`.
fn named_calls(message: &Value) -> Value {
    let mut message = message.clone();
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(members) = call.as_object_mut() else { continue };
        if members.get("function").is_some_and(Value::is_string)
            && let Some(name) = members.remove("function")
        {
            members.insert("name".to_owned(), name);
        }
    }
    message
}

/// The messages of the path to the last node: those before the first that was sampled, and from it on.
fn nodes(nodes: &Value) -> Option<(Value, Value)> {
    let nodes = nodes.as_array()?;
    let (mut path, mut at) = (Vec::new(), nodes.len().checked_sub(1));
    while let Some(place) = at {
        let node = nodes.get(place)?;
        path.push(node);
        // A parent comes before its children, so that the path has an end.
        let parent = node.get("parent").and_then(Value::as_u64);
        at = parent.and_then(|parent| usize::try_from(parent).ok()).filter(|own| *own < place);
    }
    path.reverse();
    let is_sampled = |node: &&Value| node.get("sampled") == Some(&Value::Bool(true));
    let first = path.iter().position(is_sampled)?;
    let (before, sampled) = path.split_at(first);
    let list = |nodes: &[&Value]| {
        let messages = nodes.iter().filter_map(|node| node.get("message").cloned());
        Value::Array(messages.collect())
    };
    Some((list(before), list(sampled)))
}

/// The sum of scores by their weights. One that is missing leaves no sum.
fn weighted(rewards: &Value) -> Option<Value> {
    let rewards = rewards.as_object()?;
    let one = |reward: &Value| {
        let weight = reward.get("weight").and_then(Value::as_f64).unwrap_or(1.0);
        Some(reward.get("score")?.as_f64()? * weight)
    };
    let sum = rewards.values().map(one).sum::<Option<f64>>()?;
    (!rewards.is_empty()).then(|| Value::from(sum))
}
