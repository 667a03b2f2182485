//! When two values are the same, decided on the host.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use num_bigint::{BigInt, Sign};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PyValue;
use super::literal::{self, Words};

/// When a value is right. The order of dictionaries and sets never matters, `-0.0` is `0.0`, and
/// `nan` is `nan`: a prediction of it is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Equality {
    /// Of the same types, all through: `1`, `1.0` and `True` differ, and so do lists and tuples.
    #[default]
    Strict,
    /// As `==` of Python: `1 == 1.0 == True`.
    Python,
    /// Also numbers within 1e-6 (of 1, or of the value), lists for tuples, and `"true"` or the
    /// JSON text of a list or an object for what it says.
    Lenient,
}

/// How far lenient numbers may be apart.
const TOLERANCE: f64 = 1e-6;

impl Equality {
    /// Whether both are the same value.
    pub(crate) fn holds(self, one: &PyValue, other: &PyValue) -> bool {
        match self {
            Self::Strict => Normal::of(one, Numbers::Apart) == Normal::of(other, Numbers::Apart),
            Self::Python => joined(one) == joined(other),
            Self::Lenient => close(one, other),
        }
    }
}

/// Whether a value is what JSON data asks for, which has no tuples, and no keys but text: a tuple
/// equals a list, and a key its text. Numbers are equal as in Python, floats within `tolerance`
/// where one is given; what is not a number equals nothing.
pub fn equal_json(got: &PyValue, wanted: &PyValue, tolerance: Option<f64>) -> bool {
    match (got, wanted) {
        (
            PyValue::List(got) | PyValue::Tuple(got),
            PyValue::List(wanted) | PyValue::Tuple(wanted),
        ) => {
            let mut pairs = got.iter().zip(wanted);
            got.len() == wanted.len()
                && pairs.all(|(got, wanted)| equal_json(got, wanted, tolerance))
        }
        (PyValue::Dict(got), PyValue::Dict(wanted)) => {
            let (Some(got), Some(wanted)) = (json_members(got), json_members(wanted)) else {
                return false;
            };
            let mut pairs = got.iter().zip(&wanted);
            got.len() == wanted.len()
                && pairs.all(|((key, got), (wanted_key, wanted))| {
                    key == wanted_key && equal_json(got, wanted, tolerance)
                })
        }
        (PyValue::Float(_), _) | (_, PyValue::Float(_)) if let Some(tolerance) = tolerance => {
            let floats = got.to_float().zip(wanted.to_float());
            floats.is_some_and(|(got, wanted)| {
                (got - wanted).abs() <= tolerance * wanted.abs().max(1.0)
            })
        }
        _ => got == wanted || !has_nan(got) && joined(got) == joined(wanted),
    }
}

/// Members by their keys in JSON; none where two keys are the same there.
fn json_members(pairs: &[(PyValue, PyValue)]) -> Option<BTreeMap<Vec<u8>, &PyValue>> {
    let mut members = BTreeMap::new();
    for (key, value) in pairs {
        let key = match key {
            PyValue::Str(text) => text.clone(),
            PyValue::Int(number) => number.to_string().into_bytes(),
            PyValue::Float(number) => format!("{number:?}").into_bytes(),
            PyValue::Bool(value) => value.to_string().into_bytes(),
            PyValue::None => b"null".to_vec(),
            _ => return None,
        };
        if members.insert(key, value).is_some() {
            return None;
        }
    }
    Some(members)
}

/// Whether a value without a list or a dictionary holds what is not a number.
fn has_nan(value: &PyValue) -> bool {
    match value {
        PyValue::Float(value) => value.is_nan(),
        PyValue::Complex(real, imaginary) => real.is_nan() || imaginary.is_nan(),
        PyValue::Tuple(items) | PyValue::Set(items) | PyValue::FrozenSet(items) => {
            items.iter().any(has_nan)
        }
        _ => false,
    }
}

/// A value in the one form that all equal values share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Normal {
    Ellipsis,
    None,
    Bool(bool),
    Int(BigInt),
    Float(u64),
    Complex(u64, u64),
    Str(Vec<u8>),
    Bytes(Vec<u8>),
    List(Vec<Normal>),
    Tuple(Vec<Normal>),
    /// As Python keeps members: the first of those that `==` each other.
    Set(BTreeMap<Normal, Normal>),
    FrozenSet(BTreeMap<Normal, Normal>),
    /// The first of equal keys, and the last of their values.
    Dict(BTreeMap<Normal, (Normal, Normal)>),
}

/// Whether numbers of different types may be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Apart,
    Joined,
}

pub(super) fn joined(value: &PyValue) -> Normal {
    Normal::of(value, Numbers::Joined)
}

