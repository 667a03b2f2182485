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
    /// What it may be, where each value is described.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<DescribedValue>,
    /// The settings of the table that it is, or may be, by their dotted paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) within: Vec<Setting>,
}

/// A value of a setting, as JSON, and what it means.
#[derive(Serialize)]
pub(super) struct DescribedValue {
    pub(super) value: String,
    pub(super) docs: String,
}

/// Tables within tables that are described.
const DEPTH_MAX: usize = 4;

/// The description of a schema.
pub(super) fn docs(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What is before the first full stop.
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
    let mut settings = of_table(schema, schema);
    for setting in &mut settings {
        let property = schema.get("properties").and_then(|have| have.get(&setting.name));
        if let Some(property) = property {
            describe(setting, property, schema, DEPTH_MAX);
        }
    }
    settings
}

/// Adds to a setting what its values mean, and the settings within it.
fn describe(setting: &mut Setting, property: &Value, root: &Value, depth: usize) {
    collect_values(property, root, DEPTH_MAX, &mut setting.values);
    let Some(left) = depth.checked_sub(1) else { return };
    let mut tables = Vec::new();
    collect_tables(property, root, DEPTH_MAX, &mut tables);
    for table in tables {
        for mut inner in of_table(table, root) {
            let property = table.get("properties").and_then(|have| have.get(&inner.name));
            let own = setting.default.as_ref().and_then(|default| default.get(&inner.name));
            inner.default = own.cloned().or(inner.default);
            if let Some(property) = property {
                describe(&mut inner, property, root, left);
            }
            inner.name = format!("{}.{}", setting.name, inner.name);
            rename(&mut inner.within, &setting.name);
            if setting.within.iter().all(|have| have.name != inner.name) {
                setting.within.push(inner);
            }
        }
    }
}

/// Puts the name of the table around before the paths of settings.
fn rename(settings: &mut [Setting], table: &str) {
    for setting in settings {
        setting.name = format!("{table}.{}", setting.name);
        rename(&mut setting.within, table);
    }
}

/// What a reference stands for; the schema itself where it is none.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str);
    let named = name.and_then(|name| root.pointer(name.strip_prefix('#')?));
    named.unwrap_or(schema)
}

/// The schemas that a value may follow, where there are several.
fn choices(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    lists.flatten()
}

fn collect_values(schema: &Value, root: &Value, depth: usize, found: &mut Vec<DescribedValue>) {
    let schema = resolved(schema, root);
    let docs = docs(schema).replace('\n', " ");
    if let Some(value) = schema.get("const").filter(|_| !docs.is_empty()) {
        found.push(DescribedValue { value: value.to_string(), docs });
        return;
    }
    if let Some(left) = depth.checked_sub(1) {
        for choice in choices(schema) {
            collect_values(choice, root, left, found);
        }
    }
}

/// The tables that a value may be.
fn collect_tables<'a>(
    schema: &'a Value,
    root: &'a Value,
    depth: usize,
    found: &mut Vec<&'a Value>,
) {
    let schema = resolved(schema, root);
    if schema.get("properties").is_some() {
        found.push(schema);
    }
    if let Some(left) = depth.checked_sub(1) {
        for choice in choices(schema) {
            collect_tables(choice, root, left, found);
        }
    }
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
        values: Vec::new(),
        within: Vec::new(),
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
    fn tables_and_values_are_described() {
        let schema = json!({
            "properties": {
                "compare": {"$ref": "#/$defs/Compare", "default": {"how": "lines", "deep": null}},
            },
            "$defs": {
                "Compare": {"properties": {
                    "how": {"$ref": "#/$defs/How", "default": "tokens"},
                    "deep": {"anyOf": [{"$ref": "#/$defs/Deep"}, {"type": "null"}]},
                }},
                "How": {"oneOf": [
                    {"const": "tokens", "description": "The words."},
                    {"const": "lines", "description": "The\nlines."},
                ]},
                "Deep": {"properties": {"again": {"$ref": "#/$defs/Compare"}}},
            },
        });
        let settings = settings(&schema);
        let compare = settings.first().unwrap();
        let how = compare.within.iter().find(|inner| inner.name == "compare.how").unwrap();
        assert_eq!(how.default, Some(json!("lines")));
        let values: Vec<&str> = how.values.iter().map(|value| value.docs.as_str()).collect();
        assert_eq!(values, ["The words.", "The lines."]);
        let deep = compare.within.iter().find(|inner| inner.name == "compare.deep").unwrap();
        assert_eq!(deep.within.first().unwrap().name, "compare.deep.again");
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
