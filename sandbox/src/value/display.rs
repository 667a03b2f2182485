//! Values as Python writes them, for people to read.

use std::fmt::{self, Display, Formatter, Write};

use super::PyValue;

/// Writes the value on one line. The alternate form (`{:#}`) is an expression also for infinities
/// and for what is not a number, which have no literal.
impl Display for PyValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Ellipsis => f.write_str("..."),
            Self::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) if f.alternate() && !value.is_finite() => {
                write!(f, "float('{value}')")
            }
            Self::Float(value) => float(*value, f),
            Self::Complex(real, imaginary) => {
                f.write_char('(')?;
                float(*real, f)?;
                f.write_str(if imaginary.is_sign_negative() { "" } else { "+" })?;
                float(*imaginary, f)?;
                f.write_str("j)")
            }
            Self::Str(text) => quoted(&String::from_utf8_lossy(text), f),
            Self::Bytes(bytes) => write!(f, "b'{}'", bytes.escape_ascii()),
            Self::List(items) => joined(["[", "]"], items, f, Self::fmt),
            Self::Tuple(items) if items.len() == 1 => joined(["(", ",)"], items, f, Self::fmt),
            Self::Tuple(items) => joined(["(", ")"], items, f, Self::fmt),
            Self::Set(items) if items.is_empty() => f.write_str("set()"),
            Self::Set(items) => joined(["{", "}"], items, f, Self::fmt),
            Self::FrozenSet(items) => joined(["frozenset({", "})"], items, f, Self::fmt),
            Self::Dict(pairs) => joined(["{", "}"], pairs, f, |(key, value), f| {
                key.fmt(f)?;
                f.write_str(": ")?;
                value.fmt(f)
            }),
        }
    }
}

/// The beginning of what is shown, and a mark where more was left out.
pub(crate) fn truncated(shown: impl Display, chars_max: usize) -> String {
    let mut out = Truncated { text: String::new(), chars_left: chars_max };
    if write!(out, "{shown}").is_err() {
        out.text.push('…');
    }
    out.text
}

/// Refuses to go on once it is full, so that no more is written than is shown.
struct Truncated {
    text: String,
    chars_left: usize,
}

impl Write for Truncated {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.char_indices().nth(self.chars_left).map(|(at, _)| at);
        self.text.push_str(end.map_or(text, |end| &text[..end]));
        self.chars_left -= if end.is_none() { text.chars().count() } else { self.chars_left };
        if end.is_none() { Ok(()) } else { Err(fmt::Error) }
    }
}

fn joined<T>(
    [open, close]: [&str; 2],
    items: &[T],
    f: &mut Formatter<'_>,
    write: impl Fn(&T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write(item, f)?;
    }
    f.write_str(close)
}

fn float(value: f64, f: &mut Formatter<'_>) -> fmt::Result {
    if value.is_nan() { f.write_str("nan") } else { f.write_str(&format!("{value:?}")) }
}

fn quoted(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}
