//! Dotted paths into the columns of a row: `answers.0.text`.

use serde_json::{Map, Value};

/// The column of this very name, else what the dotted path leads to.
pub fn at<'v>(row: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    let nested = || {
        let mut parts = path.split('.');
        let first = row.get(parts.next()?)?;
        parts.try_fold(first, member)
    };
    row.get(path).or_else(nested)
}

/// A member of an object by its name, or an element of a list by its number, from 0 on.
pub fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

/// The same, to change it.
pub fn member_mut<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(members) => members.get_mut(name),
        Value::Array(elements) => elements.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    }
}
