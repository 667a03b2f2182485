//! Data formats, each read strictly to one JSON value.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::markup::{self, Piece};
use crate::place::{byte_at, char_at};
use crate::{Break, DEPTH_MAX, csv};

/// A data format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON (RFC 8259).
    Json,
    /// YAML 1.2, core schema.
    Yaml,
    /// TOML 1.1.
    Toml,
    /// XML 1.0.
    Xml,
    /// CSV (RFC 4180) with a header.
    Csv,
}

impl Format {
    /// The languages by which fences of code name the format.
    pub fn fences(self) -> &'static [&'static str] {
        match self {
            Self::Json => &["json"],
            Self::Yaml => &["yaml", "yml"],
            Self::Toml => &["toml"],
            Self::Xml => &["xml"],
            Self::Csv => &["csv"],
        }
    }

    /// Whether every scalar of the format is text, so that a schema says what is a number.
    pub fn is_untyped(self) -> bool {
        matches!(self, Self::Xml | Self::Csv)
    }

    /// Reads a text to a value, nested at most [`DEPTH_MAX`] deep. Linear in the text.
    ///
    /// The root of XML is an object of its attributes (`@name`), its elements by name (a list where
    /// one comes twice) and its text (`#text`, alone where there is nothing else). CSV is a list of
    /// objects by the names of the header. Dates of TOML are text, and so are numbers that are not finite.
    ///
    /// # Errors
    /// The first place where the text breaks the format.
    pub fn read(self, text: &str) -> Result<Value, Break> {
        match self {
            Self::Json => json(text),
            Self::Yaml => yaml(text),
            Self::Toml => toml(text),
            Self::Xml => Ok(xml(&markup::xml(text)?)),
            Self::Csv => table(csv::read(text, ',')?),
        }
    }
}

fn json(text: &str) -> Result<Value, Break> {
    // The reader refuses 128 levels.
    let bare = text.trim_start_matches('\u{feff}');
    serde_json::from_str(bare).map_err(|error| {
        let at = text.len() - bare.len() + byte_at(bare, error.line(), error.column());
        Break::new("syntax", error.to_string(), one_at(text, at))
    })
}

/// The character at a byte.
fn one_at(text: &str, at: usize) -> Range<usize> {
    at..text.ceil_char_boundary(text.len().min(at + 1))
}

/// A level of YAML is several calls of its reader, each with a large frame.
const YAML_DEPTH_MAX: usize = 64;

/// Bytes that aliases may repeat.
const ALIASED_BYTES_MAX: usize = 16_000_000;

/// One document. Keys differ; tags are those of the core schema.
fn yaml(text: &str) -> Result<Value, Break> {
    // What an alias repeats is at most the text.
    let replayed = (ALIASED_BYTES_MAX / text.len().max(1)).clamp(64, 10_000);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: YAML_DEPTH_MAX, flow_nesting_limit: YAML_DEPTH_MAX },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: replayed },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        strict_booleans: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location();
        let size = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
        let span = place.map(|place| place.span());
        let known = span.and_then(|span| size(span.byte_offset()));
        let counted = place.map(|place| {
            let (line, column) = (size(Some(place.line())), size(Some(place.column())));
            char_at(text, line.unwrap_or(usize::MAX), column.unwrap_or(1))
        });
        let start = text.floor_char_boundary(known.or(counted).unwrap_or(text.len()));
        let length = span.and_then(|span| size(span.byte_len())).filter(|_| known.is_some());
        let end = length.map_or(one_at(text, start).end, |length| {
            text.ceil_char_boundary(start.saturating_add(length).min(text.len()))
        });
        let what = error.to_string();
        let what = what.lines().next().unwrap_or_default();
        // The place is that in the document alone.
        let what = what.rsplit_once(" at line ").map_or(what, |(what, _)| what);
        Break::new("syntax", what, start..end)
    })
}

