//! The rows of a benchmark, by the names that its authors gave to columns.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay::data::{Columns, ReadLimits, Source};
use serde_json::Value;

use crate::cli::exit::Failure;

/// The rows of a benchmark.
pub(super) struct Rows(Vec<Row>);

/// One row, and where it stands.
pub(super) struct Row {
    place: String,
    stem: String,
    columns: BTreeMap<String, Value>,
}

impl Rows {
    /// Reads files. `names` are the columns of the protocol, `renamed` those that are called
    /// otherwise, as `NAME=COLUMN`.
    pub(super) fn read(
        files: &[PathBuf],
        names: &[&str],
        renamed: &[String],
        limit: Option<usize>,
    ) -> Result<Self, Failure> {
        let mut called: BTreeMap<&str, &str> = names.iter().map(|name| (*name, *name)).collect();
        for pair in renamed {
            let Some((name, column)) = pair.split_once('=') else {
                return Err(Failure::usage(format!("--column {pair}: expected NAME=COLUMN")));
            };
            let Some(slot) = called.get_mut(name) else {
                let known = names.join(", ");
                return Err(Failure::usage(format!("--column {name}: no such name; has: {known}")));
            };
            *slot = column;
        }
        // The first name is a text that every row has.
        let first = names.first().and_then(|name| called.get(name)).copied().unwrap_or_default();
        let nowhere = "\u{0}".to_owned();
        let columns = Columns {
            id: nowhere.clone(),
            prompt: nowhere.clone(),
            completion: first.to_owned(),
            reference: nowhere.clone(),
            meta: Some(nowhere),
            ..Columns::default()
        };
        let mut rows = Vec::new();
        for block in Source::open(files, &ReadLimits::default()).map_err(anyhow::Error::from)? {
            for row in block.map_err(anyhow::Error::from)?.rows(&columns) {
                let sample = row.sample.map_err(anyhow::Error::from)?;
                let value = |(name, column): (&&str, &&str)| {
                    let value = sample.meta().get(*column).cloned();
                    Some(((*name).to_owned(), value.filter(|value| !value.is_null())?))
                };
                let mut columns: BTreeMap<String, Value> =
                    called.iter().filter_map(value).collect();
                if let Some(name) = names.first() {
                    columns.insert((*name).to_owned(), Value::from(sample.completion()));
                }
                let stem = row.place.file.rsplit('/').next().unwrap_or_default();
                let stem = stem.split('.').next().unwrap_or_default().to_owned();
                rows.push(Row { place: row.place.to_string(), stem, columns });
                if limit.is_some_and(|limit| rows.len() >= limit) {
                    return Ok(Self(rows));
                }
            }
        }
        if rows.is_empty() {
            return Err(Failure::usage("the data have no rows: there is nothing to measure"));
        }
        Ok(Self(rows))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.0.iter()
    }
}

impl Row {
    /// Its file and number.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// What a column has, and what was expected of it.
    pub(super) fn wrong(&self, name: &str, expected: &str) -> Failure {
        let place = &self.place;
        let found = match self.columns.get(name) {
            None => "missing".to_owned(),
            Some(value) => format!("is {}", value.to_string().chars().take(60).collect::<String>()),
        };
        anyhow::anyhow!("{place}: {name}: {found}; expected {expected}").into()
    }

    pub(super) fn text(&self, name: &str) -> Result<String, Failure> {
        self.optional_text(name).ok_or_else(|| self.wrong(name, "a text"))
    }

    pub(super) fn optional_text(&self, name: &str) -> Option<String> {
        match self.columns.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A list of texts; one text is a list of one.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Failure> {
        let texts = match self.columns.get(name) {
            Some(Value::String(text)) => Some(vec![text.clone()]),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        texts.filter(|texts| !texts.is_empty()).ok_or_else(|| self.wrong(name, "a list of texts"))
    }

    /// An integer, which every row has: one without a label would be counted as right.
    pub(super) fn integer(&self, name: &str) -> Result<i64, Failure> {
        let integer = self.columns.get(name).and_then(Value::as_i64);
        integer.ok_or_else(|| self.wrong(name, "an integer; -1 where no step is wrong"))
    }

    pub(super) fn integers(&self, name: &str) -> Result<Vec<i64>, Failure> {
        let integers = match self.columns.get(name) {
            Some(Value::Array(items)) => items.iter().map(Value::as_i64).collect(),
            _ => None,
        };
        integers.ok_or_else(|| self.wrong(name, "a list of integers, empty where no step is wrong"))
    }

    /// The subset that the row names, else the name of its file.
    pub(super) fn subset(&self, name: &str) -> Result<String, Failure> {
        match self.columns.get(name) {
            None => Ok(self.stem.clone()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }
}
