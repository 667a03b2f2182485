//! What to write where a row has its completion elsewhere, or in another shape.

use serde_json::{Map, Value};

use super::columns::Path;
use super::error::{escape, one_a_line};

/// Columns that hold completions in the data of others: TRL, verl, open-r1, lm-eval.
const COMPLETIONS: &str = "response generation output model_output solution_str generated_text prediction rollout \
    completions responses generations outputs resps messages content";

/// Where the completion is, as far as the names of the columns tell.
pub(super) fn of_row(row: &Map<String, Value>, path: &Path) -> String {
    let is_there = row.keys().any(|key| path.text.starts_with(key.as_str()));
    if is_there || row.is_empty() {
        return String::new();
    }
    if row.contains_key("chosen") && row.contains_key("rejected") {
        return " (a row is one completion: write a row with `chosen` and one with `rejected`, or name one \
                of them by [data] completion)"
            .to_owned();
    }
    let alike = row.keys().find(|key| key.trim().eq_ignore_ascii_case(&path.text));
    let of_others = || COMPLETIONS.split(' ').find(|name| row.contains_key(*name));
    let key = alike.map(String::as_str).or_else(of_others);
    if let Some((key, value)) = key.and_then(|key| row.get_key_value(key)) {
        let first = value.as_array().and_then(|values| values.first());
        let is_list = first.is_some_and(|first| first.is_string() || first.is_array());
        let within = text_within(value, DEPTH_MAX).filter(|_| !is_list).unwrap_or_default();
        let each = if is_list { ", with a row for each of its list" } else { "" };
        return format!(" (write [data] completion = \"{}{within}\"{each})", escape(key));
    }
    if row.len() > 1 && row.values().all(|value| value.get(&path.text).is_some()) {
        return format!(" (its values are the rows: {})", one_a_line(".[]"));
    }
    if row.get("columns").is_some_and(Value::is_array) && row.contains_key("data") {
        return COLUMNS.to_owned();
    }
    let nested = row.iter().find(|(_, value)| value.get(&path.text).is_some());
    nested
        .map(|(key, _)| format!(" (write [data] completion = \"{}.{}\")", escape(key), path.text))
        .or_else(|| rows_within(row, &path.text))
        .unwrap_or_else(|| " (the column that holds it is named by [data] completion)".to_owned())
}

/// The columns that hold rows, of a file that is one object.
fn rows_within(row: &Map<String, Value>, completion: &str) -> Option<String> {
    let first = |(key, value): (_, &Value)| {
        let first = value.as_array()?.first()?.as_object()?;
        first.contains_key(completion).then_some(key)
    };
    let keys: Vec<String> = row.iter().filter_map(first).map(|key: &String| escape(key)).collect();
    let named: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    let paths: Vec<String> = keys.iter().map(|key| format!(".{key}[]")).collect();
    (!keys.is_empty()).then(|| {
        format!(" (its rows are in {}: {})", named.join(" and "), one_a_line(&paths.join(", ")))
    })
}

/// Who has columns by the index of a table, as pandas writes them by default.
const COLUMNS: &str = " (columns of a table, as pandas writes them: write rows, by \
                       to_json(\"rows.jsonl\", orient=\"records\", lines=True))";

/// What to write in the place of a value that is neither text nor messages, in the column of a role.
pub(super) fn of_value(value: &Value, path: &Path, role: &str) -> String {
    let known = match value {
        Value::Array(values) => match values.first() {
            Some(Value::String(_)) if role == "prompt" => {
                " (write the text itself, without a list around it)"
            }
            Some(Value::String(_) | Value::Array(_)) => {
                " (a row is one completion: write a row for each of the list)"
            }
            Some(Value::Number(_)) => {
                " (token ids are no text: write the text, and name their column in [data] token_ids)"
            }
            _ => "",
        },
        Value::Object(members)
            if members.keys().next().is_some_and(|key| key.parse::<u64>().is_ok()) =>
        {
            COLUMNS
        }
        Value::Object(members) if members.contains_key("role") => {
            " (messages stand in a list: write [{role, content}])"
        }
        _ => "",
    };
    let is_elsewhere = match value {
        Value::Array(values) => values.first().is_some_and(|first| first.get("role").is_none()),
        value => value.is_object(),
    };
    let within = text_within(value, DEPTH_MAX).filter(|_| known.is_empty() && is_elsewhere);
    within.map_or_else(
        || known.to_owned(),
        |within| {
            let path = format!("{}{within}", path.text);
            format!(" (its text is at \"{path}\": write [data] {role} = \"{path}\")")
        },
    )
}

/// How deep a text is looked for.
const DEPTH_MAX: usize = 8;
/// Members that hold what a model said, in responses of APIs and in the logs of other tools; and those that
/// it is in.
const TEXTS: &str = "content text generated_text output_text completion response";
const AROUND: &str =
    "message body response choices outputs output completion result samples content";

/// The rest of a path that leads to a text, as in `.choices.0.message.content`.
fn text_within(value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    if let Value::Array(values) = value {
        // Messages are read as they are.
        let first = values.first().filter(|first| first.get("role").is_none())?;
        return text_within(first, depth).map(|rest| format!(".0{rest}"));
    }
    let text = TEXTS.split(' ').find(|name| value.get(*name).is_some_and(Value::is_string));
    let mut around = AROUND.split(' ');
    text.map(|name| format!(".{name}")).or_else(|| {
        around.find_map(|name| {
            text_within(value.get(name)?, depth).map(|rest| format!(".{name}{rest}"))
        })
    })
}
