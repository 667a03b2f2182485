//! A row of columns as a sample.

use assay_verifiers::canonical;
use assay_verifiers::code::Code;
use assay_verifiers::{Content, Sample};
use serde_json::{Map, Number, Value};

use super::columns::{Columns, Path, Paths};
use super::error::{Defect, escape};
use super::hints;
use super::json::{self, Line, kind};
use super::limits::ReadLimits;

/// From here on floats cannot represent every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The names of columns that a message lists at most.
const NAMES_MAX: usize = 12;

/// Makes samples of rows that are no file: objects, such as those of another program, or their text.
pub struct RowReader {
    paths: Paths,
}

impl RowReader {
    /// A reader of rows with these columns.
    pub fn new(columns: &Columns) -> Self {
        Self { paths: Paths::new(columns) }
    }

    /// Whether a column, or a part of one, is or holds more than metadata: what it has must be a value
    /// of JSON. In metadata what is none is left out.
    pub fn judges(&self, path: &str) -> bool {
        self.paths.judge(path)
    }

    /// The sample of a row. Members of objects that are null must have been left out.
    ///
    /// # Errors
    /// Which column is at fault, and what was expected.
    pub fn sample(&self, row: Map<String, Value>) -> Result<Sample, Defect> {
        sample(row, &self.paths).map(|(sample, _)| sample)
    }

    /// The sample of a row as text: JSON, read as strictly as the lines of a file.
    ///
    /// # Errors
    /// Which column is at fault, and what was expected.
    pub fn parse<'a>(
        &self,
        line: impl Into<Line<'a>>,
        limits: &ReadLimits,
    ) -> Result<Sample, Defect> {
        let line = line.into();
        let (length, most) = (line.bytes().len(), limits.row_bytes_max);
        if length > most {
            let why = format!("the row has {length} bytes; at most {most} are read");
            return Err(Defect::new(Code::Limit, why));
        }
        self.sample(json::row(line, limits)?)
    }
}

/// Makes a sample of a row, and finds its label.
pub(super) fn sample(
    mut row: Map<String, Value>,
    paths: &Paths,
) -> Result<(Sample, Option<Value>), Defect> {
    let completion = match paths.completion.take(&mut row) {
        Some(value) => {
            let answer = content(value, &paths.completion, "completion").and_then(answer);
            answer.map_err(|defect| named(defect, &paths.completion, "completion"))?
        }
        None if paths.are_tasks => Content::Text(String::new()),
        None => return Err(missing(&row, &paths.completion)),
    };
    let mut builder = Sample::builder(completion);
    if let Some(value) = paths.prompt.take(&mut row) {
        let prompt = content(value, &paths.prompt, "prompt");
        builder = builder.prompt(prompt.map_err(|defect| named(defect, &paths.prompt, "prompt"))?);
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
    let mut tokens = None;
    if let Some((path, value)) = taken(paths.token_ids.as_ref(), &mut row) {
        let ids = token_ids(&value).map_err(|defect| named(defect, path, "token_ids"))?;
        tokens = Some(ids.len());
        builder = builder.token_ids(ids);
    }
    if let Some((path, value)) = taken(paths.logprobs.as_ref(), &mut row) {
        let logprobs = logprobs(&value).map_err(|defect| named(defect, path, "logprobs"))?;
        if let Some(tokens) = tokens.filter(|tokens| *tokens != logprobs.len()) {
            let why = format!("{} values for {tokens} token ids", logprobs.len());
            return Err(named(Defect::new(Code::WrongType, why), path, "logprobs"));
        }
        builder = builder.logprobs(logprobs);
    }
    if let Some((path, value)) = taken(paths.finish_reason.as_ref(), &mut row) {
        let Value::String(reason) = value else {
            let why = format!("expected text, found {}", kind(&value));
            return Err(named(Defect::new(Code::WrongType, why), path, "finish_reason"));
        };
        builder = builder.finish_reason(reason);
    }
    let label = paths.label.as_ref().and_then(|path| path.take(&mut row));
    paths.clear(&mut row);
    lift(&mut row, &paths.meta);
    Ok((builder.meta(row).build(), label))
}

/// What an optional column holds.
fn taken<'p>(path: Option<&'p Path>, row: &mut Map<String, Value>) -> Option<(&'p Path, Value)> {
    let path = path?;
    Some((path, path.take(row)?))
}

