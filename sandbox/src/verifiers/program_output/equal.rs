//! When two values are the same.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use num_bigint::BigInt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::literal::{self, Words};
use crate::rooms::whole;
use crate::rooms::wire::Plain;

/// When a value is right. The order of dictionaries and sets never matters, `-0.0` is `0.0`, and
/// `nan` is `nan`: whoever predicts it is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Equality {
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
    pub(super) fn holds(self, one: &Plain, other: &Plain) -> bool {
        match self {
            Self::Strict => Normal::of(one, Numbers::Apart) == Normal::of(other, Numbers::Apart),
            Self::Python => joined(one) == joined(other),
            Self::Lenient => close(one, other),
        }
    }
}

/// A value in the one form that all equal values share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Normal {
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

fn joined(value: &Plain) -> Normal {
    Normal::of(value, Numbers::Joined)
}

impl Normal {
    fn of(value: &Plain, numbers: Numbers) -> Self {
        let all = |items: &[Plain]| items.iter().map(|item| Self::of(item, numbers)).collect();
        let members = |items: &[Plain]| {
            let mut members = BTreeMap::new();
            for item in items {
                members.entry(joined(item)).or_insert_with(|| Self::of(item, numbers));
            }
            members
        };
        match value {
            Plain::Ellipsis => Self::Ellipsis,
            Plain::None => Self::None,
            Plain::Bool(value) if numbers == Numbers::Joined => {
                Self::Int(BigInt::from(u8::from(*value)))
            }
            Plain::Bool(value) => Self::Bool(*value),
            Plain::Int(value) => Self::Int(value.clone()),
            Plain::Float(value) if numbers == Numbers::Joined && is_whole(*value) => {
                Self::Int(whole(*value))
            }
            Plain::Float(value) => Self::Float(bits(*value)),
            Plain::Complex(real, imaginary) if numbers == Numbers::Joined && *imaginary == 0.0 => {
                joined(&Plain::Float(*real))
            }
            Plain::Complex(real, imaginary) => Self::Complex(bits(*real), bits(*imaginary)),
            Plain::Str(text) => Self::Str(text.clone()),
            Plain::Bytes(bytes) => Self::Bytes(bytes.clone()),
            Plain::List(items) => Self::List(all(items)),
            Plain::Tuple(items) => Self::Tuple(all(items)),
            Plain::FrozenSet(items) if numbers == Numbers::Apart => Self::FrozenSet(members(items)),
            Plain::Set(items) | Plain::FrozenSet(items) => Self::Set(members(items)),
            Plain::Dict(pairs) => {
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
                Self::Dict(members)
            }
        }
    }
}

fn is_whole(value: f64) -> bool {
    value.is_finite() && value.fract() == 0.0
}

/// Its bits, with one zero and one that is no number.
fn bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

fn close(one: &Plain, other: &Plain) -> bool {
    match (one, other) {
        (Plain::List(one) | Plain::Tuple(one), Plain::List(other) | Plain::Tuple(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| close(one, other))
        }
        (Plain::Dict(one), Plain::Dict(other)) => {
            let (one, other) = (by_key(one), by_key(other));
            one.len() == other.len()
                && one.iter().zip(&other).all(|((key, value), (other_key, other_value))| {
                    key == other_key && close(value, other_value)
                })
        }
        (Plain::Str(text), value) | (value, Plain::Str(text))
            if !matches!(value, Plain::Str(_)) =>
        {
            said(text, value).is_some_and(|said| close(&said, value))
        }
        (Plain::Float(_), Plain::Float(_) | Plain::Int(_)) | (Plain::Int(_), Plain::Float(_)) => {
            let (Some(a), Some(b)) = (float(one), float(other)) else { return false };
            let scale = a.abs().max(b.abs()).max(1.0);
            let near = scale.is_finite() && (a - b).abs() <= TOLERANCE * scale;
            near || joined(one) == joined(other)
        }
        _ => joined(one) == joined(other),
    }
}

fn by_key(pairs: &[(Plain, Plain)]) -> BTreeMap<Normal, &Plain> {
    pairs.iter().map(|(key, value)| (joined(key), value)).collect()
}

/// What a text says, where it says a value of this kind.
fn said(text: &[u8], value: &Plain) -> Option<Plain> {
    let text = std::str::from_utf8(text).ok()?;
    let said = match value {
        Plain::Bool(_) => literal::read(&text.to_ascii_lowercase(), Words::Json).ok()?,
        Plain::List(_) | Plain::Tuple(_) | Plain::Dict(_) => {
            literal::read(text, Words::Json).ok()?
        }
        _ => return None,
    };
    (!matches!(said, Plain::Str(_))).then_some(said)
}

fn float(value: &Plain) -> Option<f64> {
    match value {
        Plain::Float(value) => Some(*value),
        Plain::Int(value) => value.to_string().parse().ok(),
        _ => None,
    }
}
