//! Values as scripts see them.

use rhai::{Array, Dynamic, Map};
use serde_json::Value;

/// A JSON value as a script sees it. Null becomes `()`; integers beyond 64 bits become floats.
pub fn to_dynamic(value: &Value) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(value) => Dynamic::from(*value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Dynamic::from(integer),
            None => Dynamic::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Dynamic::from(text.clone()),
        Value::Array(values) => Dynamic::from(values.iter().map(to_dynamic).collect::<Array>()),
        Value::Object(members) => Dynamic::from(
            members
                .iter()
                .map(|(key, value)| (key.as_str().into(), to_dynamic(value)))
                .collect::<Map>(),
        ),
    }
}
