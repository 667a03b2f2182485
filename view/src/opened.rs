//! A run that is shown: its index, its data, its labels.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde_json::{Value, json};

use crate::data::{DataIndex, RunData};
use crate::error::ViewError;
use crate::files::RunFiles;
use crate::index::RunIndex;
use crate::labels::Labels;
use crate::overview::{Lengths, Overview};
use crate::row::{RowText, ShownTexts, cut_line};
use crate::search::{lines_with, needles};
use crate::text::marks;
use crate::training::training;

/// What a page takes of each text of a row.
const TEXT_BYTES_MAX: usize = 200_000;
/// The same of each member of a group.
const MEMBER_BYTES_MAX: usize = 4_000;
/// Members of a group that are shown.
const MEMBERS_MAX: usize = 64;
/// What a list takes of the texts of a row.
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

/// What only the data know of all rows. It is read in the background.
#[derive(Default)]
struct FromData {
    /// Characters of the completion; `u32::MAX` where they are not known.
    chars: Vec<u32>,
    /// The first row of those that share a prompt with each.
    groups: Option<Vec<u32>>,
    lengths: Lengths,
}

/// A run that is shown.
pub(crate) struct OpenedRun {
    pub(crate) index: RunIndex,
    about: Value,
    training: Option<Value>,
    overview: Mutex<Overview>,
    data: Option<(Arc<dyn RunData>, DataIndex)>,
    missing: Option<String>,
    from_data: RwLock<FromData>,
    labels: Mutex<Labels>,
}

impl OpenedRun {
    pub(crate) fn open(run: ViewRun) -> Result<Self, ViewError> {
        let files = RunFiles::open(&run.dir)?;
        let (index, overview) = RunIndex::read(&files)?;
        let data = match run.data {
            Some(data) => {
                let places = DataIndex::read(data.files())?;
                Some((data, places))
            }
            None => None,
        };
        Ok(Self {
            index,
            about: files.about(),
            training: training(&run.dir),
            overview: Mutex::new(overview),
            data,
            missing: run.missing,
            from_data: RwLock::default(),
            labels: Mutex::new(Labels::read(run.labels)?),
        })
    }

    /// Reads what only the data know: lengths, and who shares a prompt. `is_ended` stops it.
    pub(crate) fn read_data(&self, is_ended: &dyn Fn() -> bool) -> Result<(), ViewError> {
        let Some((data, _)) = &self.data else { return Ok(()) };
        let count = self.index.len();
        let mut found = FromData { chars: vec![u32::MAX; count], ..FromData::default() };
        let mut groups: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        let mut last: Option<(usize, String)> = None;
        for row in data.rows()? {
            let row = row?;
            if is_ended() {
                return Ok(());
            }
            let Some(at) = self.index.place(row.number) else { continue };
            let chars = row.completion.chars().count();
            if let Some(place) = found.chars.get_mut(at) {
                *place = u32::try_from(chars).unwrap_or(u32::MAX - 1);
            }
            let reward = self.index.rewards.get(at).copied().filter(|reward| reward.is_finite());
            found.lengths.add(chars as u64, reward.map(f64::from));
            let first = match &last {
                Some((before, prompt)) if before + 1 == at && *prompt == row.prompt => {
                    groups.get(*before).copied()
                }
                _ => None,
            };
            if let (Some(first), Some(place)) = (first, groups.get_mut(at)) {
                *place = first;
            }
            last = Some((at, row.prompt));
        }
        found.groups = (!self.index.has_groups()).then_some(groups);
        if let Ok(mut overview) = self.overview.lock() {
            overview.lengths = found.lengths.clone();
        }
        *self.from_data.write().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(())
    }

