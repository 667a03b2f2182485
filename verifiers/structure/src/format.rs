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
    /// objects by the names of the header. Dates of TOML are text.
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
/// a boolean or null becomes one where the schema wants it and no text, and a single element becomes a
/// list of one. `properties`, `items` and local `$ref`s are followed. Linear in the value times its
/// depth.
#[must_use]
pub fn typed(value: Value, schema: &Value, root: &Value) -> Value {
    typed_to(value, schema, root, DEPTH_MAX)
}

fn typed_to(value: Value, schema: &Value, root: &Value, levels: usize) -> Value {
    let schema = resolved(schema, root);
    let Some(levels) = levels.checked_sub(1) else { return value };
    let wants = |name: &str| match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(many)) => many.iter().any(|one| one == name),
        _ => false,
    };
    match value {
        Value::Object(members) => {
            let member = |(key, value): (String, Value)| {
                let inner = schema.get("properties").and_then(|own| own.get(&key));
                let inner = inner.or_else(|| schema.get("additionalProperties"));
                let value =
                    inner.map_or(value.clone(), |inner| typed_to(value, inner, root, levels));
                (key, value)
            };
            let object = Value::Object(members.into_iter().map(member).collect());
            if wants("array") && !wants("object") {
                listed(object, schema, root, levels)
            } else {
                object
            }
        }
        Value::Array(values) => {
            let inner = schema.get("items").unwrap_or(&Value::Null);
            values.into_iter().map(|value| typed_to(value, inner, root, levels)).collect()
        }
        Value::String(text) if !wants("string") => {
            let is_number = wants("number") || wants("integer");
            let read = match text.trim() {
                "true" | "false" if wants("boolean") => Some((text.trim() == "true").into()),
                "" | "null" if wants("null") => Some(Value::Null),
                plain if is_number => {
                    serde_json::from_str::<Value>(plain).ok().filter(Value::is_number)
                }
                "" if wants("array") => Some(Value::Array(Vec::new())),
                "" if wants("object") => Some(Value::Object(Map::new())),
                _ if wants("array") => return listed(text.into(), schema, root, levels),
                _ => None,
            };
            read.unwrap_or(Value::String(text))
        }
        other => other,
    }
}

fn listed(value: Value, schema: &Value, root: &Value, levels: usize) -> Value {
    let inner = schema.get("items").unwrap_or(&Value::Null);
    Value::Array(vec![typed_to(value, inner, root, levels)])
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
