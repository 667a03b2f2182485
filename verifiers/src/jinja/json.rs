//! `tojson` as chat templates mean it: as Python writes JSON.

use std::io::{self, Write};

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use serde::Serialize as _;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use super::account;

/// The most spaces of a level.
const INDENT_MAX: usize = 16;

/// `tojson(indent=none)`: nothing is escaped that need not be.
///
/// # Errors
/// A value that is too large as text.
#[expect(clippy::needless_pass_by_value, reason = "the signature that a filter of minijinja has")]
pub fn python_json(value: Value, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let indent = indent.map(|indent| indent.min(INDENT_MAX));
    let weight = account::read(&value)?;
    account::room(weight.printed(indent.unwrap_or(0)))?;
    let mut text = Vec::new();
    let written = match indent {
        Some(indent) => {
            let indent = " ".repeat(indent);
            let format = PrettyFormatter::with_indent(indent.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut text, format))
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut text, Spaced)),
    };
    let refuse = |why: String| Error::new(ErrorKind::BadSerialization, why);
    written.map_err(|error| refuse(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| refuse(error.to_string()))?;
    account::keep(text.len())?;
    Ok(Value::from_safe_string(text))
}

/// One line of JSON, with a space after each comma and each colon.
struct Spaced;

impl Spaced {
    fn next<W: Write + ?Sized>(writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

impl Formatter for Spaced {
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        Self::next(out, first)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        Self::next(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}
