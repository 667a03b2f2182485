//! JSON values as Python has them.

use num_bigint::BigInt;
use serde_json::Value;

use super::PyValue;

/// A JSON value as Python reads it. Numbers without a fraction or exponent are integers.
pub fn from_json(value: &Value) -> PyValue {
    match value {
        Value::Null => PyValue::None,
        Value::Bool(value) => PyValue::Bool(*value),
        Value::Number(number) => number
            .as_i64()
            .map(BigInt::from)
            .or_else(|| number.as_u64().map(BigInt::from))
            .map_or_else(|| PyValue::Float(number.as_f64().unwrap_or(f64::NAN)), PyValue::Int),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => PyValue::List(items.iter().map(from_json).collect()),
        Value::Object(members) => {
            PyValue::dict(members.iter().map(|(key, value)| (key.as_str(), from_json(value))))
        }
    }
}
