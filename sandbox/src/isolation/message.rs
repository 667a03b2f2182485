//! Requests to the guest, and what its replies say.

use crate::value::PyValue;
use crate::value::marshal::{self, MarshalError, Seen};

/// A request: an operation and its arguments.
pub(super) fn request(operation: &str, arguments: impl IntoIterator<Item = PyValue>) -> Vec<u8> {
    let items = std::iter::once(operation.into()).chain(arguments).collect();
    marshal::encode(&PyValue::Tuple(items))
}

/// The first bytes of a message that asks the candidate's instance for this operation.
pub(super) fn head_of(verb: &str) -> Vec<u8> {
    let mut head = vec![b'(', 4, 0, 0, 0];
    head.extend(marshal::encode(&"do".into()));
    head.extend(marshal::encode(&verb.into()));
    head
}

/// What a reply of the candidate's instance says.
#[derive(Debug)]
pub(super) enum Reply {
    /// A value follows, with marks where it is not plain.
    Value(Seen),
    /// An exception: its classes, its text, and the line of the program.
    Raised(String),
    /// An iteration is over.
    Ended,
    /// An invalid reply, and why.
    Bad(String),
    /// The program ended the process that runs it, and with which code.
    Exits(String),
    /// The code that precedes the candidate's cannot run.
    BadSetup(String),
}

/// Reads the head of a reply and checks all of it.
pub(super) fn read(bytes: &[u8]) -> Reply {
    // A tuple, its length, and a small integer.
    let Some((length, status)) = head(bytes) else {
        return Reply::Bad("a reply is no tuple".to_owned());
    };
    if status == 0 {
        return match marshal::check(bytes) {
            Ok(seen) if length == 3 && bytes.get(10) == Some(&b'i') => Reply::Value(seen),
            Ok(_) => Reply::Bad("a reply has another shape".to_owned()),
            Err(error) => Reply::Bad(error.to_string()),
        };
    }
    match marshal::decode(bytes) {
        Ok((PyValue::Tuple(items), _)) => other(status, &items),
        Ok(_) => Reply::Bad("a reply is no tuple".to_owned()),
        Err(error) => Reply::Bad(error.to_string()),
    }
}

/// Length and first member of the tuple.
fn head(bytes: &[u8]) -> Option<(u32, i32)> {
    let (length, rest) = bytes.strip_prefix(b"(")?.split_first_chunk()?;
    let (status, _) = rest.strip_prefix(b"i")?.split_first_chunk()?;
    Some((u32::from_le_bytes(*length), i32::from_le_bytes(*status)))
}

fn other(status: i32, items: &[PyValue]) -> Reply {
    match (status, items) {
        (
            2,
            [
                _,
                PyValue::List(names),
                PyValue::Str(text),
                PyValue::List(_),
                PyValue::Int(line),
                PyValue::Int(_),
                cause,
            ],
        ) if are_texts(names) && is_cause(cause) => {
            let name = names.first().map(lossy).unwrap_or_default();
            let at = if *line == 0.into() { String::new() } else { format!(" (line {line})") };
            Reply::Raised(format!("{name}: {}{at}", String::from_utf8_lossy(text)))
        }
        (3, [_, _, _]) => Reply::Ended,
        (4, [_, why]) => Reply::Bad(lossy(why)),
        (5, [_, code]) => Reply::Exits(format!("the program ends itself: exit {}", lossy(code))),
        (6, [_, why]) => Reply::BadSetup(lossy(why)),
        _ => Reply::Bad(format!("a reply has the unknown shape {status}")),
    }
}

fn are_texts(values: &[PyValue]) -> bool {
    values.iter().all(|value| matches!(value, PyValue::Str(_)))
}

/// Nothing, or the classes and the text of the exception that led to this one.
fn is_cause(value: &PyValue) -> bool {
    match value {
        PyValue::None => true,
        PyValue::Tuple(items) => matches!(
            items.as_slice(), [PyValue::List(names), PyValue::Str(_)] if are_texts(names)
        ),
        _ => false,
    }
}

/// The text of a string value, as evidence shows it.
pub(super) fn lossy(value: &PyValue) -> String {
    value.to_text().unwrap_or_default()
}

/// The message that tells the tests' side to stop.
pub(super) fn poisoned(why: &str) -> Vec<u8> {
    marshal::encode(&PyValue::Tuple(vec![PyValue::Int(4.into()), why.into()]))
}

/// A malformed message of the tests' side: a defect of ours.
pub(super) fn unreadable(error: &MarshalError) -> String {
    format!("the judge's room sent what cannot be read: {error}")
}