/// Says which column is at fault, and what it was to be where its name does not say so.
fn named(defect: Defect, path: &Path, role: &str) -> Defect {
    let field = defect.field.clone();
    let text = if path.text == role { role.to_owned() } else { format!("{role} ({})", path.text) };
    match field {
        Some(inner) => defect.at_field(&format!("{text}: {inner}")),
        None => defect.at_field(&text),
    }
}

fn missing(row: &Map<String, Value>, path: &Path) -> Defect {
    let mut names: Vec<String> = row.keys().take(NAMES_MAX).map(|key| escape(key)).collect();
    if row.len() > NAMES_MAX {
        names.push("…".to_owned());
    }
    let has = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let why = format!("missing or null; the row has: {has}");
    let why = format!("{why}{}", hints::of_row(row, path));
    named(Defect::new(Code::MissingValue, why), path, "completion")
}

/// Moves the members of the column `meta` up. A member whose name is a column stays where it is.
fn lift(row: &mut Map<String, Value>, path: &Path) {
    let Some(value) = path.take(row) else { return };
    let Value::Object(members) = value else {
        row.insert(path.text.clone(), value);
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
    if !kept.is_empty() && !row.contains_key(&path.text) {
        row.insert(path.text.clone(), Value::Object(kept));
    }
}

/// The content in the column of a role, as [`Columns`] call it.
fn content(value: Value, path: &Path, role: &str) -> Result<Content, Defect> {
    let foreign = |message: &&Value| {
        message.get("role").is_none()
            && message.get("from").is_some()
            && message.get("value").is_some()
    };
    if value.as_array().is_some_and(|messages| messages.iter().any(|message| foreign(&message))) {
        let why = "messages with \"from\" and \"value\" (ShareGPT); expected \"role\" (user, assistant, \
                   system) and \"content\": rename them";
        return Err(Defect::new(Code::WrongType, why));
    }
    foreign_message(&value)?;
    let hint = hints::of_value(&value, path, role);
    Content::from_value(value).map_err(|why| Defect::new(Code::WrongType, format!("{why}{hint}")))
}

/// Members in which other APIs have what a message says.
const CONTENTS: [&str; 5] = ["parts", "text", "value", "message", "body"];

/// Refuses a message whose content is under another name: it would be judged as an empty answer.
fn foreign_message(value: &Value) -> Result<(), Defect> {
    let messages = value.as_array().map_or(&[][..], Vec::as_slice);
    let foreign = |message: &Value| {
        let members = message.as_object()?;
        let is_silent = members.contains_key("role") && !members.contains_key("content");
        CONTENTS.into_iter().find(|name| is_silent && members.contains_key(*name))
    };
    let found = messages.iter().enumerate().find_map(|(at, message)| Some((at, foreign(message)?)));
    let Some((at, name)) = found else { return Ok(()) };
    let at = at + 1;
    Err(Defect::new(
        Code::WrongType,
        format!("message {at}: no content, but `{name}`: write {{role, content}}"),
    ))
}

/// Roles whose messages are never what a model answered.
const NOT_ANSWERS: [&str; 6] = ["system", "developer", "user", "human", "tool", "function"];

/// Refuses a conversation in which nobody answers: its last message would be judged as an answer.
fn answer(content: Content) -> Result<Content, Defect> {
    let Some(messages) = content.messages() else { return Ok(content) };
    let is_other = |role: &str| NOT_ANSWERS.iter().any(|other| role.eq_ignore_ascii_case(other));
    if messages.iter().any(|message| !is_other(&message.role)) {
        return Ok(content);
    }
    let mut roles: Vec<String> = messages.iter().map(|message| escape(&message.role)).collect();
    roles.dedup();
    roles.truncate(NAMES_MAX);
    let has = if roles.is_empty() { "no messages".to_owned() } else { roles.join(", ") };
    let why = format!("no message of the assistant; the conversation has: {has}");
    Err(Defect::new(Code::MissingValue, why))
}

/// The token ids of the completion.
fn token_ids(value: &Value) -> Result<Vec<u32>, Defect> {
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    list(value, "token ids", id)
}

/// The log-probabilities of the tokens of the completion.
fn logprobs(value: &Value) -> Result<Vec<f64>, Defect> {
    list(value, "numbers", Value::as_f64)
}

fn list<T>(value: &Value, what: &str, read: fn(&Value) -> Option<T>) -> Result<Vec<T>, Defect> {
    let Value::Array(values) = value else {
        return Err(Defect::new(
            Code::WrongType,
            format!("expected a list of {what}, found {}", kind(value)),
        ));
    };
    let one = |(at, value): (usize, &Value)| {
        read(value).ok_or_else(|| {
            Defect::new(
                Code::WrongType,
                format!("expected a list of {what}; value {} is {value}", at + 1),
            )
        })
    };
    values.iter().enumerate().map(one).collect()
}

/// An id or a group: text, or an integer in canonical form.
fn name(value: Value) -> Result<String, Defect> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) if !whole(&number) => {
            Err(Defect::new(Code::WrongType, "expected text or an integer, found a fraction"))
        }
        Value::Number(number) if beyond(&number) => Err(Defect::new(Code::BadValue, TOO_LARGE)),
        Value::Number(number) => Ok(canonical::number_text(&number)),
        other => Err(Defect::new(
            Code::WrongType,
            format!("expected text or an integer, found {}", kind(&other)),
        )),
    }
}

