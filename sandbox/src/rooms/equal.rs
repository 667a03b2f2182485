//! `==` of Python on plain values, decided on the host.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::{BigInt, Sign};
use serde_json::Value;

use super::wire::Plain;

/// Which containers may equal each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Containers {
    /// A list equals a list, a tuple a tuple.
    #[default]
    Exact,
    /// A tuple equals a list of the same members, and a key its text: the expected value is JSON,
    /// which has no tuples, and no keys but text.
    Json,
}

/// Whether both are equal as Python has it: `2 == 2.0 == True`, and what is not a number equals
/// nothing, itself included.
pub fn plain_equal(one: &Plain, other: &Plain, containers: Containers) -> bool {
    if let (Some(one), Some(other)) = (Number::of(one), Number::of(other)) {
        return one == other && !one.is_nan();
    }
    match (one, other) {
        (Plain::None, Plain::None) | (Plain::Ellipsis, Plain::Ellipsis) => true,
        (Plain::Str(one), Plain::Str(other)) | (Plain::Bytes(one), Plain::Bytes(other)) => {
            one == other
        }
        (Plain::List(one), Plain::List(other)) | (Plain::Tuple(one), Plain::Tuple(other)) => {
            all_equal(one, other, containers)
        }
        (Plain::List(one), Plain::Tuple(other)) | (Plain::Tuple(one), Plain::List(other)) => {
            containers == Containers::Json && all_equal(one, other, containers)
        }
        (Plain::Set(one) | Plain::FrozenSet(one), Plain::Set(other) | Plain::FrozenSet(other)) => {
            keys(one).is_some_and(|one| Some(one) == keys(other))
        }
        (Plain::Dict(one), Plain::Dict(other)) => dicts_equal(one, other, containers),
        _ => false,
    }
}

/// A JSON value as the guest has it. Numbers without a fraction or exponent are integers.
pub fn from_json(value: &Value) -> Plain {
    match value {
        Value::Null => Plain::None,
        Value::Bool(value) => Plain::Bool(*value),
        Value::Number(number) => number
            .as_i64()
            .map(BigInt::from)
            .or_else(|| number.as_u64().map(BigInt::from))
            .map_or_else(|| Plain::Float(number.as_f64().unwrap_or(f64::NAN)), Plain::Int),
        Value::String(text) => Plain::Str(text.as_bytes().to_vec()),
        Value::Array(items) => Plain::List(items.iter().map(from_json).collect()),
        Value::Object(members) => Plain::Dict(
            members
                .iter()
                .map(|(key, value)| (Plain::Str(key.as_bytes().to_vec()), from_json(value)))
                .collect(),
        ),
    }
}

fn all_equal(one: &[Plain], other: &[Plain], containers: Containers) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| plain_equal(one, other, containers))
}

fn dicts_equal(one: &[(Plain, Plain)], other: &[(Plain, Plain)], containers: Containers) -> bool {
    if containers == Containers::Json {
        let equal = |one: &Plain, other: &Plain| plain_equal(one, other, containers);
        return json_dicts_equal(one, other, equal);
    }
    let (Some(one), Some(other)) = (members(one), members(other)) else { return false };
    one.len() == other.len()
        && one.iter().zip(&other).all(|((key, value), (other_key, other_value))| {
            key == other_key && plain_equal(value, other_value, containers)
        })
}

/// Whether both have the same keys, as JSON writes them, with equal members.
pub(crate) fn json_dicts_equal(
    one: &[(Plain, Plain)],
    other: &[(Plain, Plain)],
    equal: impl Fn(&Plain, &Plain) -> bool,
) -> bool {
    let (Some(one), Some(other)) = (json_members(one), json_members(other)) else { return false };
    one.len() == other.len()
        && one
            .iter()
            .zip(&other)
            .all(|((key, one), (other_key, other))| key == other_key && equal(one, other))
}

/// Members by their keys in JSON; none where two keys are the same there.
fn json_members(pairs: &[(Plain, Plain)]) -> Option<BTreeMap<Vec<u8>, &Plain>> {
    let mut members = BTreeMap::new();
    for (key, value) in pairs {
        let key = match key {
            Plain::Str(text) => text.clone(),
            Plain::Int(number) => number.to_string().into_bytes(),
            Plain::Float(number) => format!("{number:?}").into_bytes(),
            Plain::Bool(value) => value.to_string().into_bytes(),
            Plain::None => b"null".to_vec(),
            _ => return None,
        };
        if members.insert(key, value).is_some() {
            return None;
        }
    }
    Some(members)
}

/// Members by key; a later one replaces an earlier one, as the guest's dictionary has it.
fn members(pairs: &[(Plain, Plain)]) -> Option<BTreeMap<Key, &Plain>> {
    pairs.iter().map(|(key, value)| Some((Key::of(key)?, value))).collect()
}

fn keys(items: &[Plain]) -> Option<BTreeSet<Key>> {
    items.iter().map(Key::of).collect()
}

/// A value with a hash, so that equal values have equal keys. What is not a number has none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Ellipsis,
    None,
    Number(Number),
    Str(Vec<u8>),
    Bytes(Vec<u8>),
    Tuple(Vec<Key>),
    Set(BTreeSet<Key>),
}

impl Key {
    fn of(value: &Plain) -> Option<Self> {
        if let Some(number) = Number::of(value) {
            return (!number.is_nan()).then_some(Self::Number(number));
        }
        match value {
            Plain::Ellipsis => Some(Self::Ellipsis),
            Plain::None => Some(Self::None),
            Plain::Str(text) => Some(Self::Str(text.clone())),
            Plain::Bytes(bytes) => Some(Self::Bytes(bytes.clone())),
            Plain::Tuple(items) => {
                items.iter().map(Self::of).collect::<Option<_>>().map(Self::Tuple)
            }
            Plain::FrozenSet(items) => keys(items).map(Self::Set),
            _ => None,
        }
    }
}

/// A number in the one form that all equal numbers share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    /// An integer, also one that is written as a float.
    Int(BigInt),
    /// Bits of another float.
    Float(u64),
    /// Both parts of a complex number that is not real.
    Complex(Box<Number>, Box<Number>),
    Nan,
}

impl Number {
    fn of(value: &Plain) -> Option<Self> {
        match value {
            Plain::Bool(value) => Some(Self::Int(BigInt::from(u8::from(*value)))),
            Plain::Int(value) => Some(Self::Int(value.clone())),
            Plain::Float(value) => Some(Self::float(*value)),
            Plain::Complex(real, imaginary) => {
                let (real, imaginary) = (Self::float(*real), Self::float(*imaginary));
                Some(match (real, imaginary) {
                    (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
                    (real, Self::Int(zero)) if zero == BigInt::ZERO => real,
                    (real, imaginary) => Self::Complex(Box::new(real), Box::new(imaginary)),
                })
            }
            _ => None,
        }
    }

    fn float(value: f64) -> Self {
        if value.is_nan() {
            return Self::Nan;
        }
        if !value.is_finite() || value.fract() != 0.0 {
            return Self::Float(value.to_bits());
        }
        Self::Int(whole(value))
    }

    fn is_nan(&self) -> bool {
        matches!(self, Self::Nan)
    }
}

/// The integer that a float without a fraction is.
pub(crate) fn whole(value: f64) -> BigInt {
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

#[cfg(test)]
mod tests;