impl Normal {
    fn of(value: &PyValue, numbers: Numbers) -> Self {
        let all = |items: &[PyValue]| items.iter().map(|item| Self::of(item, numbers)).collect();
        match value {
            PyValue::Ellipsis => Self::Ellipsis,
            PyValue::None => Self::None,
            PyValue::Bool(value) if numbers == Numbers::Joined => {
                Self::Int(BigInt::from(u8::from(*value)))
            }
            PyValue::Bool(value) => Self::Bool(*value),
            PyValue::Int(value) => Self::Int(value.clone()),
            PyValue::Float(value) if numbers == Numbers::Joined && is_whole(*value) => {
                Self::Int(whole(*value))
            }
            PyValue::Float(value) => Self::Float(bits(*value)),
            PyValue::Complex(real, imaginary)
                if numbers == Numbers::Joined && *imaginary == 0.0 =>
            {
                joined(&PyValue::Float(*real))
            }
            PyValue::Complex(real, imaginary) => Self::Complex(bits(*real), bits(*imaginary)),
            PyValue::Str(text) => Self::Str(text.clone()),
            PyValue::Bytes(bytes) => Self::Bytes(bytes.clone()),
            PyValue::List(items) => Self::List(all(items)),
            PyValue::Tuple(items) => Self::Tuple(all(items)),
            PyValue::FrozenSet(items) if numbers == Numbers::Apart => {
                Self::FrozenSet(Self::members(items, numbers))
            }
            PyValue::Set(items) | PyValue::FrozenSet(items) => {
                Self::Set(Self::members(items, numbers))
            }
            PyValue::Dict(pairs) => Self::Dict(Self::pairs(pairs, numbers)),
        }
    }

    fn members(items: &[PyValue], numbers: Numbers) -> BTreeMap<Self, Self> {
        let mut members = BTreeMap::new();
        for item in items {
            members.entry(joined(item)).or_insert_with(|| Self::of(item, numbers));
        }
        members
    }

    fn pairs(pairs: &[(PyValue, PyValue)], numbers: Numbers) -> BTreeMap<Self, (Self, Self)> {
        let mut members: BTreeMap<Self, (Self, Self)> = BTreeMap::new();
        for (key, value) in pairs {
            let value = Self::of(value, numbers);
            match members.entry(joined(key)) {
                Entry::Occupied(mut member) => member.get_mut().1 = value,
                Entry::Vacant(place) => {
                    place.insert((Self::of(key, numbers), value));
                }
            }
        }
        members
    }
}

fn is_whole(value: f64) -> bool {
    value.is_finite() && value.fract() == 0.0
}

/// The integer that a float without a fraction is.
fn whole(value: f64) -> BigInt {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    if exponent < 1023 {
        return BigInt::ZERO;
    }
    let mantissa = BigInt::from(fraction | 1 << 52);
    // Without a fraction, what is shifted out is zeros.
    let magnitude = match exponent.checked_sub(1075) {
        Some(left) => mantissa << left,
        None => mantissa >> (1075 - exponent),
    };
    let sign = if value < 0.0 { Sign::Minus } else { Sign::Plus };
    BigInt::from_biguint(sign, magnitude.magnitude().clone())
}

/// Its bits, with one zero and one that is not a number.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

fn close(one: &PyValue, other: &PyValue) -> bool {
    match (one, other) {
        (
            PyValue::List(one) | PyValue::Tuple(one),
            PyValue::List(other) | PyValue::Tuple(other),
        ) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| close(one, other))
        }
        (PyValue::Dict(one), PyValue::Dict(other)) => {
            let (one, other) = (by_key(one), by_key(other));
            one.len() == other.len()
                && one.iter().zip(&other).all(|((key, value), (other_key, other_value))| {
                    key == other_key && close(value, other_value)
                })
        }
        (PyValue::Str(text), value) | (value, PyValue::Str(text))
            if !matches!(value, PyValue::Str(_)) =>
        {
            said(text, value).is_some_and(|said| close(&said, value))
        }
        (PyValue::Float(_), PyValue::Float(_) | PyValue::Int(_))
        | (PyValue::Int(_), PyValue::Float(_)) => {
            let (Some(a), Some(b)) = (one.to_float(), other.to_float()) else { return false };
            let scale = a.abs().max(b.abs()).max(1.0);
            let near = scale.is_finite() && (a - b).abs() <= TOLERANCE * scale;
            near || joined(one) == joined(other)
        }
        _ => joined(one) == joined(other),
    }
}

fn by_key(pairs: &[(PyValue, PyValue)]) -> BTreeMap<Normal, &PyValue> {
    pairs.iter().map(|(key, value)| (joined(key), value)).collect()
}

/// What a text says, where it says a value of this kind.
fn said(text: &[u8], value: &PyValue) -> Option<PyValue> {
    let text = std::str::from_utf8(text).ok()?;
    let said = match value {
        PyValue::Bool(_) => literal::read(&text.to_ascii_lowercase(), Words::Json).ok()?,
        PyValue::List(_) | PyValue::Tuple(_) | PyValue::Dict(_) => {
            literal::read(text, Words::Json).ok()?
        }
        _ => return None,
    };
    (!matches!(said, PyValue::Str(_))).then_some(said)
}

#[cfg(test)]
mod tests;
