//! A run that is shown: its index, its data, its labels.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use assay_verifiers::stats::float;
use serde_json::{Value, json};

use crate::data::{DataRow, RowText, RunData, data_files, data_line};
use crate::error::ViewError;
use crate::files::RunFiles;
use crate::index::RunIndex;
use crate::labels::Labels;
use crate::lines::{LinesFile, joined};
use crate::overview::{lengths, overview};
use crate::text::{ShownTexts, ValueLimits, cut_line, cut_value};
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
#[derive(Default)]
pub(crate) struct FromData {
    /// Characters of the completions.
    pub(crate) chars: Vec<f64>,
    /// The first row of those that share a prompt with each.
    groups: Vec<u32>,
}

/// A run that is shown.
pub(crate) struct OpenedRun {
    pub(crate) index: RunIndex,
    pub(crate) file: LinesFile,
    pub(crate) about: Value,
    training: Option<Value>,
    /// What `assay audit` found, where the run is of its attacks.
    audit: Option<Value>,
    overview: Mutex<Value>,
    pub(crate) data: Option<Arc<dyn RunData>>,
    pub(crate) data_files: Vec<(u64, LinesFile)>,
    pub(crate) missing: Option<String>,
    pub(crate) from_data: RwLock<FromData>,
    pub(crate) labels: Mutex<Labels>,
}

impl OpenedRun {
    /// Reads the verdicts, and beside them the data whole, as far as to know them.
    pub(crate) fn open(mut run: ViewRun) -> Result<Self, ViewError> {
        let files = RunFiles::open(&run.dir)?;
        let (index, checked) = std::thread::scope(|scope| {
            let checked = scope.spawn(|| run.data.as_ref().map_or(Ok(()), |data| data.check()));
            (RunIndex::read(&files), joined(checked))
        });
        let (index, file) = index?;
        if let Err(why) = checked {
            (run.data, run.missing) = (None, Some(why));
        }
        let files_of_data = run.data.as_ref().map(|data| data_files(data.files()));
        let audit = std::fs::read(run.dir.join("../audit.json")).ok();
        let audit: Option<Value> = audit.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Self {
            overview: Mutex::new(overview(&index, &file, &files.config)?),
            index,
            file,
            about: files.about(),
            training: training(&run.dir),
            audit: audit
                .map(|found| cut_value(&found, &ValueLimits { bytes: 400, values: 10_000 })),
            data: run.data,
            data_files: files_of_data.transpose()?.unwrap_or_default(),
            missing: run.missing,
            from_data: RwLock::default(),
            labels: Mutex::new(Labels::read(run.labels)?),
        })
    }

    /// Takes in what only the data know: lengths, and who shares a prompt.
    pub(crate) fn add_data(&self, rows: &[DataRow]) {
        let count = self.index.len();
        let groups = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        let mut found = FromData { chars: vec![f64::NAN; count], groups };
        let mut last: Option<(usize, u32)> = None;
        for row in rows {
            let Some(at) = self.index.place(row.number) else { continue };
            if self.index.ids.get(at) != Some(&row.id) {
                continue;
            }
            if let Some(place) = found.chars.get_mut(at) {
                *place = float(row.chars);
            }
            let before = last.filter(|(before, prompt)| before + 1 == at && *prompt == row.prompt);
            let first = before.and_then(|(before, _)| found.groups.get(before).copied());
            if let (Some(first), Some(place)) = (first, found.groups.get_mut(at)) {
                *place = first;
            }
            last = Some((at, row.prompt));
        }
        let lengths = lengths(&found.chars, &self.index.rewards);
        let mut overview = self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        overview.as_object_mut().map(|all| all.insert("lengths".to_owned(), lengths));
        drop(overview);
        *self.from_data.write().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// What is said of the run as a whole.
    pub(crate) fn json(&self) -> Value {
        let overview = &*self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "about": self.about, "overview": overview, "training": self.training, "audit": self.audit,
        })
    }

    /// The row of the line of the run.
    pub(crate) fn value(&self, at: usize) -> Result<Option<Value>, ViewError> {
        let Some(line) = self.file.line(at)? else { return Ok(None) };
        serde_json::from_slice(&line).map(Some).map_err(|why| ViewError::Data(Box::new(why)))
    }

    /// The texts of a row, where the data have it under its id.
    pub(crate) fn text(&self, at: usize, id: &str) -> Result<Option<RowText>, ViewError> {
        let number = self.index.numbers.get(at).copied();
        let (Some(data), Some(number)) = (&self.data, number) else { return Ok(None) };
        let line = data_line(&self.data_files, number)?;
        Ok(line.and_then(|line| data.row(&line)).filter(|text| text.id == id))
    }

    /// A row with everything, its texts cut at `bytes`.
    pub(crate) fn row(&self, at: usize, bytes: usize) -> Result<Option<Value>, ViewError> {
        let Some(line) = self.value(at)? else { return Ok(None) };
        let id = line.get("id").and_then(Value::as_str).unwrap_or_default();
        let shown =
            |text| ShownTexts::new(&text, line.get("verdicts").unwrap_or(&Value::Null), bytes);
        let texts = self.text(at, id)?.map(shown);
        let mut row = self.head(at, &cut_line(&line, bytes));
        if let Value::Object(members) = &mut row {
            members.insert("texts".to_owned(), json!(texts));
            members.insert("missing".to_owned(), json!(self.missing));
        }
        Ok(Some(row))
    }

    /// What is known of a row but for its texts.
    pub(crate) fn head(&self, at: usize, line: &Value) -> Value {
        let number = self.index.numbers.get(at).copied().unwrap_or(at as u64);
        let label = self.labels.lock().unwrap_or_else(PoisonError::into_inner).get(number);
        let from_data = self.from_data.read().unwrap_or_else(PoisonError::into_inner);
        let known = |column: &[f64]| column.get(at).copied().filter(|value| value.is_finite());
        let (us, chars) = (known(&self.index.us), known(&from_data.chars));
        json!({ "at": at, "number": number, "us": us, "chars": chars, "label": label, "line": line })
    }

    /// A row as a list has it: of its verdicts, what came of them.
    #[cfg(feature = "serve")]
    pub(crate) fn listed(&self, at: usize) -> Result<Option<Value>, ViewError> {
        let Some(mut line) = self.value(at)? else { return Ok(None) };
        let verdicts = line.get_mut("verdicts").and_then(Value::as_object_mut);
        for verdict in verdicts.into_iter().flat_map(serde_json::Map::values_mut) {
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
        let found = self.from_data.read().unwrap_or_else(PoisonError::into_inner);
        let is_known = self.index.grouped == 0 && !found.groups.is_empty();
        let groups = if is_known { &found.groups } else { &self.index.groups };
        let Some(first) = groups.get(at).copied() else { return 0..0 };
        let own = groups.iter().skip(first as usize).take_while(|group| **group == first);
        first as usize..first as usize + own.take(most).count()
    }
}
