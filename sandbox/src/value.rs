//! Plain Python data: what programs are called with, what they return, and what crosses between
//! the two sides of a test. One type with one display; each module reads or compares one form.

mod display;
mod equal;
mod json;
pub(crate) mod literal;
pub mod marshal;
mod order;

use num_bigint::BigInt;

pub(crate) use display::truncated;
pub(crate) use equal::Equality;
pub use equal::equal_json;
pub use json::from_json;
pub use order::AnswerOrder;

/// A plain value.
#[derive(Clone, Debug, PartialEq)]
pub enum PyValue {
    /// `None`
    None,
    /// `...`, which marks what is not plain.
    Ellipsis,
    /// `True` or `False`
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// Text, in UTF-8 that may hold lone surrogates.
    Str(Vec<u8>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<PyValue>),
    /// A tuple.
    Tuple(Vec<PyValue>),
    /// A dictionary, in its order.
    Dict(Vec<(PyValue, PyValue)>),
    /// A set, in the order in which it was sent.
    Set(Vec<PyValue>),
    /// A frozen set, likewise.
    FrozenSet(Vec<PyValue>),
}

/// The arguments of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// By position.
    pub args: Vec<PyValue>,
    /// By name.
    pub kwargs: Vec<(String, PyValue)>,
}

impl Arguments {
    /// The first one.
    pub(crate) fn first(&self) -> Option<&PyValue> {
        self.args.first().or_else(|| self.kwargs.first().map(|(_, value)| value))
    }
}

impl From<&str> for PyValue {
    fn from(text: &str) -> Self {
        Self::Str(text.as_bytes().to_vec())
    }
}

impl From<Option<&str>> for PyValue {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::None, Self::from)
    }
}

impl PyValue {
    /// A dictionary with names as keys.
    pub(crate) fn dict<'a>(members: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Dict(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// The text of a string; `None` for lone surrogates and for other values.
    pub(crate) fn as_str(&self) -> Option<&str> {
        let Self::Str(text) = self else { return None };
        std::str::from_utf8(text).ok()
    }

    /// The text of a string, with a replacement for lone surrogates.
    pub(crate) fn to_text(&self) -> Option<String> {
        let Self::Str(text) = self else { return None };
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// A float or an integer as a float.
    pub(crate) fn to_float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            Self::Int(value) => value.to_string().parse().ok(),
            _ => None,
        }
    }

    /// The first member of a dictionary under this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Dict(members) = self else { return None };
        let is = |key: &Self| matches!(key, Self::Str(text) if text == name.as_bytes());
        members.iter().find(|(key, _)| is(key)).map(|(_, value)| value)
    }
}
