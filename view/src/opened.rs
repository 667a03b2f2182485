//! A run that is shown: its index, its data, its labels.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use assay_verifiers::stats::float;
use serde_json::{Map, Value, json};

use crate::data::{DataRow, RowText, RunData, data_files};
use crate::error::ViewError;
use crate::files::config_and_about;
use crate::index::RunIndex;
use crate::labels::Labels;
use crate::lines::{LinesFile, joined};
use crate::overview::{lengths, overview};
use crate::text::{cut_line, cut_value, shown_texts};
use crate::training::training;

/// What a list takes of the texts of a row.
#[cfg(feature = "serve")]
const LISTED_BYTES_MAX: usize = 200;

/// A run that is to be shown.
pub struct ViewRun {
    /// Its folder.
    pub dir: PathBuf,
    /// The rows that it scored.
    pub data: Option<Arc<dyn RunData>>,
    /// Why there are none.
    pub missing: Option<String>,
    /// The file of what people say of rows.
    pub labels: PathBuf,
}

/// What only the data know of all rows.
pub(crate) struct FromData {
    /// Characters of the completions.
    pub(crate) chars: Vec<f64>,
    /// Rows that follow each other and share a prompt have the same.
    #[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "what a page asks for"))]
    groups: Vec<u32>,
    /// Lengths against the reward.
    lengths: Value,
}

/// A run that is shown.
pub(crate) struct OpenedRun {
    pub(crate) index: RunIndex,
    pub(crate) file: LinesFile,
    pub(crate) about: Value,
    training: Option<Value>,
    /// What `assay audit` found, where the run is of its attacks.
    audit: Option<Value>,
    overview: Value,
    pub(crate) data: Option<Arc<dyn RunData>>,
    pub(crate) data_files: Vec<(u64, LinesFile)>,
    pub(crate) missing: Option<String>,
    pub(crate) from_data: OnceLock<FromData>,
    pub(crate) labels: Mutex<Labels>,
}

