//! Rubrics of others, read as they are.
//!
//! Each file below reads one format and says by which formula of its authors the reward is made. A
//! rubric may come as a file, as the whole row of a data set that holds one, as a bare list of
//! criteria, or as JSON in a text.

mod biggen;
mod cm2;
mod draft;
mod format;
mod found;
mod healthbench;
mod inspect;
mod levels;
mod nemo_gym;
mod openai;
mod paperbench;
mod place;
mod prometheus;
mod promptfoo;
mod research_rubrics;
mod rubrics_as_rewards;
mod shape;
mod text;
mod verifiers;
mod wildbench;

use serde_json::Value;

pub use self::format::Format;
use self::found::Found;
pub use self::paperbench::prune;
use self::place::At;
use self::shape::{find, opened};
pub use self::text::to_toml;
use self::text::value_of;
use crate::rubric::{Rubric, RubricError};

impl Format {
    /// The format of a value; `None` where it is of none that is known.
    pub fn detect(value: &Value) -> Option<Self> {
        find(At::root(&opened(value.clone())), None).map(|(format, _)| format)
    }
}

/// A rubric of any known format.
///
/// # Errors
/// A value of no known format, or what is wrong with it, by the places of its own format.
pub fn read(value: Value) -> Result<Rubric, RubricError> {
    let value = opened(value);
    match find(At::root(&value), None) {
        Some((format, found)) => read_found(format, &found),
        None => Err(unknown(&value)),
    }
}

/// A rubric of one format.
///
/// # Errors
/// What is wrong with it, by the places of its own format.
pub fn read_as(format: Format, value: Value) -> Result<Rubric, RubricError> {
    let value = opened(value);
    let root = || Found { at: At::root(&value), around: Vec::new() };
    let found = find(At::root(&value), Some(format)).map_or_else(root, |(_, found)| found);
    read_found(format, &found)
}

/// A rubric of any known format from a file: TOML and YAML by the ending of its name, else JSON.
///
/// # Errors
/// A text that does not parse, by line and column, and what [`read`] refuses.
pub fn read_text(name: &str, bytes: &[u8]) -> Result<Rubric, RubricError> {
    read(value_of(name, bytes)?)
}

/// The same of one format.
///
/// # Errors
/// A text that does not parse, by line and column, and what [`read_as`] refuses.
pub fn read_text_as(format: Format, name: &str, bytes: &[u8]) -> Result<Rubric, RubricError> {
    read_as(format, value_of(name, bytes)?)
}

fn read_found(format: Format, found: &Found<'_>) -> Result<Rubric, RubricError> {
    match format {
        Format::Assay => Rubric::from_value(found.at.value),
        Format::Healthbench => healthbench::read(found),
        Format::ResearchRubrics => research_rubrics::read(found),
        Format::RubricsAsRewards => rubrics_as_rewards::read(found),
        Format::NemoGym => nemo_gym::read(found),
        Format::Paperbench => paperbench::read(found),
        Format::Prometheus => prometheus::read(found),
        Format::Biggen => biggen::read(found),
        Format::Wildbench => wildbench::read(found),
        Format::Verifiers => verifiers::read(found),
        Format::Cm2 => cm2::read(found),
        Format::Inspect => inspect::read(found),
        Format::Promptfoo => promptfoo::read(found),
        Format::OpenaiGrader => openai::read(found),
    }
}

fn unknown(value: &Value) -> RubricError {
    let has = match value {
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<&str> = members.keys().map(String::as_str).take(20).collect();
            format!("has: {}", keys.join(", "))
        }
        Value::Array(items) => {
            let keys = items.first().and_then(Value::as_object);
            let keys: Vec<&str> = keys
                .into_iter()
                .flat_map(|keys| keys.keys())
                .map(String::as_str)
                .take(20)
                .collect();
            format!("a list of {}, the first of which has: {}", items.len(), keys.join(", "))
        }
        _ => "found neither an object nor a list".to_owned(),
    };
    let shape = |format: &Format| format!("{} ({})", format.name(), format.shape());
    let known: Vec<String> = Format::ALL.iter().map(shape).collect();
    RubricError::new(
        "the rubric",
        format!("of no known format; {has}; known are {}", known.join(", ")),
    )
}
