//! The values of assertions: texts, lists, schemas, and the columns that they name.

use serde_json::Value;

use crate::formats::place::At;
use crate::rubric::RubricError;
use crate::template::GraderTemplate;

/// A text, or a number as text. Files and scripts are refused.
pub(super) fn plain(at: &At<'_>) -> Result<String, RubricError> {
    let text = match at.value {
        Value::Number(number) => number.to_string(),
        _ => at.text()?.to_owned(),
    };
    if ["file://", "javascript:", "python:"].iter().any(|start| text.starts_with(start)) {
        return Err(at.refuse("a file or script in place of a value is not read"));
    }
    Ok(text)
}

/// A text without columns in it.
pub(super) fn constant(at: &At<'_>) -> Result<String, RubricError> {
    let text = plain(at)?;
    if text.contains("{{") || text.contains("{%") {
        return Err(at.refuse("a template is not read in the value of this type"));
    }
    Ok(text)
}

/// A text that is not blank.
pub(super) fn filled(at: &At<'_>) -> Result<String, RubricError> {
    let text = constant(at)?;
    if text.trim().is_empty() {
        return Err(at.refuse("a blank text is in every completion"));
    }
    Ok(text)
}

/// The texts of a list, or of a text with commas between them.
pub(super) fn filled_list(at: &At<'_>) -> Result<Vec<String>, RubricError> {
    if at.value.is_array() {
        return at.filled()?.iter().map(filled).collect();
    }
    let parts: Vec<String> = commas(&filled(at)?);
    if parts.is_empty() {
        return Err(at.refuse("a blank text is in every completion"));
    }
    Ok(parts)
}

/// The parts between commas; a part in double quotes may hold one.
fn commas(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut quoted) = (Vec::new(), String::new(), false);
    for sign in text.chars() {
        match sign {
            '"' => quoted = !quoted,
            ',' if !quoted => parts.push(std::mem::take(&mut part)),
            _ => part.push(sign),
        }
    }
    parts.push(part);
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// A text as a template of ours: `{{name}}` and `{{ vars.name }}` are columns of the row, and
/// `{{output}}` is the completion.
pub(super) fn template(at: &At<'_>) -> Result<GraderTemplate, RubricError> {
    let text = plain(at)?;
    if text.contains("{%") {
        return Err(at.refuse("`{%` is not read"));
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        let (path, behind) =
            after.split_once("}}").ok_or_else(|| at.refuse("`{{` is not closed"))?;
        let path = path.trim();
        let path = path.strip_prefix("vars.").unwrap_or(path);
        let path =
            if path == "output" { "sample.output_text".to_owned() } else { format!("item.{path}") };
        out.push_str(before);
        out.extend(["{{ ", path.as_str(), " }}"]);
        rest = behind;
    }
    out.push_str(rest);
    GraderTemplate::parse(&out).map_err(|why| at.refuse(why))
}

/// A JSON Schema: an object, or a text that holds one as YAML or JSON.
pub(super) fn schema(at: &At<'_>) -> Result<Value, RubricError> {
    match at.value {
        Value::Object(_) | Value::Bool(_) => Ok(at.value.clone()),
        _ => match serde_saphyr::from_str::<Value>(&constant(at)?) {
            Ok(schema @ Value::Object(_)) => Ok(schema),
            _ => Err(at.refuse("expected a JSON Schema")),
        },
    }
}
