//! A row of columns as a sample.

use assay_verifiers::canonical;
use assay_verifiers::{Content, Message, Sample};
use serde_json::{Map, Number, Value};

use super::columns::{Path, Paths};
use super::error::{Defect, escape};
use super::json::kind;

/// From here on a float no longer tells whole numbers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The names of columns that a message lists at most.
const NAMES_MAX: usize = 12;

/// Makes a sample of a row, and finds its label.
pub(super) fn sample(
    mut row: Map<String, Value>,
    paths: &Paths<'_>,
) -> Result<(Sample, Option<Value>), Defect> {
    let completion = match paths.completion.take(&mut row) {
        Some(value) => {
            content(value).map_err(|defect| named(defect, &paths.completion, "completion"))?
        }
        None => return Err(missing(&row, &paths.completion)),
    };
    let mut builder = Sample::builder(completion);
    if let Some(value) = paths.prompt.take(&mut row) {
        builder = builder
            .prompt(content(value).map_err(|defect| named(defect, &paths.prompt, "prompt"))?);
    }
    if let Some(value) = paths.reference.take(&mut row) {
        exact(&value).map_err(|defect| named(defect, &paths.reference, "reference"))?;
        builder = builder.reference(value);
    }
    if let Some(value) = paths.id.take(&mut row) {
        builder = builder.id(name(value).map_err(|defect| named(defect, &paths.id, "id"))?);
    }
    if let Some(path) = &paths.group
        && let Some(value) = path.take(&mut row)
    {
        builder = builder.group(name(value).map_err(|defect| named(defect, path, "group"))?);
    }
    let label = paths.label.as_ref().and_then(|path| path.take(&mut row));
    paths.clear(&mut row);
    lift(&mut row, &paths.meta);
    Ok((builder.meta(row).build(), label))
}

/// Says which column is at fault, and what it was to be where its name does not say so.
fn named(defect: Defect, path: &Path<'_>, role: &str) -> Defect {
    let field = defect.field.clone();
    let text = if path.text == role { role.to_owned() } else { format!("{role} ({})", path.text) };
    match field {
        Some(inner) => defect.at_field(&format!("{text}: {inner}")),
        None => defect.at_field(&text),
    }
}

fn missing(row: &Map<String, Value>, path: &Path<'_>) -> Defect {
    let mut names: Vec<String> = row.keys().take(NAMES_MAX).map(|key| escape(key)).collect();
    if row.len() > NAMES_MAX {
        names.push("…".to_owned());
    }
    let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    named(Defect::new(format!("missing or null; the row has: {has}")), path, "completion")
}

/// Moves the members of the column `meta` up. A member whose name is a column stays where it is.
fn lift(row: &mut Map<String, Value>, path: &Path<'_>) {
    let Some(value) = path.take(row) else { return };
    let Value::Object(members) = value else {
        row.insert(path.text.to_owned(), value);
        return;
    };
    let mut kept = Map::new();
    for (key, value) in members {
        if row.contains_key(&key) {
            kept.insert(key, value);
        } else {
            row.insert(key, value);
        }
    }
    if !kept.is_empty() && !row.contains_key(path.text) {
        row.insert(path.text.to_owned(), Value::Object(kept));
    }
}

fn content(value: Value) -> Result<Content, Defect> {
    match value {
        Value::String(text) => Ok(Content::Text(text)),
        Value::Array(values) => {
            let messages = values.into_iter().enumerate();
            let read = |(at, value)| message(value).map_err(|defect| in_message(&defect, at));
            messages.map(read).collect::<Result<Vec<_>, _>>().map(Content::Messages)
        }
        other => Err(Defect::new(format!("expected text or messages, found {}", kind(&other)))),
    }
}

fn in_message(defect: &Defect, at: usize) -> Defect {
    Defect::new(format!("message {}: {}", at + 1, defect.message))
}

fn message(value: Value) -> Result<Message, Defect> {
    let Value::Object(mut members) = value else {
        return Err(Defect::new(format!("expected {{role, content}}, found {}", kind(&value))));
    };
    let role = match members.remove("role") {
        Some(Value::String(role)) => role,
        Some(other) => {
            return Err(Defect::new(format!("role: expected text, found {}", kind(&other))));
        }
        None => return turn(members),
    };
    let content = match members.remove("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => parts.into_iter().map(part).collect::<Result<_, _>>()?,
        Some(other) => {
            let found = kind(&other);
            return Err(Defect::new(format!("content: expected text or parts, found {found}")));
        }
    };
    Ok(Message { role, content })
}

/// A turn that is no message, as agents write them (a call of a tool, its output): its type is
/// its role, and its content is all that it says, as JSON.
fn turn(members: Map<String, Value>) -> Result<Message, Defect> {
    match members.get("type") {
        Some(Value::String(word)) if word != "message" => {
            let role = word.clone();
            let content = canonical::to_bytes(&Value::Object(members));
            Ok(Message { role, content: String::from_utf8_lossy(&content).into_owned() })
        }
        _ => Err(Defect::new("no role")),
    }
}

