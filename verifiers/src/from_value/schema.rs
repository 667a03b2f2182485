//! What a JSON Schema takes in a place of a value.

use serde_json::{Map, Value};

/// How deep kinds are in kinds.
const DEPTH_MAX: usize = 8;

/// What is taken at a path: words, or types with their bounds. Empty where the schema does not say.
pub(super) fn taken(schema: &Value, value: &Value, path: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(node) = node(schema, value, path) {
        add_taken(schema, node, &mut all, 0);
    }
    all
}

/// Whether the setting at a path is a regular expression.
pub(super) fn is_pattern(schema: &Value, value: &Value, path: &[&str]) -> bool {
    let node = node(schema, value, path).map(|node| resolved(schema, node));
    node.and_then(|node| node.get("format")).and_then(Value::as_str) == Some("regex")
}

/// The keys of the table at a path; `None` where it is none, or takes any key.
pub fn properties(schema: &Value, value: &Value, path: &[&str]) -> Option<Vec<String>> {
    let table = node(schema, value, path)?;
    let found = value_at(value, path);
    let mut keys = Vec::new();
    add_keys(schema, table, found, &mut keys, 0);
    (!keys.is_empty()).then_some(keys)
}

fn value_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, step| match at {
        Value::Array(values) => values.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

/// The schema of the value at a path.
fn node<'a>(schema: &'a Value, value: &Value, path: &[&str]) -> Option<&'a Value> {
    let mut at = schema;
    for (depth, step) in path.iter().enumerate() {
        let found = value_at(value, path.get(..depth)?);
        at = below(schema, at, found, step, 0)?;
    }
    Some(at)
}

/// The schema of a member or an element.
fn below<'a>(
    schema: &'a Value,
    node: &'a Value,
    value: Option<&Value>,
    step: &str,
    depth: usize,
) -> Option<&'a Value> {
    let node = resolved(schema, node);
    let own = node.get("properties").and_then(|members| members.get(step));
    let kinds = || {
        let mut kinds = kinds(schema, node, value).into_iter().filter(|_| depth < DEPTH_MAX);
        kinds.find_map(|kind| below(schema, kind, value, step, depth + 1))
    };
    let is_index = step.bytes().all(|byte| byte.is_ascii_digit());
    let elements = || {
        let at = step.parse::<usize>().ok()?;
        let listed = node.get("prefixItems").and_then(|items| items.get(at));
        listed.or_else(|| node.get("items")).filter(|_| is_index)
    };
    let others = || node.get("additionalProperties").filter(|other| other.is_object());
    own.or_else(elements).or_else(kinds).or_else(others)
}

fn resolved<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    let place = node.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
    place.and_then(|place| schema.pointer(place)).unwrap_or(node)
}

fn alternatives<'a>(schema: &'a Value, node: &'a Value) -> Vec<&'a Value> {
    let names = ["oneOf", "anyOf", "allOf"].into_iter();
    let kinds = names.filter_map(|name| node.get(name)?.as_array()).flatten();
    kinds.map(|kind| resolved(schema, kind)).collect()
}

/// The alternatives of a schema: of tables that are told apart by a constant, those that the value is.
fn kinds<'a>(schema: &'a Value, node: &'a Value, value: Option<&Value>) -> Vec<&'a Value> {
    let kinds = alternatives(schema, node);
    let is_meant = |kind: &&Value| {
        let members = kind.get("properties").and_then(Value::as_object).into_iter().flatten();
        let mut constants = members.filter_map(|(key, member)| Some((key, member.get("const")?)));
        constants.all(|(key, constant)| value.and_then(|value| value.get(key)) == Some(constant))
    };
    let meant: Vec<&Value> = kinds.iter().copied().filter(is_meant).collect();
    if meant.is_empty() { kinds } else { meant }
}

fn add_keys(
    schema: &Value,
    node: &Value,
    value: Option<&Value>,
    keys: &mut Vec<String>,
    depth: usize,
) {
    let node = resolved(schema, node);
    let members = node.get("properties").and_then(Value::as_object);
    keys.extend(members.into_iter().flat_map(Map::keys).cloned());
    for kind in kinds(schema, node, value).into_iter().filter(|_| depth < DEPTH_MAX) {
        add_keys(schema, kind, value, keys, depth + 1);
    }
}

fn add_taken(schema: &Value, node: &Value, all: &mut Vec<String>, depth: usize) {
    let node = resolved(schema, node);
    let add = |all: &mut Vec<String>, one: String| {
        if !all.contains(&one) {
            all.push(one);
        }
    };
    let listed = |key: &str| node.get(key).and_then(Value::as_array).into_iter().flatten();
    for word in node.get("const").into_iter().chain(listed("enum")).filter(|word| !word.is_null()) {
        add(all, word.to_string());
    }
    let is_words = node.get("const").is_some() || node.get("enum").is_some();
    let types: Vec<&str> = match node.get("type") {
        Some(Value::String(own)) => vec![own],
        Some(Value::Array(own)) => own.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for own in types.into_iter().filter(|own| *own != "null" && !is_words) {
        add(all, of_type(node, own));
    }
    for kind in alternatives(schema, node).into_iter().filter(|_| depth < DEPTH_MAX) {
        add_taken(schema, kind, all, depth + 1);
    }
}

/// A type with its bounds, in the words of TOML.
fn of_type(node: &Value, own: &str) -> String {
    let bound = |key: &str| node.get(key).filter(|bound| bound.is_number());
    let bounds = match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of {least} or more"),
        (None, Some(most)) => format!(" of {most} or less"),
        (None, None) => String::new(),
    };
    match own {
        "integer" => format!("an integer{bounds}"),
        "number" => format!("a number{bounds}"),
        "boolean" => "a boolean".to_owned(),
        "string" => "a string".to_owned(),
        "array" => match (bound("minItems"), bound("maxItems")) {
            (Some(least), Some(most)) if least == most => format!("an array of {least} values"),
            _ => "an array".to_owned(),
        },
        _ => "a table".to_owned(),
    }
}