fn toml(text: &str) -> Result<Value, Break> {
    let table = toml::from_str::<toml::Table>(text).map_err(|error| {
        let span = error.span().unwrap_or(0..text.len());
        Break::new("syntax", error.message(), span)
    })?;
    Ok(of_toml(toml::Value::Table(table)))
}

/// The parser of TOML bounds the depth.
fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(whole) => whole.into(),
        toml::Value::Float(number) if number.is_finite() => number.into(),
        toml::Value::Float(number) => number.to_string().into(),
        toml::Value::Boolean(is) => is.into(),
        toml::Value::Datetime(when) => when.to_string().into(),
        toml::Value::Array(values) => values.into_iter().map(of_toml).collect(),
        toml::Value::Table(members) => {
            Value::Object(members.into_iter().map(|(key, value)| (key, of_toml(value))).collect())
        }
    }
}

/// The content of the root of a document.
fn xml(pieces: &[Piece<'_>]) -> Value {
    let mut open: Vec<(&str, Map<String, Value>, String)> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Open(tag) => {
                let own = tag.attributes.iter().filter(|(name, _)| !name.starts_with("xmlns"));
                let own = own.map(|(name, value)| (format!("@{name}"), value.as_ref().into()));
                open.push((&tag.name, own.collect(), String::new()));
            }
            Piece::Text(text) => {
                if let Some((_, _, own)) = open.last_mut() {
                    own.push_str(text);
                }
            }
            Piece::Close => {
                let Some((name, members, text)) = open.pop() else { continue };
                let value = element(members, text.trim());
                match open.last_mut() {
                    None => return value,
                    Some((_, members, _)) => add(members, name, value),
                }
            }
        }
    }
    Value::Null
}

fn element(mut members: Map<String, Value>, text: &str) -> Value {
    if members.is_empty() {
        return text.into();
    }
    if !text.is_empty() {
        members.insert("#text".to_owned(), text.into());
    }
    Value::Object(members)
}

/// Adds an element; one that comes again makes a list. What is an array is such a list: no element is
/// one by itself.
fn add(members: &mut Map<String, Value>, name: &str, value: Value) {
    match members.get_mut(name) {
        None => {
            members.insert(name.to_owned(), value);
        }
        Some(Value::Array(values)) => values.push(value),
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
}

/// The records of a CSV text as objects.
fn table(records: Vec<Vec<String>>) -> Result<Value, Break> {
    let mut records = records.into_iter();
    let header = records.next().unwrap_or_default();
    let mut seen = BTreeSet::new();
    let twice = header.iter().find(|name| name.is_empty() || !seen.insert(name.as_str()));
    if let Some(name) = twice {
        return Err(Break::new("header", name.as_str(), 0..0));
    }
    let object = |record: Vec<String>| -> Value {
        let members = header.iter().cloned().zip(record.into_iter().map(Value::from));
        Value::Object(members.collect())
    };
    Ok(records.map(object).collect())
}

/// A value of an untyped format, with the types that a schema asks for: a text that reads as a number,
/// a boolean or null becomes one where the schema wants it and no text, an empty text becomes null where that
/// is allowed, and a single element becomes a list of one. Types are those of `type`, or else of the values of
/// `const` and `enum`, in all of `anyOf`, `oneOf`, `allOf` and local `$ref`s. Linear in the value times its
/// depth and the schemas.
#[must_use]
pub fn typed(value: Value, schema: &Value, root: &Value) -> Value {
    typed_to(value, &[schema], root, DEPTH_MAX)
}

fn typed_to(value: Value, schemas: &[&Value], root: &Value, levels: usize) -> Value {
    let schemas = applied(schemas, root);
    let Some(levels) = levels.checked_sub(1) else { return value };
    let wants = |name: &str| schemas.iter().any(|schema| names_type(schema, name, &value));
    let may_list = wants("array") && !wants("string");
    let into_list = may_list && !wants("object");
    match &value {
        Value::Object(_) if into_list => listed(value, &schemas, root, levels),
        Value::String(text) => match read_as(text, &wants) {
            Some(read) => read,
            None if may_list => listed(value, &schemas, root, levels),
            None => value,
        },
        _ => match value {
            Value::Object(members) => {
                let member = |(key, value): (String, Value)| {
                    let inner: Vec<&Value> =
                        schemas.iter().filter_map(|one| of_member(one, &key)).collect();
                    (key, typed_to(value, &inner, root, levels))
                };
                Value::Object(members.into_iter().map(member).collect())
            }
            Value::Array(values) => {
                let item = |(at, value)| typed_to(value, &of_item(&schemas, at), root, levels);
                values.into_iter().enumerate().map(item).collect()
            }
            other => other,
        },
    }
}

/// Whether a schema names a type, of its values that which a text may stand for.
fn names_type(schema: &Value, name: &str, value: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(many)) => many.iter().any(|one| one == name),
        _ => {
            let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            listed.chain(schema.get("const")).any(|one| match one {
                Value::String(_) => name == "string" && one == value,
                Value::Number(_) => name == "number",
                Value::Bool(_) => name == "boolean",
                Value::Null => name == "null",
                Value::Array(_) => name == "array",
                Value::Object(_) => name == "object",
            })
        }
    }
}

