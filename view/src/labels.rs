//! Marks of people on rows: `labels.jsonl` in the run folder, a line a row, with the texts that were judged,
//! so that it is data like any other.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::error::ViewError;

/// What a person said of a row: `id`, `row` (its number over the whole input, from 1), `label`, `note`, the
/// texts, and what others wrote in the line.
pub(crate) type RowMark = Map<String, Value>;

/// The marks of a run by the number of the row.
pub(crate) struct Labels {
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "the server writes labels"))]
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
            let mark: Option<RowMark> = serde_json::from_str(line).ok();
            let row =
                |mark: &RowMark| mark.get("row")?.as_u64().filter(|_| mark.contains_key("label"));
            let Some((row, mark)) = mark.and_then(|mark| Some((row(&mark)?, mark))) else {
                let why = format!("line {} is not a label: an object with row and label", at + 1);
                return Err(ViewError::damaged(&path, why));
            };
            marks.insert(row, mark);
        }
        Ok(Self { path, marks })
    }

    /// The label and the note of the row with this number, from 0.
    pub(crate) fn get(&self, number: u64) -> Option<Value> {
        let mark = self.marks.get(&(number + 1))?;
        let note = mark.get("note").and_then(Value::as_str).unwrap_or_default();
        Some(json!({ "label": mark.get("label"), "note": note }))
    }

    /// Puts what is said now in the place of what was, and gives the label. The file is replaced as a whole.
    #[cfg(feature = "serve")]
    pub(crate) fn set(
        &mut self,
        number: u64,
        told: [Value; 2],
    ) -> Result<Option<Value>, ViewError> {
        use std::io::Write as _;
        let mark = self.marks.entry(number + 1).or_default();
        for told in told {
            if let Value::Object(told) = told {
                mark.extend(told);
            }
        }
        let beside = self.path.with_extension("jsonl.new");
        let write = || -> io::Result<()> {
            let mut file = fs::File::create(&beside)?;
            for mark in self.marks.values() {
                writeln!(file, "{}", json!(mark))?;
            }
            file.sync_all()?;
            fs::rename(&beside, &self.path)
        };
        write().map_err(|source| ViewError::io(&self.path, source))?;
        Ok(self.get(number))
    }
}