/// The text of one part of a message. Other kinds of part are refused: a sample that left an image
/// out would be taken for one that never had it.
fn part(value: Value) -> Result<String, Defect> {
    let Value::Object(mut members) = value else {
        return Err(Defect::new(format!(
            "content: expected {{type, text}}, found {}",
            kind(&value)
        )));
    };
    match (members.remove("type"), members.remove("text")) {
        (Some(Value::String(word)), Some(Value::String(text)))
            if ["text", "input_text", "output_text"].contains(&word.as_str()) =>
        {
            Ok(text)
        }
        (Some(Value::String(word)), _) => {
            let word = escape(&word);
            Err(Defect::new(format!("content: a part of type \"{word}\" is not text")))
        }
        _ => Err(Defect::new("content: a part without a type")),
    }
}

/// An id or a group: text, or an integer in canonical form.
fn name(value: Value) -> Result<String, Defect> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) if !whole(&number) => {
            Err(Defect::new("expected text or an integer, found a fraction"))
        }
        Value::Number(number) if beyond(&number) => Err(Defect::new(TOO_LARGE)),
        Value::Number(number) => Ok(canonical::number_text(&number)),
        other => Err(Defect::new(format!("expected text or an integer, found {}", kind(&other)))),
    }
}

const TOO_LARGE: &str = "the integer is too large to be kept exactly as a number; write it as text";

/// Refuses numbers that were rounded when they were read: an answer must not turn right or wrong
/// because of it.
fn exact(value: &Value) -> Result<(), Defect> {
    match value {
        Value::Number(number) if beyond(number) => Err(Defect::new(TOO_LARGE)),
        Value::Array(values) => values.iter().try_for_each(exact),
        Value::Object(members) => members.values().try_for_each(exact),
        _ => Ok(()),
    }
}

fn whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

fn beyond(number: &Number) -> bool {
    number.is_f64()
        && number.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() >= EXACT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::columns::Columns;
    use super::*;

    fn read(row: Value) -> Result<Sample, String> {
        let Value::Object(row) = row else { panic!("no row") };
        let columns = Columns::default();
        let read = sample(row, &Paths::new(&columns));
        read.map(|(sample, _)| sample).map_err(|defect| defect.to_string())
    }

    #[test]
    fn meta_reads_the_same_from_columns_and_from_a_meta_column() {
        let flat = read(json!({"completion": "c", "kind": "code"})).unwrap();
        let nested = read(json!({"completion": "c", "meta": {"kind": "code"}})).unwrap();
        assert_eq!(flat.meta(), nested.meta());
        assert_eq!(flat.digest(), nested.digest());
        let both =
            read(json!({"completion": "c", "kind": 1, "meta": {"kind": 2, "x": 3}})).unwrap();
        assert_eq!(
            Value::Object(both.meta().clone()),
            json!({"kind": 1, "x": 3, "meta": {"kind": 2}})
        );
    }

    #[test]
    fn messages_and_their_parts() {
        let sample = read(json!({"id": 7, "completion": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}]},
            {"type": "function_call", "name": "f", "call_id": 3.0},
            {"role": "assistant", "tool_calls": []},
        ]}))
        .unwrap();
        let texts: Vec<&str> = sample
            .completion_content()
            .messages()
            .unwrap()
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        assert_eq!(texts, ["ab", r#"{"call_id":3,"name":"f","type":"function_call"}"#, ""]);
        assert_eq!(sample.id(), "7");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let fails = |row| read(row).unwrap_err();
        assert_eq!(
            fails(json!({"completion": 3})),
            "completion: expected text or messages, found number"
        );
        assert_eq!(
            fails(json!({"b": 3, "a": 1})),
            "completion: missing or null; the row has: a, b"
        );
        assert_eq!(
            fails(json!({"completion": [{"role": "user", "content": 1}]})),
            "completion: message 1: content: expected text or parts, found number"
        );
        assert_eq!(
            fails(json!({"completion": [{"role": "user", "content": [{"type": "image"}]}]})),
            "completion: message 1: content: a part of type \"image\" is not text"
        );
        for large in [json!(1e16), json!([1, {"a": 9_007_199_254_740_992.0}])] {
            let why = fails(json!({"completion": "c", "reference": large}));
            assert_eq!(why, format!("reference: {TOO_LARGE}"));
        }
        assert_eq!(
            fails(json!({"completion": "c", "id": 1.5})),
            "id: expected text or an integer, found a fraction"
        );
        assert!(read(json!({"completion": "c", "reference": u64::MAX, "id": 2.0})).is_ok());
    }
}
