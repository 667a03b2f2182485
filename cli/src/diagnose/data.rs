//! The rows that a run scored: prompts, texts, lengths, labels.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use assay::data::{Checked, Columns, ReadLimits, Source};
use assay::engine::runs::{RunManifest, hash_file};
use assay::engine::{UnreadLabels, label_truth};
use serde_json::Value;

use super::args::Args;
use super::input::RunInput;
use crate::exit::Failure;
use crate::run_files;
use crate::spooled::Spooled;
use crate::summary::unread_text;

/// The files of `--with`, by the digest of their bytes.
pub(super) struct DataFiles(
    Vec<(PathBuf, String)>,
    #[expect(dead_code, reason = "its files are there for as long")] Option<Spooled>,
);

/// The data of one run, along its rows.
pub(super) struct RunData {
    /// `None` where the data have no row of that id.
    pub(super) rows: Vec<Option<DataRow>>,
    /// The column of the labels, where there is one.
    pub(super) label: Option<String>,
    /// Labels in it that are neither right nor wrong.
    pub(super) unread: UnreadLabels,
    /// What is to be said of it.
    pub(super) notes: Vec<String>,
}

/// One row of the data.
#[derive(Clone)]
pub(super) struct DataRow {
    /// What it shares with others: its group, else its prompt.
    pub(super) prompt: String,
    pub(super) completion: String,
    /// Token ids of the completion, where the data have them.
    pub(super) tokens: Option<usize>,
    pub(super) label: Option<bool>,
    pub(super) stratum: Option<String>,
}

impl DataFiles {
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        if paths.is_empty() {
            return Ok(Self(Vec::new(), None));
        }
        let spooled = Spooled::new(paths)?;
        let source = Source::open(&spooled.paths, &ReadLimits::default())?;
        let mut files = Vec::new();
        for path in source.paths() {
            let Some(path) = path else { continue };
            files.push((path.to_owned(), hash_file(path)?.0));
        }
        Ok(Self(files, Some(spooled)))
    }

    /// The rows of a run; `None` without `--with`.
    pub(super) fn of_run(
        &mut self,
        run: &RunInput,
        args: &Args,
    ) -> Result<Option<RunData>, Failure> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut notes = Vec::new();
        let files = self.files(run.manifest.as_ref(), &mut notes);
        let columns = columns(run, args)?;
        let mut by_id: BTreeMap<String, VecDeque<DataRow>> = BTreeMap::new();
        let mut unread = UnreadLabels::default();
        if !files.is_empty() {
            read(&files, &columns, args, &mut by_id, &mut unread)?;
        }
        notes.extend(unread_text(&unread, 0));
        let take = |id: &String| by_id.get_mut(id).and_then(VecDeque::pop_front);
        let rows: Vec<Option<DataRow>> = run.rows.ids.iter().map(take).collect();
        let missing = rows.iter().filter(|row| row.is_none()).count();
        if missing > 0 {
            notes.push(format!("{missing} of {} rows are not in the data by their id", rows.len()));
        }
        Ok(Some(RunData { rows, label: columns.label, unread, notes }))
    }

    /// The files that the run scored, in its order; all of them for a run that does not say.
    fn files(&self, manifest: Option<&RunManifest>, notes: &mut Vec<String>) -> Vec<PathBuf> {
        let Some(manifest) = manifest else {
            notes.push(
                "a run without a manifest does not say what it scored: \
                        rows are matched with all data by id"
                    .to_owned(),
            );
            return self.0.iter().map(|(path, _)| path.clone()).collect();
        };
        let inputs = &manifest.identity.inputs;
        let file = |sha256: &Option<String>| {
            self.0
                .iter()
                .find(|(_, own)| Some(own) == sha256.as_ref())
                .map(|(path, _)| path.clone())
        };
        let found: Vec<PathBuf> = inputs.iter().filter_map(|input| file(&input.sha256)).collect();
        if found.len() < inputs.len() {
            notes.push(format!(
                "{} of the {} files that the run scored are among the data",
                found.len(),
                inputs.len()
            ));
        }
        found
    }
}

fn columns(run: &RunInput, args: &Args) -> Result<Columns, Failure> {
    let mut columns = run_files::columns(&run.config, &run.name)?;
    if args.label.is_some() {
        columns.label.clone_from(&args.label);
    }
    Ok(columns)
}

fn read(
    files: &[PathBuf],
    columns: &Columns,
    args: &Args,
    by_id: &mut BTreeMap<String, VecDeque<DataRow>>,
    unread: &mut UnreadLabels,
) -> Result<(), Failure> {
    let asked = Columns { label: args.label.clone(), ..Columns::default() };
    let stratum = args.stratum.iter().map(|column| ("--stratum".to_owned(), column.clone()));
    let source = Checked::new(Source::open(files, &ReadLimits::default())?, &asked);
    for block in source.and_meta(columns, stratum.collect()) {
        for row in block?.rows(columns) {
            // A row that cannot be read was not scored either.
            let Ok(sample) = row.sample else { continue };
            let stratum = args.stratum.as_ref().and_then(|column| sample.meta().get(column));
            unread.add(row.label.as_ref(), row.index, sample.id());
            let own = DataRow {
                prompt: sample.group().unwrap_or_else(|| sample.prompt()).to_owned(),
                completion: sample.completion().to_owned(),
                tokens: sample.token_ids().map(<[u32]>::len),
                label: row.label.as_ref().and_then(label_truth),
                stratum: stratum.map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                }),
            };
            by_id.entry(sample.id().to_owned()).or_default().push_back(own);
        }
    }
    Ok(())
}
