//! The JSON objects of a text, wherever they stand in it.

use std::ops::Range;

use serde_json::Value;

/// The most objects of a text that are looked at.
const OBJECTS_MAX: usize = 1_000;
/// How often each byte of a text is looked at on average, at most.
const PASSES_MAX: usize = 100;
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
    let (mut from, mut work) = (0, text.len().saturating_mul(PASSES_MAX));
    while found.len() < OBJECTS_MAX {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at)
        else {
            break;
        };
        let balanced = balanced(text, start);
        let (Ok(looked_to) | Err(looked_to)) = balanced;
        let Some(left) = work.checked_sub(looked_to - start) else { break };
        work = left;
        let object = balanced.ok().and_then(|end| {
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

/// Where an object begins that does not end: the reply was cut within it.
pub(super) fn cut_object(text: &str, found: &[FoundObject]) -> Option<usize> {
    let from = found.last().map_or(0, |object| object.span.end);
    let rest = text.get(from..)?;
    let begins = |(at, _): &(usize, &str)| {
        let behind = rest.get(at + 1..).unwrap_or_default();
        behind.trim_start().starts_with('"')
    };
    let (start, _) = rest.match_indices('{').find(begins)?;
    (balanced(rest, start) == Err(rest.len())).then_some(from + start)
}

/// Where the object that starts at `start` ends; else the place up to which it was looked at.
fn balanced(text: &str, start: usize) -> Result<usize, usize> {
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
            b'{' | b'[' if open.len() == DEPTH_MAX => return Err(at),
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' if open.pop() != Some(byte) => return Err(at),
            _ => {}
        }
        if open.is_empty() {
            return Ok(at + 1);
        }
    }
    Err(text.len())
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
    fn an_object_that_does_not_end_is_told() {
        let cut = |text: &str| cut_object(text, &objects(text));
        assert_eq!(cut(r#"So {"a": 1} {"b": "it is "#), Some(12));
        assert_eq!(cut("{\n  \"a\": {\"b\": 1}"), None, "an object within it is whole");
        assert_eq!(cut(r#"{"a": 1} and {x, "y"#), None);
    }

    #[test]
    fn hostile_texts_take_bounded_work() {
        let deep = "{\"a\":".repeat(50_000);
        assert!(values(&deep).is_empty());
        assert_eq!(values(&"{}".repeat(5_000)).len(), OBJECTS_MAX);
        assert!(values(&r#"{"x\""#.repeat(20_000)).is_empty(), "each of them lasts to the end");
    }
}
