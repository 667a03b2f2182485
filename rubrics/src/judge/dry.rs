//! The judge that asks nobody: it counts what would be asked.

use std::future;

use assay_verifiers::{Fault, Pending, Usage};
use serde_json::{Map, Value, json};

use super::{Judge, JudgeReply, JudgeRequest};

/// How deep a schema is followed.
const DEPTH_MAX: usize = 32;

/// Items that a list of the least length is filled with, at most.
const ITEMS_MAX: u64 = 100;

/// Bytes of English text that a token stands for.
const TOKEN_BYTES: usize = 4;

/// Answers each question at once with the best values that its schema allows, so that every
/// criterion that depends on another is asked too: true, the last of the choices, the highest
/// number. Usage is an estimate: a token for 4 bytes of the messages, and half of the tokens that a
/// reply may have.
#[derive(Clone, Debug)]
pub struct DryJudge {
    identity: Value,
}

impl DryJudge {
    /// Stands for the judge of this identity.
    pub fn new(identity: Value) -> Self {
        Self { identity }
    }
}

impl Judge for DryJudge {
    fn identity(&self) -> Value {
        self.identity.clone()
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let read = request.bytes().div_ceil(TOKEN_BYTES) as u64;
        let tokens = read + u64::from(request.sampling.tokens_max / 2);
        let text = best(&request.schema, &request.schema, DEPTH_MAX).to_string();
        let usage = Usage { tokens, calls: 1 };
        let reply = JudgeReply { text, usage, finish_reason: "stop".into(), ..Default::default() };
        Box::pin(future::ready(Ok(reply)))
    }
}

/// The best value that `schema`, a part of `root`, allows.
fn best(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    let inner = |schema: &Value| best(schema, root, depth - 1);
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(last) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.last()) {
        return last.clone();
    }
    let pointer =
        schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
    if let Some(found) = pointer.and_then(|pointer| root.pointer(pointer)) {
        return inner(found);
    }
    let choices = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(choices) = choices {
        return choices.iter().map(inner).find(|value| !value.is_null()).unwrap_or_default();
    }
    match type_of(schema) {
        "boolean" => json!(true),
        "integer" | "number" => schema.get("maximum").cloned().unwrap_or(json!(1)),
        "string" => json!(""),
        "array" => items(schema, inner),
        "object" => members(schema, inner),
        _ => Value::Null,
    }
}

fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "",
    }
}

fn items(schema: &Value, inner: impl Fn(&Value) -> Value) -> Value {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
    let item = schema.get("items").map(inner).unwrap_or_default();
    (0..least.min(ITEMS_MAX)).map(|_| item.clone()).collect()
}

fn members(schema: &Value, inner: impl Fn(&Value) -> Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let filled = |(name, schema): (&String, &Value)| (name.clone(), inner(schema));
    Value::Object(
        properties.map(|all| all.iter().map(filled).collect::<Map<_, _>>()).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_values_fill_the_schema() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "boolean"},
            "b": {"enum": ["poor", "good"]},
            "c": {"type": "integer", "minimum": 1, "maximum": 5},
            "d": {"type": ["null", "string"]},
            "e": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/one"}},
            "f": {"anyOf": [{"type": "null"}, {"const": 7}]},
        }, "$defs": {"one": {"type": "number"}}});
        let filled = json!({"a": true, "b": "good", "c": 5, "d": "", "e": [1, 1], "f": 7});
        assert_eq!(best(&schema, &schema, DEPTH_MAX), filled);
    }

    #[test]
    fn a_schema_that_names_itself_ends() {
        let schema = json!({"$ref": "#"});
        assert_eq!(best(&schema, &schema, DEPTH_MAX), Value::Null);
    }
}