    /// What is said of the run as a whole.
    pub(crate) fn json(&self) -> Value {
        let config = self.about.get("config").cloned().unwrap_or(Value::Null);
        let overview = self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "about": self.about, "overview": overview.json(&config), "training": self.training })
    }

    /// The length of a completion in characters.
    pub(crate) fn chars(&self, at: usize) -> Option<u32> {
        let found = self.from_data.read().unwrap_or_else(PoisonError::into_inner);
        found.chars.get(at).copied().filter(|chars| *chars != u32::MAX)
    }

    /// The lengths of all completions, as far as they are known.
    pub(crate) fn all_chars(&self) -> Vec<u32> {
        self.from_data.read().unwrap_or_else(PoisonError::into_inner).chars.clone()
    }

    /// The row of the line of the run.
    pub(crate) fn value(&self, at: usize) -> Result<Option<Value>, ViewError> {
        let Some(line) = self.index.line(at)? else { return Ok(None) };
        serde_json::from_slice(&line).map(Some).map_err(|why| ViewError::Data(Box::new(why)))
    }

    /// The texts of a row, where the data have it under its id.
    pub(crate) fn text(&self, at: usize, id: &str) -> Result<Option<RowText>, ViewError> {
        let Some((data, places)) = &self.data else { return Ok(None) };
        let line = places.line(self.index.number(at))?;
        Ok(line.and_then(|line| data.row(&line)).filter(|text| text.id == id))
    }

    /// A row with everything.
    pub(crate) fn row(&self, at: usize) -> Result<Option<Value>, ViewError> {
        self.shown(at, TEXT_BYTES_MAX)
    }

    fn shown(&self, at: usize, bytes: usize) -> Result<Option<Value>, ViewError> {
        let Some(line) = self.value(at)? else { return Ok(None) };
        let id = line.get("id").and_then(Value::as_str).unwrap_or_default();
        let marks = line.get("verdicts").map(marks).unwrap_or_default();
        let texts = self.text(at, id)?.map(|text| ShownTexts::new(&text, &marks, bytes));
        let mut row = self.head(at);
        if let Value::Object(members) = &mut row {
            members.insert("texts".to_owned(), json!(texts));
            members.insert("missing".to_owned(), json!(self.missing));
            members.insert("line".to_owned(), cut_line(&line, bytes));
        }
        Ok(Some(row))
    }

    fn head(&self, at: usize) -> Value {
        let number = self.index.number(at);
        let labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        let label = labels.get(number);
        let label = label.map(|mark| json!({ "label": mark.label, "note": mark.note }));
        let (us, chars) = (self.index.us(at), self.chars(at));
        json!({ "at": at, "number": number, "us": us, "chars": chars, "label": label })
    }

    /// A row as a list has it: of its verdicts, what came of them.
    pub(crate) fn listed(&self, at: usize) -> Result<Option<Value>, ViewError> {
        let Some(mut line) = self.value(at)? else { return Ok(None) };
        for (_, verdict) in
            line.get_mut("verdicts").and_then(Value::as_object_mut).into_iter().flatten()
        {
            if let Value::Object(members) = verdict {
                members.retain(|key, _| matches!(key.as_str(), "outcome" | "reward" | "fault"));
            }
        }
        let mut row = self.head(at);
        if let Value::Object(members) = &mut row {
            members.insert("line".to_owned(), cut_line(&line, LISTED_BYTES_MAX));
        }
        Ok(Some(row))
    }

    /// The rows of the group of a row.
    pub(crate) fn group(&self, at: usize) -> Result<Vec<Value>, ViewError> {
        let found = self.from_data.read().unwrap_or_else(PoisonError::into_inner);
        let groups = found.groups.as_ref().unwrap_or(&self.index.groups);
        let Some(first) = groups.get(at).copied() else { return Ok(Vec::new()) };
        let start = first as usize;
        let own = groups.iter().skip(start).take_while(|group| **group == first);
        let end = start + own.take(MEMBERS_MAX).count();
        drop(found);
        let rows = (start..end).map(|at| self.shown(at, MEMBER_BYTES_MAX));
        rows.filter_map(Result::transpose).collect()
    }

    /// The rows whose line or whose data hold a text.
    pub(crate) fn with_text(&self, text: &str) -> Result<Vec<usize>, ViewError> {
        let io = |source| ViewError::Io { file: "search".to_owned(), source };
        let needles = needles(text);
        let mut rows = lines_with(self.index.file(), &self.index.offsets, &needles).map_err(io)?;
        for file in self.data.iter().flat_map(|(_, places)| places.files()) {
            let found = lines_with(&file.file, &file.offsets, &needles).map_err(io)?;
            rows.extend(
                found.into_iter().filter_map(|at| self.index.place(file.first + at as u64)),
            );
        }
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    /// The marks of people.
    pub(crate) fn labels(&self) -> &Mutex<Labels> {
        &self.labels
    }
}
