//! Rubrics as text: read from TOML, YAML and JSON, written as TOML.

use assay_verifiers::toml_bounds;
use serde_json::Value;

use crate::rubric::{Rubric, RubricError};

/// The longest file.
const FILE_BYTES_MAX: usize = 4 << 20;

/// The value that a file holds.
pub(super) fn value_of(name: &str, bytes: &[u8]) -> Result<Value, RubricError> {
    if bytes.len() > FILE_BYTES_MAX {
        let why = format!("it has {} bytes; at most {FILE_BYTES_MAX} are allowed", bytes.len());
        return Err(RubricError::new("the file", why));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        RubricError::new(format!("byte {}", error.valid_up_to()), "the text is not UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "toml" => of_toml(text),
        "yaml" | "yml" => of_yaml(text),
        _ => of_json(text),
    }
}

fn of_json(text: &str) -> Result<Value, RubricError> {
    serde_json::from_str(text).map_err(|error| {
        // The message of serde_json ends with the place, which is told apart here.
        let told = error.to_string();
        let message = told.split(" at line ").next().unwrap_or_default();
        RubricError::new(line(error.line(), error.column()), format!("not JSON: {message}"))
    })
}

fn of_toml(text: &str) -> Result<Value, RubricError> {
    if let Some(excess) = toml_bounds::excess(text) {
        return Err(RubricError::new("the rubric", excess));
    }
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = &text[..text.floor_char_boundary(at)];
        let row = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        RubricError::new(line(row, column), format!("not TOML: {}", error.message()))
    })
}

fn of_yaml(text: &str) -> Result<Value, RubricError> {
    serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location().map_or_else(
            || "the rubric".to_owned(),
            |at| format!("line {}, column {}", at.line(), at.column()),
        );
        let told = error.without_snippet().to_string();
        let message = told.lines().next().unwrap_or_default().to_owned();
        RubricError::new(place, format!("not YAML: {message}"))
    })
}

fn line(line: usize, column: usize) -> String {
    format!("line {line}, column {column}")
}

/// The rubric in our own format. Read again, it is the same rubric.
///
/// # Errors
/// A setting of a verifier that TOML cannot hold, such as a null in a JSON Schema.
pub fn to_toml(rubric: &Rubric) -> Result<String, RubricError> {
    toml::to_string_pretty(rubric)
        .map_err(|error| RubricError::new("the rubric", error.to_string()))
}
