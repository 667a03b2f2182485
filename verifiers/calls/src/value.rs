//! Values of arguments, as the notations of calls write them.

use std::fmt::{self, Write as _};

use serde_json::Value as Json;

/// The deepest nesting of a value that is read.
pub const DEPTH_MAX: usize = 100;

/// A value as a call writes it. Beside JSON it keeps what Python tells apart: tuples, and integers
/// of any size.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `None`.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// The decimal digits of an integer beyond 64 bits, with its sign.
    Big(Box<str>),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A text.
    Text(String),
    /// Text of a tag whose type only the schema of the tool tells: `5` is a number or a text.
    Raw(String),
    /// A list.
    List(Vec<Value>),
    /// A tuple of Python.
    Tuple(Vec<Value>),
    /// An object.
    Object(Object),
}

/// The members of an object in the order of the text. No name comes twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Value)>);

/// Which values are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equality {
    /// As JSON: numbers by value (`1` is `1.0`), a truth value is no number, a tuple is a list.
    Json,
    /// As Python compares: `True` is `1`, a tuple is no list.
    Python,
}

impl Object {
    /// The members, or the first name that comes twice. Sorts; `n log n` in the number of members.
    ///
    /// # Errors
    /// The place of the second member of that name.
    pub fn new(members: Vec<(String, Value)>) -> Result<Self, usize> {
        let name_at = |at: usize| members.get(at).map(|(name, _)| name.as_str());
        let twice = if members.len() <= 8 {
            (1..members.len()).find(|at| (0..*at).any(|earlier| name_at(earlier) == name_at(*at)))
        } else {
            let mut order: Vec<usize> = (0..members.len()).collect();
            order.sort_by_key(|at| (name_at(*at), *at));
            let pairs = order.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
            pairs.filter(|(one, two)| name_at(*one) == name_at(*two)).map(|(_, two)| two).min()
        };
        twice.map_or(Ok(Self(members)), Err)
    }

    /// The member called `name`. Linear in the number of members.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(have, _)| have == name).map(|(_, value)| value)
    }

    /// Takes the member called `name` out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(have, _)| have == name)?;
        Some(self.0.remove(at).1)
    }

    /// Every member, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Value {
    /// The text of a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Raw(text) => Some(text),
            _ => None,
        }
    }

    /// The number as a float. `None` where it is no number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
            Self::Int(number) => Some(*number as f64),
            Self::Big(digits) => digits.parse().ok(),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The elements of a list or a tuple.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) | Self::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// How many values it is made of: what a comparison of it costs, without its texts.
    pub fn size(&self) -> u64 {
        1 + match self {
            Self::List(elements) | Self::Tuple(elements) => elements.iter().map(Self::size).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.size()).sum(),
            Self::Text(text) | Self::Raw(text) => text.len() as u64 / 16,
            _ => 0,
        }
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), ..) => Self::Int(whole),
                (None, Some(whole), _) => Self::Big(whole.to_string().into()),
                (None, None, float) => Self::Float(float.unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::Text(text.clone()),
            Json::Array(elements) => Self::List(elements.iter().map(Self::from).collect()),
            Json::Object(members) => {
                let own = members.iter().map(|(name, value)| (name.clone(), Self::from(value)));
                Self::Object(Object(own.collect()))
            }
        }
    }
}

/// JSON without white space; a tuple is a list, a raw text is a text. Integers of any size keep
/// their digits.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Big(digits) => f.write_str(digits),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) | Self::Raw(text) => write_text(f, text),
            Self::List(elements) | Self::Tuple(elements) => {
                f.write_char('[')?;
                for (at, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if at == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Self::Object(members) => write!(f, "{members}"),
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (at, (name, value)) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            write_text(f, name)?;
            write!(f, ":{value}")?;
        }
        f.write_char('}')
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' | '\\' => write!(f, "\\{char}")?,
            '\n' => f.write_str("\\n")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(char))?,
            char => f.write_char(char)?,
        }
    }
    f.write_char('"')
}