const TOO_LARGE: &str = "the integer is too large to be kept exactly as a number; write it as text";

/// Refuses numbers that were rounded when they were read.
///
/// # Errors
/// What to write in their place.
pub fn check_exact(value: &Value) -> Result<(), String> {
    exact(value).map_err(|defect| defect.to_string())
}

/// Refuses numbers that were rounded when they were read: an answer must not turn right or wrong
/// because of it.
fn exact(value: &Value) -> Result<(), Defect> {
    match value {
        Value::Number(number) if beyond(number) => Err(Defect::new(Code::BadValue, TOO_LARGE)),
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
    use assay_verifiers::Message;
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
    fn a_task_is_a_row_without_a_completion() {
        let Value::Object(row) = json!({"prompt": "2+1?", "reference": "3"}) else { panic!() };
        let columns = Columns::default();
        assert!(sample(row.clone(), &Paths::new(&columns)).is_err());
        let (task, _) = sample(row, &Paths::of_tasks(&columns)).map_err(|_| ()).unwrap();
        assert_eq!((task.prompt(), task.completion()), ("2+1?", ""));
    }

    #[test]
    fn messages_and_their_parts() {
        let sample = read(json!({"id": 7, "completion": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}]},
            {"type": "function_call", "name": "f", "call_id": 3.0},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        ]}))
        .unwrap();
        let messages = sample.completion_content().messages().unwrap();
        let texts: Vec<&str> = messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["ab", r#"{"call_id":3,"name":"f","type":"function_call"}"#, ""]);
        assert_eq!(messages[2].tool_calls[0].name, "f");
        assert_eq!(sample.id(), "7");
    }

    #[test]
    fn a_call_of_a_tool_makes_another_sample() {
        let called = |name: &str| {
            let call = json!({"id": "c", "function": {"name": name, "arguments": "{}"}});
            read(json!({"completion": [{"role": "assistant", "tool_calls": [call]}]})).unwrap()
        };
        assert_ne!(called("add").digest(), called("delete").digest());
    }

    #[test]
    fn tokens_are_read_where_columns_are_named_for_them() {
        let columns = Columns {
            token_ids: Some("ids".into()),
            logprobs: Some("lp".into()),
            finish_reason: Some("why".into()),
            ..Columns::default()
        };
        let read = |row: Value| {
            let Value::Object(row) = row else { panic!("no row") };
            sample(row, &Paths::new(&columns)).map_err(|defect| defect.to_string())
        };
        let (sample, _) =
            read(json!({"completion": "c", "ids": [1, 2], "lp": [-0.5, 0], "why": "length"}))
                .unwrap();
        assert_eq!(sample.token_ids(), Some([1, 2].as_slice()));
        assert_eq!(sample.logprobs(), Some([-0.5, 0.0].as_slice()));
        assert_eq!(sample.finish_reason(), Some("length"));
        for (row, why) in [
            (
                json!({"ids": [1, -2]}),
                "token_ids (ids): expected a list of token ids; value 2 is -2",
            ),
            (json!({"ids": "1"}), "token_ids (ids): expected a list of token ids, found text"),
            (json!({"ids": [1], "lp": [0, 0]}), "logprobs (lp): 2 values for 1 token ids"),
            (json!({"why": 3}), "finish_reason (why): expected text, found number"),
        ] {
            let mut row = row;
            row["completion"] = json!("c");
            assert_eq!(read(row).unwrap_err(), why);
        }
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
            "completion: missing or null; the row has: a, b (the column that holds it is named by [data] \
             completion)"
        );
        assert_eq!(
            fails(json!({"completion": [{"role": "user", "content": 1}]})),
            "completion: message 1: content: expected text or parts, found number"
        );
        assert_eq!(
            fails(json!({"completion": [{"role": "user", "content": [{"image": "x"}]}]})),
            "completion: message 1: content: a part without a type"
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
