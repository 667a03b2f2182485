//! A JSON Schema as people read it: docs, and settings in a table.

use serde::Serialize;
use serde_json::Value;

/// One setting of a verifier.
#[derive(Serialize)]
pub(super) struct Setting {
    pub(super) name: String,
    /// What it may be.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Its default; `None` where it must be set.
    pub(super) default: Option<Value>,
    pub(super) required: bool,
    pub(super) docs: String,
}

/// The description of a schema.
pub(super) fn docs(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What stands before the first full stop.
pub(super) fn first_sentence(docs: &str) -> String {
    let paragraph = docs.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    sentence.trim_end_matches('.').to_owned()
}

/// The same with the settings of a table within in place of the table, by their dotted paths.
pub(super) fn settings_within(schema: &Value) -> Vec<Setting> {
    let mut all = Vec::new();
    within(schema, schema, "", &mut all);
    all
}

fn within(table: &Value, root: &Value, path: &str, all: &mut Vec<Setting>) {
    for setting in of_table(table, root) {
        let property = table.get("properties").and_then(|have| have.get(&setting.name));
        let path = format!("{path}{}", setting.name);
        match property.and_then(|property| table_of(property, root)) {
            Some(inner) => within(inner, root, &format!("{path}."), all),
            None => all.push(Setting { name: path, ..setting }),
        }
    }
}

/// The table that a property may hold.
fn table_of<'a>(property: &'a Value, root: &'a Value) -> Option<&'a Value> {
    if property.get("properties").is_some() {
        return Some(property);
    }
    if let Some(name) = property.get("$ref").and_then(Value::as_str) {
        return table_of(root.pointer(name.strip_prefix('#')?)?, root);
    }
    property.get("anyOf")?.as_array()?.iter().find_map(|one| table_of(one, root))
}

/// The properties of an object, sorted by name: those that must be set first.
pub(super) fn settings(schema: &Value) -> Vec<Setting> {
    of_table(schema, schema)
}

fn of_table(schema: &Value, root: &Value) -> Vec<Setting> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let setting = |(name, property): (&String, &Value)| Setting {
        name: name.clone(),
        kind: kind(property, root),
        default: property.get("default").cloned(),
        required: required.contains(&name.as_str()),
        docs: docs(property).replace('\n', " "),
    };
    let mut settings: Vec<Setting> = properties.iter().map(setting).collect();
    settings.sort_by_key(|setting| !setting.required);
    settings
}

/// What a value may be, in a few words.
fn kind(property: &Value, root: &Value) -> String {
    let text = |key: &str| property.get(key).and_then(Value::as_str);
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        return joined(values.iter().map(Value::to_string));
    }
    if let Some(value) = property.get("const") {
        return value.to_string();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = property.get(key).and_then(Value::as_array) {
            return joined(kinds.iter().map(|one| kind(one, root)));
        }
    }
    if let Some(name) = text("$ref") {
        let named = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return named.map_or_else(|| name.to_owned(), |named| kind(named, root));
    }
    match property.get("type") {
        Some(Value::Array(kinds)) => joined(kinds.iter().filter_map(Value::as_str)),
        Some(Value::String(one)) if one == "array" => match property.get("items") {
            Some(items) => format!("list of {}", kind(items, root)),
            None => "list".to_owned(),
        },
        Some(Value::String(_)) if text("format") == Some("regex") => "pattern".to_owned(),
        Some(Value::String(one)) => one.clone(),
        _ => "any".to_owned(),
    }
}

fn joined<S: AsRef<str>>(kinds: impl Iterator<Item = S>) -> String {
    let mut all = Vec::new();
    for kind in kinds {
        if kind.as_ref() != "null" && !all.iter().any(|have: &S| have.as_ref() == kind.as_ref()) {
            all.push(kind);
        }
    }
    all.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_within_are_listed_by_their_settings() {
        let schema = json!({
            "properties": {
                "model": {"$ref": "#/$defs/Model"},
                "warmup": {"anyOf": [{"$ref": "#/$defs/Model"}, {"type": "null"}]},
                "seed": {"type": "integer"},
            },
            "$defs": {"Model": {"properties": {"path": {"type": "string"}}}},
        });
        let found = settings_within(&schema);
        let names: Vec<&str> = found.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(names, ["model.path", "seed", "warmup.path"]);
    }

    #[test]
    fn settings_are_read_from_the_schema() {
        let schema = json!({
            "description": "Right when.\nMore. And more.\n\nElse.",
            "required": ["pattern"],
            "properties": {
                "how": {"$ref": "#/$defs/CombineBy", "default": "any"},
                "pattern": {"type": "string", "format": "regex"},
                "words": {"type": ["array", "null"], "description": "a\nb"},
                "texts": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            },
            "$defs": {"CombineBy": {"oneOf": [{"const": "any"}, {"const": "all"}]}},
        });
        assert_eq!(first_sentence(&docs(&schema)), "Right when");
        let settings = settings(&schema);
        let shown: Vec<(&str, &str, bool)> =
            settings.iter().map(|s| (s.name.as_str(), s.kind.as_str(), s.required)).collect();
        assert_eq!(
            shown,
            [
                ("pattern", "pattern", true),
                ("how", "\"any\" | \"all\"", false),
                ("texts", "list of string", false),
                ("words", "array", false),
            ]
        );
    }
}
