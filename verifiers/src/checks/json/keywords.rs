//! Slips in a JSON Schema that the standard allows: a keyword that is misspelt is no rule, and a schema
//! without a rule accepts everything.

use strsim::osa_distance;

use super::cost::{LISTS, NAMED, SAME, WITHIN};
use crate::prelude::*;

/// Keywords that are schemas by names that people choose, beside those of [`NAMED`].
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
/// The other keywords, from draft 4 on.
const OTHERS: [&str; 41] = assay_math::words::list(
    "$schema $id id $anchor $ref $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor \
     $vocabulary $comment type enum const multipleOf maximum exclusiveMaximum minimum \
     exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains \
     minContains maxProperties minProperties required dependentRequired format contentEncoding \
     contentMediaType title description default deprecated readOnly writeOnly examples",
);
/// Words of others that are near to a keyword, and none of them misspelt.
const FOREIGN: [&str; 4] = ["example", "comment", "defs", "definition"];

/// The types of values, with the words that other languages have for them.
const TYPES: [(&str, &[&str]); 7] = [
    ("array", &["list", "tuple", "sequence", "vec"]),
    ("boolean", &["bool"]),
    ("integer", &["int", "long", "i64"]),
    ("null", &["none", "nil", "undefined", "nonetype"]),
    ("number", &["float", "double", "decimal", "numeric", "f64"]),
    ("object", &["dict", "map", "record", "struct", "hash"]),
    ("string", &["str", "text", "varchar"]),
];

/// Keywords shorter than this are told apart by case alone: too many words are near to them.
const SHORT: usize = 4;
/// From here on two letters may be wrong.
const LONG: usize = 9;

/// Members that are shown of a schema.
const SHOWN_MAX: usize = 6;

/// What is most likely not meant: the keyword at fault and what to type.
pub(super) fn slip(schema: &Value) -> Option<String> {
    let Value::Object(members) = schema else { return None };
    if !members.keys().any(|key| is_rule(key)) {
        for wrapper in ["schema", "json_schema", "parameters", "input_schema"] {
            if members.get(wrapper).is_some_and(Value::is_object) {
                return Some(format!(
                    "this wraps a schema for an API: pass the value of its `{wrapper}` alone"
                ));
            }
        }
    }
    if let Some(slip) = within(schema) {
        return Some(slip);
    }
    let unknown = members.keys().all(|key| !is_keyword(key) && !key.starts_with("x-"));
    (unknown && !members.is_empty()).then(|| {
        let shown = || members.iter().take(SHOWN_MAX);
        let required: Vec<String> = shown().map(|(key, _)| format!("\"{key}\"")).collect();
        let kind = |value: &Value| {
            let word = value.as_str().unwrap_or_default();
            let is_own =
                |(kind, others): &&(&str, &[&str])| *kind == word || others.contains(&word);
            TYPES.iter().find(is_own).map_or("string", |(kind, _)| *kind)
        };
        let property =
            |(key, value): (&String, &Value)| format!("{key} = {{ type = \"{}\" }}", kind(value));
        let properties: Vec<String> = shown().map(property).collect();
        format!(
            "no member of it is a keyword of JSON Schema, so it accepts everything; write schema = \
             {{ type = \"object\", required = [{}], properties = {{ {} }} }}",
            required.join(", "),
            properties.join(", ")
        )
    })
}

fn is_keyword(key: &str) -> bool {
    keywords().any(|known| known == key)
}

/// Whether a keyword can refuse a value; `type` stands in wrappers too.
fn is_rule(key: &str) -> bool {
    let notes = ["$schema", "$id", "id", "title", "description", "type"];
    is_keyword(key) && !notes.contains(&key)
}

fn keywords() -> impl Iterator<Item = &'static str> {
    OTHERS.iter().copied().chain(by_name()).chain(schemas())
}

fn by_name() -> impl Iterator<Item = &'static str> {
    BY_NAME.iter().chain(&NAMED).copied()
}

/// Keywords that are a schema, or a list of them.
fn schemas() -> impl Iterator<Item = &'static str> {
    SAME.iter().chain(&WITHIN).chain(&LISTS).copied()
}

