//! Marks of people on rows: `labels.jsonl` in the run folder, a line a row, with the texts that were judged,
//! so that it is data like any other.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ViewError;
use crate::row::RowText;

/// What a person said of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowMark {
    pub(crate) id: String,
    /// Its number over the whole input, from 1.
    pub(crate) row: u64,
    /// Whether the completion is right.
    pub(crate) label: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completion: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// What others wrote in the line.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

impl RowMark {
    pub(crate) fn new(number: u64, id: String, label: bool, note: String) -> Self {
        let (prompt, completion, reference) = (None, None, None);
        let (row, others) = (number + 1, BTreeMap::new());
        Self { id, row, label, note, prompt, completion, reference, others }
    }

    /// With the texts that were judged.
    pub(crate) fn with_texts(self, text: RowText) -> Self {
        let (prompt, completion) = (Some(text.prompt), Some(text.completion));
        Self { prompt, completion, reference: text.reference, ..self }
    }
}

/// The marks of a run by the number of the row.
pub(crate) struct Labels {
    path: PathBuf,
    marks: BTreeMap<u64, RowMark>,
}

impl Labels {
    pub(crate) fn read(path: PathBuf) -> Result<Self, ViewError> {
        let mut marks = BTreeMap::new();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(ViewError::io(&path, error)),
        };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let mark: RowMark = serde_json::from_str(line).map_err(|why| {
                ViewError::damaged(&path, format!("line {} is not a label ({why})", at + 1))
            })?;
            marks.insert(mark.row, mark);
        }
        Ok(Self { path, marks })
    }

    /// The mark of the row with this number, from 0.
    pub(crate) fn get(&self, number: u64) -> Option<&RowMark> {
        self.marks.get(&(number + 1))
    }

    /// Puts a mark in the place of an earlier one. The file is replaced as a whole.
    pub(crate) fn set(&mut self, mark: RowMark) -> Result<(), ViewError> {
        self.marks.insert(mark.row, mark);
        let beside = self.path.with_extension("jsonl.new");
        let write = || -> io::Result<()> {
            let mut text = Vec::new();
            for mark in self.marks.values() {
                serde_json::to_writer(&mut text, mark)?;
                text.push(b'\n');
            }
            let mut file = File::create(&beside)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)
        };
        write().map_err(|source| ViewError::io(&self.path, source))
    }
}
