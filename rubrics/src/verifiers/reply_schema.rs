//! The JSON Schema of replies.

use serde_json::{Map, Value, json};

/// An object of these members and no others.
pub(super) fn object(properties: &Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}
