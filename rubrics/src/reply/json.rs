//! The JSON objects of a text, wherever they stand in it.

use std::ops::Range;

use serde_json::Value;

/// The most objects of a text that are looked at.
const OBJECTS_MAX: usize = 1_000;
/// The deepest nesting that is followed.
const DEPTH_MAX: usize = 64;

/// An object, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundObject {
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

/// The outermost objects of a text that parse, in order. Line ends within strings and commas before
/// a closing bracket, which judges write, are mended.
pub(super) fn objects(text: &str) -> Vec<FoundObject> {
    let mut found = Vec::new();
    let mut from = 0;
    while found.len() < OBJECTS_MAX {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at)
        else {
            break;
        };
        let object = balanced(text, start).and_then(|end| {
            let value = parsed(text.get(start..end)?)?;
            Some(FoundObject { span: start..end, value })
        });
        match object {
            Some(object) => {
                from = object.span.end;
                found.push(object);
            }
            None => from = start + 1,
        }
    }
    found
}

/// Where the object that starts at `start` ends.
fn balanced(text: &str, start: usize) -> Option<usize> {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' if open.len() == DEPTH_MAX => return None,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' if open.pop() != Some(byte) => return None,
            _ => {}
        }
        if open.is_empty() {
            return Some(at + 1);
        }
    }
    None
}

fn parsed(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&mended(text)));
    value.ok().filter(Value::is_object)
}

/// The text with control characters of strings as escapes, and without commas before a closing
/// bracket.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    for c in text.chars() {
        if in_string {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                '\n' => {
                    out.push_str("\\n");
                    continue;
                }
                '\t' => {
                    out.push_str("\\t");
                    continue;
                }
                c if c.is_control() => continue,
                _ => {}
            }
        } else if c == '"' {
            in_string = true;
        } else if matches!(c, '}' | ']') {
            let end = out.trim_end().len();
            if out.get(..end).is_some_and(|kept| kept.ends_with(',')) {
                out.truncate(end - 1);
            }
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        objects(text).into_iter().map(|object| object.value.to_string()).collect()
    }

    #[test]
    fn objects_stand_in_fences_and_prose() {
        assert_eq!(
            values("So:\n```json\n{\"a\": 1}\n```\nor {\"a\": {\"b\": \"}\"}} end"),
            [r#"{"a":1}"#, r#"{"a":{"b":"}"}}"#]
        );
        assert_eq!(values("{ {\"a\": 1}"), [r#"{"a":1}"#]);
        assert_eq!(values("{\"a\": \"x\ny\", \"b\": [1, 2, ], }"), [r#"{"a":"x\ny","b":[1,2]}"#]);
        assert!(values("{\"a\": 1").is_empty() && values("no {such} thing").is_empty());
    }

    #[test]
    fn hostile_texts_take_bounded_work() {
        let deep = "{\"a\":".repeat(50_000);
        assert!(values(&deep).is_empty());
        assert_eq!(values(&"{}".repeat(5_000)).len(), OBJECTS_MAX);
    }
}
