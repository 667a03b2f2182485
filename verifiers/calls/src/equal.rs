//! Whether a value of a call is one of JSON.

use serde_json::Value as Json;

use crate::value::{Equality, Value};
use crate::{json, python};

impl Value {
    /// Whether the value equals one of JSON. Linear in the smaller of the two, but for objects:
    /// there each name is looked up.
    pub fn is(&self, other: &Json, how: Equality) -> bool {
        match (self, other) {
            (Self::Null, Json::Null) => true,
            (Self::Bool(one), Json::Bool(two)) => one == two,
            (Self::Bool(one), Json::Number(_)) if how == Equality::Python => {
                Self::Int(i64::from(*one)).is(other, how)
            }
            (number, Json::Bool(two)) if how == Equality::Python => {
                number.as_f64() == Some(f64::from(u8::from(*two)))
            }
            (Self::Int(one), Json::Number(two)) => two.as_i64().map_or_else(
                || two.is_f64() && two.as_f64().is_some_and(|two| is_whole(*one, two)),
                |two| *one == two,
            ),
            (Self::Big(one), Json::Number(two)) => two.as_u64().map_or_else(
                || two.is_f64() && one.parse::<f64>().ok() == two.as_f64(),
                |two| one.parse() == Ok(two),
            ),
            (Self::Float(one), Json::Number(two)) => match two.as_i64() {
                Some(two) => is_whole(two, *one),
                None => two.as_f64() == Some(*one),
            },
            (Self::Text(one), Json::String(two)) => one == two,
            (Self::Raw(one), Json::String(two)) if one == two => true,
            (Self::Raw(raw), other) => typed(raw)
                .is_some_and(|value| !matches!(value, Self::Raw(_)) && value.is(other, how)),
            (Self::Tuple(_), Json::Array(_)) if how == Equality::Python => false,
            (Self::List(one) | Self::Tuple(one), Json::Array(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is(two, how))
            }
            (Self::Object(one), Json::Object(two)) => {
                let has = |(name, value): (&str, &Self)| {
                    two.get(name).is_some_and(|other| value.is(other, how))
                };
                one.len() == two.len() && one.iter().all(has)
            }
            _ => false,
        }
    }
}

/// What a raw text says where it is JSON, or a literal of Python.
pub(crate) fn typed(raw: &str) -> Option<Value> {
    match raw.trim() {
        "True" => Some(Value::Bool(true)),
        "False" => Some(Value::Bool(false)),
        "None" => Some(Value::Null),
        text => json::parse(text).or_else(|_| python::literal(text)).ok(),
    }
}

/// Whether a float is this very integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond saturates, and equals no `i64`"
)]
fn is_whole(whole: i64, float: f64) -> bool {
    float.fract() == 0.0 && float as i128 == i128::from(whole)
}
