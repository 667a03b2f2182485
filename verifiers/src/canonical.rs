//! The canonical form: one byte string for one value, the input of digests and cache keys.
//!
//! Objects are written with sorted keys and without null members (a Parquet column that is null
//! and a JSON key that is missing are the same thing), numbers that are whole are written as
//! integers, and there is no white space.

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
    let mut out = vec![0; 2 * bytes.len()];
    for (pair, byte) in out.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&hex_digits(*byte));
    }
    String::from_utf8(out).unwrap_or_default()
}

fn hex_digits(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15]
        .map(|nibble| if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble })
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

/// Appends a JSON string, byte for byte as `serde_json` writes it.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    while !rest.is_empty() {
        let (plain, further) = rest.split_at(plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((&escaped, further)) = further.split_first() else { break };
        write_escape(out, escaped);
        rest = further;
    }
    out.push(b'"');
}

/// How many bytes from the start a JSON string has as they are.
fn plain_prefix(bytes: &[u8]) -> usize {
    const LANES: usize = 16;
    let is_escaped = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    // Without a way out in the middle, so that the compiler compares all lanes at once.
    let has_escaped = |lanes: &[u8]| lanes.iter().fold(false, |has, one| has | is_escaped(one));
    let plain = bytes.chunks_exact(LANES).take_while(|lanes| !has_escaped(lanes)).count() * LANES;
    let (_, rest) = bytes.split_at(plain);
    let mut lanes = [b' '; LANES];
    if let Some(start) = lanes.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
        if !has_escaped(&lanes) {
            return bytes.len();
        }
    }
    plain + rest.iter().position(is_escaped).unwrap_or(rest.len())
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&hex_digits(byte));
        }
    };
    out.extend_from_slice(&[b'\\', short]);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_text(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn texts_are_written_as_serde_json_writes_them(
            text in r#"([ -~]{0,40}|[\x00-\x20"\\/\x7F]{0,3}|[é√😀\u{2028}]{0,9}|.{0,40}){0,6}"#,
        ) {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }

    #[test]
    fn every_byte_that_is_escaped_is_found_wherever_it_stands() {
        for byte in 0..0x80_u8 {
            for at in 0..40 {
                let mut text = vec![b'a'; 40];
                text[at] = byte;
                let text = String::from_utf8(text).unwrap();
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    #[test]
    fn digests_are_written_in_lower_case() {
        assert_eq!(hex(&[0x00, 0x9F, 0xAB, 0xFF]), "009fabff");
    }
}
