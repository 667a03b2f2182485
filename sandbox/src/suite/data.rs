//! Plain data of any language, as tests hold it.

use std::fmt::{self, Write as _};

use num_bigint::BigInt;
use serde_json::{Number, Value};

use super::error::SuiteError;
use super::{BYTES_MAX, DEPTH_MAX, VALUES_MAX};

/// A value that a function is called with or returns: JSON with whole integers, `NaN` and
/// infinities.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Nothing.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Data>),
    /// An object: its members in their order, no key twice.
    Dict(Vec<(String, Data)>),
}

impl Data {
    /// What it is, in words.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::None => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(_) | Self::Float(_) => format!("the number {}", cut(&self.to_string())),
            Self::Text(text) => format!("text {:?}", cut(text)),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Dict(_) => format!("an object with the keys {}", self.keys()),
        }
    }

    /// The keys of an object, for a message.
    pub(super) fn keys(&self) -> String {
        let Self::Dict(members) = self else { return "none".to_owned() };
        let shown: Vec<&str> = members.iter().take(20).map(|(key, _)| key.as_str()).collect();
        if shown.is_empty() { "none".to_owned() } else { cut(&shown.join(", ")) }
    }

    pub(super) fn field(&self, key: &str) -> Option<&Self> {
        let Self::Dict(members) = self else { return None };
        members.iter().find(|(have, _)| have == key).map(|(_, value)| value)
    }
}

/// At most 80 characters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Writes the value as a Python literal, on one line.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Self::Int(value) => value.fmt(f),
            Self::Float(value) if value.is_finite() => write!(f, "{value:?}"),
            Self::Float(value) => write!(f, "float('{value}')"),
            Self::Text(text) => write_text(text, f),
            Self::List(items) => {
                f.write_char('[')?;
                write_joined(items, f, fmt::Display::fmt)?;
                f.write_char(']')
            }
            Self::Dict(members) => {
                f.write_char('{')?;
                write_joined(members, f, |(key, value), f| {
                    write_text(key, f)?;
                    write!(f, ": {value}")
                })?;
                f.write_char('}')
            }
        }
    }
}

fn write_joined<T>(
    items: &[T],
    f: &mut fmt::Formatter<'_>,
    write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(index, item)| {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write(item, f)
    })
}

fn write_text(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// Counts what is read, so that no suite takes all memory.
#[derive(Default)]
pub(super) struct Size {
    values: usize,
    bytes: usize,
}

impl Size {
    pub(super) fn add(&mut self, bytes: usize, key: &str) -> Result<(), SuiteError> {
        self.values += 1;
        self.bytes += bytes;
        let key = || key.to_owned();
        if self.values > VALUES_MAX {
            let (what, found, limit) = ("values", self.values, VALUES_MAX);
            return Err(SuiteError::TooMuch { key: key(), what, found, limit });
        }
        if self.bytes > BYTES_MAX {
            let (what, found, limit) = ("bytes", self.bytes, BYTES_MAX);
            return Err(SuiteError::TooMuch { key: key(), what, found, limit });
        }
        Ok(())
    }
}

/// The data in a value that was read already.
pub(super) fn from_value(value: &Value) -> Result<Data, SuiteError> {
    Reader::default().read(value)
}

#[derive(Default)]
struct Reader {
    size: Size,
    /// The keys and indices that lead to the value at hand.
    path: Vec<String>,
}

impl Reader {
    fn read(&mut self, value: &Value) -> Result<Data, SuiteError> {
        self.size.add(value.as_str().map_or(0, str::len), "")?;
        if self.path.len() > DEPTH_MAX {
            let why = format!("nests deeper than {DEPTH_MAX}");
            return Err(SuiteError::Refused { key: self.key(), why });
        }
        match value {
            Value::Null => Ok(Data::None),
            Value::Bool(value) => Ok(Data::Bool(*value)),
            Value::Number(number) => self.number(number),
            Value::String(text) => Ok(Data::Text(text.clone())),
            Value::Array(values) => self.list(values),
            Value::Object(members) => {
                let read = |(key, value): (&String, &Value)| {
                    self.path.push(format!(".{key}"));
                    let member = (key.clone(), self.read(value)?);
                    self.path.pop();
                    Ok(member)
                };
                Ok(Data::Dict(members.iter().map(read).collect::<Result<_, _>>()?))
            }
        }
    }

    fn list(&mut self, values: &[Value]) -> Result<Data, SuiteError> {
        let read = |(index, value)| {
            self.path.push(format!("[{index}]"));
            let item = self.read(value)?;
            self.path.pop();
            Ok(item)
        };
        Ok(Data::List(values.iter().enumerate().map(read).collect::<Result<_, _>>()?))
    }

    /// A whole number beyond 64 bits was read as a float: its digits are gone, and nothing tells
    /// it from one that was a float from the start.
    fn number(&self, number: &Number) -> Result<Data, SuiteError> {
        const LOST: (f64, f64) = (-9_223_372_036_854_775_808.0, 18_446_744_073_709_551_616.0);
        let whole = number.as_i64().map(BigInt::from).or(number.as_u64().map(BigInt::from));
        match (whole, number.as_f64()) {
            (Some(whole), _) => Ok(Data::Int(whole)),
            (None, Some(float)) if LOST.0 < float && float < LOST.1 => Ok(Data::Float(float)),
            _ => Err(SuiteError::Refused {
                key: self.key(),
                why: format!(
                    "the number {number} may have lost digits, as it is beyond 64 bits; give the \
                     tests as JSON text, in which integers of any size are kept"
                ),
            }),
        }
    }

    fn key(&self) -> String {
        self.path.concat().trim_start_matches('.').to_owned()
    }
}