/// The value that a text becomes where a schema wants certain types.
fn read_as(text: &str, wants: &dyn Fn(&str) -> bool) -> Option<Value> {
    match text.trim() {
        "" if wants("null") => Some(Value::Null),
        _ if wants("string") => None,
        "true" | "false" if wants("boolean") => Some((text.trim() == "true").into()),
        "null" if wants("null") => Some(Value::Null),
        "" if wants("array") => Some(Value::Array(Vec::new())),
        "" if wants("object") => Some(Value::Object(Map::new())),
        plain if wants("number") || wants("integer") => {
            serde_json::from_str::<Value>(plain).ok().filter(Value::is_number)
        }
        _ => None,
    }
}

/// A list of a single value.
fn listed(value: Value, schemas: &[&Value], root: &Value, levels: usize) -> Value {
    Value::Array(vec![typed_to(value, &of_item(schemas, 0), root, levels)])
}

fn of_member<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    let own = schema.get("properties").and_then(|own| own.get(key));
    own.or_else(|| schema.get("additionalProperties"))
}

/// The schemas of the item at a place of a list.
fn of_item<'s>(schemas: &[&'s Value], at: usize) -> Vec<&'s Value> {
    let one = |schema: &&'s Value| {
        let first = schema.get("prefixItems").or_else(|| schema.get("items"));
        let own = first.and_then(Value::as_array).and_then(|all| all.get(at));
        let rest = schema.get("items").filter(|rest| !rest.is_array());
        own.or(rest).or_else(|| schema.get("additionalItems"))
    };
    schemas.iter().filter_map(one).collect()
}

/// The most schemas that apply at one place.
const APPLIED_MAX: usize = 100;

/// These schemas with the parts of which they are made, and those that they refer to.
fn applied<'s>(schemas: &[&'s Value], root: &'s Value) -> Vec<&'s Value> {
    let (mut found, mut work): (Vec<&Value>, _) = (Vec::new(), schemas.to_vec());
    while let Some(schema) = work.pop().filter(|_| found.len() < APPLIED_MAX) {
        if !found.iter().any(|one| std::ptr::eq(*one, schema)) {
            found.push(schema);
            work.push(resolved(schema, root));
            let parts = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema.get(name));
            work.extend(parts.filter_map(Value::as_array).flatten());
            work.extend(["then", "else"].into_iter().filter_map(|name| schema.get(name)));
        }
    }
    found
}

/// The schema that local references lead to.
pub(crate) fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..DEPTH_MAX {
        let name = schema.get("$ref").and_then(Value::as_str);
        let target = name.and_then(|name| root.pointer(name.strip_prefix('#')?));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}