impl OpenedRun {
    /// Reads the verdicts, and beside them the data whole, as far as to know them.
    pub(crate) fn open(mut run: ViewRun) -> Result<Self, ViewError> {
        let (config, about) = config_and_about(&run.dir)?;
        let (index, checked) = std::thread::scope(|scope| {
            let checked = scope.spawn(|| run.data.as_ref().map_or(Ok(()), |data| data.check()));
            (RunIndex::read(&run.dir), joined(checked))
        });
        let (index, file) = index?;
        if let Err(why) = checked {
            (run.data, run.missing) = (None, Some(why));
        }
        let files_of_data = run.data.as_ref().map(|data| data_files(data.files()));
        let audit = std::fs::read(run.dir.join("../audit.json")).ok();
        let audit: Option<Value> = audit.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Self {
            overview: overview(&index, &file, &config)?,
            index,
            file,
            about,
            training: training(&run.dir),
            audit: audit.map(|found| cut_value(&found, (400, 10_000))),
            data: run.data,
            data_files: files_of_data.transpose()?.unwrap_or_default(),
            missing: run.missing,
            from_data: OnceLock::new(),
            labels: Mutex::new(Labels::read(run.labels)?),
        })
    }

    /// Takes in what only the data know: lengths, and who shares a prompt.
    pub(crate) fn add_data(&self, rows: &[DataRow]) {
        let count = u32::try_from(self.index.len()).unwrap_or(u32::MAX);
        let mut chars = vec![f64::NAN; self.index.len()];
        let mut groups: Vec<u32> = (0..count).collect();
        for row in rows {
            if let Some(at) = self.index.place(row.number)
                && self.index.ids.get(at) == Some(&row.id)
                && let (Some(chars), Some(group)) = (chars.get_mut(at), groups.get_mut(at))
            {
                (*chars, *group) = (float(row.chars), count.saturating_add(row.prompt));
            }
        }
        let lengths = lengths(&chars, &self.index.total.rewards);
        self.from_data.get_or_init(|| FromData { chars, groups, lengths });
    }

    /// What is said of the run as a whole.
    pub(crate) fn json(&self) -> Value {
        let mut overview = self.overview.clone();
        if let (Value::Object(all), Some(found)) = (&mut overview, self.from_data.get()) {
            all.insert("lengths".to_owned(), found.lengths.clone());
        }
        json!({
            "about": self.about, "overview": overview, "training": self.training, "audit": self.audit,
        })
    }

    /// The texts of a row, where the data have it under the id of its line.
    pub(crate) fn text(&self, at: usize, line: &Value) -> Result<Option<RowText>, ViewError> {
        let Some(number) = self.index.numbers.get(at) else { return Ok(None) };
        let file = self.data_files.iter().rev().find(|(first, _)| first <= number);
        let (Some(data), Some((first, file))) = (&self.data, file) else { return Ok(None) };
        let own = file.line(usize::try_from(number - first).unwrap_or(usize::MAX))?;
        let id = line.get("id").and_then(Value::as_str);
        Ok(own.and_then(|own| data.row(&own)).filter(|own| Some(own.id.as_str()) == id))
    }

    /// A row with everything, its texts cut at `bytes`.
    pub(crate) fn row(
        &self,
        at: usize,
        bytes: usize,
    ) -> Result<Option<Map<String, Value>>, ViewError> {
        let Some(line) = self.file.value(at)? else { return Ok(None) };
        let verdicts = line.get("verdicts").unwrap_or(&Value::Null);
        let texts = self.text(at, &line)?.map(|text| shown_texts(&text, verdicts, bytes));
        let mut row = self.head(at, &cut_line(&line, bytes));
        row.insert("texts".to_owned(), json!(texts));
        row.insert("missing".to_owned(), json!(self.missing));
        Ok(Some(row))
    }

    /// What is known of a row but for its texts.
    fn head(&self, at: usize, line: &Value) -> Map<String, Value> {
        let number = self.index.numbers.get(at).copied().unwrap_or(at as u64);
        let label = self.labels.lock().unwrap_or_else(PoisonError::into_inner).get(number);
        let known = |column: &[f64]| column.get(at).copied().filter(|value| value.is_finite());
        let chars = self.from_data.get().and_then(|found| known(&found.chars));
        let us = known(&self.index.us);
        let row = json!({
            "at": at, "number": number, "us": us, "chars": chars, "label": label, "line": line,
        });
        if let Value::Object(row) = row { row } else { Map::new() }
    }

    /// A row as a list has it: of its verdicts, what came of them.
    #[cfg(feature = "serve")]
    pub(crate) fn listed(&self, at: usize) -> Result<Option<Map<String, Value>>, ViewError> {
        let Some(mut line) = self.file.value(at)? else { return Ok(None) };
        let verdicts = line.get_mut("verdicts").and_then(Value::as_object_mut);
        for verdict in verdicts.into_iter().flat_map(Map::values_mut) {
            *verdict = json!({
                "outcome": verdict.get("outcome"), "reward": verdict.get("reward"),
                "fault": verdict.get("fault"), "reason": verdict.pointer("/evidence/reason"),
            });
        }
        Ok(Some(self.head(at, &cut_line(&line, LISTED_BYTES_MAX))))
    }

    /// The rows of the group of a row; without groups, those of one prompt.
    #[cfg(feature = "serve")]
    pub(crate) fn group(&self, at: usize, most: usize) -> std::ops::Range<usize> {
        let of_data = self.from_data.get().filter(|_| self.index.grouped == 0);
        let groups = of_data.map_or(&self.index.groups, |found| &found.groups);
        let own = |group: &&u32| groups.get(at) == Some(*group);
        let before = groups.iter().take(at).rev().take_while(own).count();
        let all = before + groups.iter().skip(at).take_while(own).count();
        let first = at.saturating_sub(before);
        first..first + all.min(most)
    }
}