/// The first keyword that is misspelt and the first type that is none, in this schema or within it.
fn within(schema: &Value) -> Option<String> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(schemas) => return schemas.iter().find_map(within),
        _ => return None,
    };
    members.iter().find_map(|(key, value)| {
        if let Some(meant) = meant(key) {
            return Some(format!("unknown keyword `{key}`, did you mean `{meant}`?"));
        }
        match value {
            Value::String(_) | Value::Array(_) if key == "type" => no_type(value),
            Value::Object(named) if by_name().any(|known| known == key) => {
                named.values().find_map(within)
            }
            value if schemas().any(|known| known == key) => within(value),
            _ => None,
        }
    })
}

/// A name that is no type, and the type that it may stand for.
fn no_type(value: &Value) -> Option<String> {
    let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let is_type = |name: &&str| TYPES.iter().any(|(known, _)| known == name);
    let name = names.iter().filter_map(Value::as_str).find(|name| !is_type(name))?;
    let own = name.trim().to_lowercase();
    let meant =
        TYPES.iter().find(|(known, others)| *known == own || others.contains(&own.as_str()));
    let all = TYPES.map(|(known, _)| known).join(", ");
    Some(match meant {
        Some((known, _)) => format!("type \"{name}\" is not one of JSON Schema, write \"{known}\""),
        None => format!("type \"{name}\" is not one of JSON Schema, which has {all}"),
    })
}

/// The keyword of which a word is a misspelling.
fn meant(word: &str) -> Option<&'static str> {
    if is_keyword(word) || FOREIGN.contains(&word) || word.starts_with("x-") {
        return None;
    }
    let plain = |text: &str| text.replace(['_', '-', ' '], "").to_lowercase();
    let own = plain(word);
    let written_otherwise = keywords().find(|known| plain(known) == own);
    written_otherwise.or_else(|| {
        let near = |known: &&str| {
            let most = match known.len() {
                ..SHORT => 0,
                SHORT..LONG => 1,
                _ => 2,
            };
            known.len().abs_diff(word.len()) <= most && osa_distance(known, word) <= most
        };
        keywords().find(near)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slips_are_told_and_custom_keywords_are_none() {
        for (schema, told) in [
            (json!({"type": "object", "require": ["a"]}), "`require`, did you mean `required`"),
            (json!({"additionalproperties": false}), "did you mean `additionalProperties`"),
            (json!({"typ": "object"}), "did you mean `type`"),
            (json!({"type": "dict"}), "type \"dict\" is not one of JSON Schema, write \"object\""),
            (json!({"properties": {"a": {"type": ["Integer", "null"]}}}), "write \"integer\""),
            (json!({"items": {"type": "any"}}), "which has array, boolean, integer"),
            (json!({"propertys": {}}), "did you mean `properties`"),
            (json!({"additional_properties": false}), "did you mean `additionalProperties`"),
            (json!({"minimun": 1}), "did you mean `minimum`"),
            (json!({"tpye": "object"}), "did you mean `type`"),
            (json!({"properties": {"a": {"enmu": [1]}}}), "`enmu`, did you mean `enum`"),
            (json!({"anyOf": [{"type": "null"}, {"item": {}}]}), "did you mean `items`"),
            (json!({"ref": "#/$defs/a"}), "did you mean `$ref`"),
            (json!({"answer": "string"}), "required = [\"answer\"]"),
            (json!({"a": "3"}), "no member of it is a keyword"),
            (json!({"name": "x", "strict": true, "schema": {"type": "object"}}), "its `schema`"),
            (json!({"type": "json_schema", "json_schema": {"schema": {}}}), "its `json_schema`"),
        ] {
            let slip = slip(&schema).unwrap_or_default();
            assert!(slip.contains(told), "{schema}: {slip}");
        }
        for schema in [
            json!({}),
            json!(true),
            json!({"title": "anything"}),
            json!({"x-kind": "own"}),
            json!({"type": "string", "nullable": true, "example": "a", "x-typ": 1, "order": 2}),
            json!({"properties": {"typ": {"enum": [{"require": 1}]}}, "default": {"typ": 1}}),
            json!({"type": "object", "propertyOrdering": ["a"], "properties": {"require": true}}),
            json!({"$ref": "#/defs/a", "defs": {"a": {"type": "string"}}}),
        ] {
            assert_eq!(slip(&schema), None, "{schema}");
        }
    }
}
