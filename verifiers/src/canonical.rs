//! The canonical form: one byte string for one value, the input of digests and cache keys.
//!
//! Objects are written with sorted keys and without null members (a Parquet column that is null
//! and a JSON key that is missing are the same thing), numbers that are whole are written as
//! integers, and there is no white space.

use std::io::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// Integers up to here are exact in a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The canonical bytes of `value`.
pub fn to_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    write(&mut out, value);
    out
}

/// The digest of the canonical bytes of `value`.
pub fn digest(value: &Value) -> Digest {
    Sha256::digest(to_bytes(value)).into()
}

/// The digest of several byte strings, each with its length in front, so that no two lists of
/// strings have one encoding.
pub fn digest_parts(parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'?'));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The text of a number in canonical form: whole floats lose their fraction.
pub fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            // Adding zero turns a negative zero into zero.
            format!("{:.0}", float + 0.0)
        }
        _ => number.to_string(),
    }
}

/// Appends the canonical bytes of `value`.
pub fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Array(values) => {
            out.push(b'[');
            for (at, value) in values.iter().enumerate() {
                comma(out, at);
                write(out, value);
            }
            out.push(b']');
        }
        Value::Object(members) => write_members(out, members.iter()),
        Value::String(text) => write_text(out, text),
        Value::Number(number) => out.extend_from_slice(number_text(number).as_bytes()),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Null => out.extend_from_slice(b"null"),
    }
}

/// Appends an object of the members that are not null, in the order of their keys, in whatever
/// order they come.
pub fn write_members<'a>(
    out: &mut Vec<u8>,
    members: impl Iterator<Item = (&'a String, &'a Value)>,
) {
    let mut members: Vec<_> = members.filter(|(_, value)| !value.is_null()).collect();
    // The order of a JSON map depends on the features of serde_json; a digest must not.
    if !members.is_sorted_by_key(|(key, _)| *key) {
        members.sort_unstable_by_key(|(key, _)| *key);
    }
    out.push(b'{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        comma(out, at);
        write_text(out, key);
        out.push(b':');
        write(out, value);
    }
    out.push(b'}');
}

/// Appends a JSON string.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail. If the serializer failed, the partial form would still be
    // unique, so the error can be ignored.
    if serde_json::to_writer(&mut *out, text).is_err() {
        let _ = out.write_all(b"\"\\u0000\"");
    }
}

/// The word for what a value is, for messages.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn comma(out: &mut Vec<u8>, at: usize) {
    if at > 0 {
        out.push(b',');
    }
}
