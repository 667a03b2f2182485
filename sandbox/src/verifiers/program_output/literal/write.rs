//! Values as Python writes them, for people to read.

use std::fmt::Write as _;

use crate::rooms::wire::Plain;

/// Bytes after which nothing is added: evidence shows the beginning alone.
const ENOUGH_BYTES: usize = 2000;

/// The value on one line; of a long one, the beginning.
pub(in super::super) fn written(value: &Plain) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Plain, out: &mut String) {
    if out.len() > ENOUGH_BYTES {
        return;
    }
    match value {
        Plain::None => out.push_str("None"),
        Plain::Ellipsis => out.push_str("..."),
        Plain::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
        Plain::Int(value) => out.push_str(&value.to_string()),
        Plain::Float(value) => out.push_str(&float(*value)),
        Plain::Complex(real, imaginary) => {
            let sign = if imaginary.is_sign_negative() { "" } else { "+" };
            let _ = write!(out, "({}{sign}{}j)", float(*real), float(*imaginary));
        }
        Plain::Str(text) => quoted(&String::from_utf8_lossy(text), out),
        Plain::Bytes(bytes) => {
            out.push_str("b'");
            out.push_str(
                &bytes
                    .iter()
                    .take(ENOUGH_BYTES)
                    .copied()
                    .flat_map(std::ascii::escape_default)
                    .map(char::from)
                    .collect::<String>(),
            );
            out.push('\'');
        }
        Plain::List(items) => all(["[", "]"], items, out),
        Plain::Tuple(items) if items.len() == 1 => all(["(", ",)"], items, out),
        Plain::Tuple(items) => all(["(", ")"], items, out),
        Plain::Set(items) if items.is_empty() => out.push_str("set()"),
        Plain::Set(items) => all(["{", "}"], items, out),
        Plain::FrozenSet(items) => all(["frozenset({", "})"], items, out),
        Plain::Dict(pairs) => {
            out.push('{');
            for (index, (key, value)) in pairs.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                write(key, out);
                out.push_str(": ");
                write(value, out);
                if out.len() > ENOUGH_BYTES {
                    break;
                }
            }
            out.push('}');
        }
    }
}

fn all([open, close]: [&str; 2], items: &[Plain], out: &mut String) {
    out.push_str(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write(item, out);
        if out.len() > ENOUGH_BYTES {
            break;
        }
    }
    out.push_str(close);
}

fn float(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars().take(ENOUGH_BYTES) {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}
