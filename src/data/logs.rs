//! Logs of other tools, as rows: what `formats.toml` says of each.
//!
//! A log is recognised by the members of its first sample, by the first members of a file that is one
//! object, or by the names in its archive. A sample keeps its members, which are metadata; what the format
//! says is added as columns, and `log_format` names the tool.

pub(super) mod archive;
pub(crate) mod items;
mod members;
mod reading;
pub(super) mod samples;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use assay_verifiers::canonical::kind;
use assay_verifiers::code::Code;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::error::{Defect, escape};
use crate::built_in;
use members::Members;
use reading::{Reading, at};

/// The column that names the tool.
const FORMAT: &str = "log_format";

/// A format of logs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogFormat {
    name: String,
    has: Vec<String>,
    #[serde(default)]
    begins: Vec<String>,
    #[serde(default)]
    pub(super) rows: String,
    #[serde(default)]
    pub(super) archive: String,
    #[serde(default)]
    pub(super) drop: Vec<String>,
    within: Option<String>,
    #[serde(default)]
    why: Vec<String>,
    #[serde(default)]
    scores: BTreeMap<String, f64>,
    columns: BTreeMap<String, Vec<Reading>>,
}

#[derive(Deserialize)]
struct Formats {
    format: Vec<LogFormat>,
}

static FORMATS: LazyLock<Formats> =
    LazyLock::new(|| built_in::table(include_str!("logs/formats.toml")));

/// The format of a log whose first sample is this line.
pub(super) fn of_line(line: &[u8]) -> Option<&'static LogFormat> {
    // Most rows are those of no log, and are told by a member without a parse.
    let is_near = |format: &&LogFormat| {
        format.has.iter().all(|name| memchr::memmem::find(line, name.as_bytes()).is_some())
    };
    let near: Vec<&'static LogFormat> = FORMATS.format.iter().filter(is_near).collect();
    if near.is_empty() {
        return None;
    }
    #[expect(clippy::zero_sized_map_values, reason = "serde reads no object as a set")]
    let members: BTreeMap<Cow<'_, str>, IgnoredAny> = serde_json::from_slice(line).ok()?;
    let names: BTreeSet<&str> = members.keys().map(|name| &**name).collect();
    let is_own = |format: &&LogFormat| {
        format.has.iter().all(|name| names.contains(name.as_str())) && !names.contains(FORMAT)
    };
    near.into_iter().find(is_own)
}

/// Whether a file of an archive is a sample: its folder begins with `archive`.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "as the tool writes it")]
pub(super) fn is_sample(name: &str, archive: &str) -> bool {
    name.starts_with(archive) && name.ends_with(".json")
}

/// The format of a log that is an archive with a file of this name.
pub(super) fn of_archive(name: &str) -> Option<&'static LogFormat> {
    let is_own = |format: &&LogFormat| {
        let own = format.archive.as_str();
        !own.is_empty() && is_sample(name, own)
    };
    FORMATS.format.iter().find(is_own)
}

/// Of a file that begins so: the format, where it is one object that holds samples; `Err` where more of it
/// is needed to tell.
pub(super) fn of_head(text: &[u8]) -> Result<Option<&'static LogFormat>, ()> {
    let (mut members, mut names) = (Members::default(), Vec::new());
    for byte in text {
        let was_within = members.is_within();
        members.step(*byte);
        if members.is_within() && !was_within {
            names.push(members.key().to_vec());
        }
    }
    let is_like = |format: &&LogFormat| {
        let mut own = format.begins.iter().zip(&names);
        !format.begins.is_empty() && own.all(|(own, name)| own.as_bytes() == name)
    };
    match FORMATS.format.iter().find(is_like) {
        Some(format) if names.len() < format.begins.len() => Err(()),
        found => Ok(found),
    }
}

impl LogFormat {
    /// The tool that writes it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A sample as a row: its members, and the columns of the format.
    pub(super) fn row(&self, sample: Map<String, Value>) -> Result<Map<String, Value>, Defect> {
        if let Some(list) = &self.within {
            return self.only(sample, list);
        }
        let sample = Value::Object(sample);
        let mut columns = Map::new();
        for (name, readings) in &self.columns {
            let found = readings.iter().find_map(|reading| reading.read(&sample, &self.scores));
            if let Some(value) = found {
                columns.insert(name.clone(), value);
            }
        }
        if !columns.contains_key("completion") {
            return Err(self.unanswered(&sample, columns.get("id")));
        }
        columns.insert(FORMAT.to_owned(), Value::from(self.name()));
        let Value::Object(mut row) = sample else { return Ok(columns) };
        row.extend(columns);
        Ok(row)
    }

    /// The row of the only sample in a list.
    fn only(
        &self,
        mut sample: Map<String, Value>,
        list: &str,
    ) -> Result<Map<String, Value>, Defect> {
        let samples = sample.get_mut(list).and_then(Value::as_array_mut).map(std::mem::take);
        let mut samples = samples.unwrap_or_default();
        match (samples.pop(), samples.len()) {
            (Some(Value::Object(own)), 0) => {
                let names: BTreeSet<&str> = own.keys().map(String::as_str).collect();
                let is_own = |format: &&Self| {
                    format.within.is_none()
                        && format.name == self.name
                        && format.has.iter().all(|name| names.contains(name.as_str()))
                };
                match FORMATS.format.iter().find(is_own) {
                    Some(format) => format.row(own),
                    None => Err(self.unanswered(&Value::Object(own), None)),
                }
            }
            (Some(_), more) if more > 0 => Err(Defect::new(
                Code::WrongType,
                format!(
                    "{}: {list} has {} elements, and a row is one; write a row for each: `jq -c \
                     '.{list}[]' FILE > rows.jsonl`",
                    self.name,
                    more + 1
                ),
            )
            .at_field(list)),
            _ => Err(self.unanswered(&Value::Object(sample), None)),
        }
    }

    /// What is said of a sample without an answer: where one was expected, and what the tool says of it.
    fn unanswered(&self, sample: &Value, id: Option<&Value>) -> Defect {
        let readings = self.columns.get("completion").map_or(&[][..], Vec::as_slice);
        let expected: Vec<String> = readings.iter().map(Reading::expects).collect();
        let expected = match (&self.within, expected.join(", or ")) {
            (Some(list), _) => format!("one element in {list}"),
            (None, expected) => expected,
        };
        let found = readings.first().and_then(|reading| at(sample, reading.path()));
        let found = match found {
            Some(Value::Array(values)) => format!("a list of {}", values.len()),
            Some(value) => kind(value).to_owned(),
            None => "nothing".to_owned(),
        };
        let name = id.map_or_else(String::new, |id| {
            let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
            format!(", sample \"{}\"", escape(&id))
        });
        let why = self.why.iter().find_map(|path| at(sample, path)?.as_str());
        let why = why.map_or_else(String::new, |why| format!("; the log says: {}", escape(why)));
        let tool = &self.name;
        let message =
            format!("a log of {tool}{name}: no answer: expected {expected}; found {found}{why}");
        Defect::new(Code::MissingValue, message).at_field("completion")
    }
}

#[cfg(test)]
mod tests;
