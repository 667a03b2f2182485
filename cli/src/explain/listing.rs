//! A run whose rows are listed: its lines, one after another, and what is known beside them.

use std::fs;
use std::path::{Path, PathBuf};

use assay::data::{Checked, Columns, ReadLimits, Row, Source, escape, is_stream};
use assay::engine::runs::{CONFIG, MANIFEST, RunManifest, SUMMARY, VerdictRows, verdict_rows};
use assay::engine::{Agreement, Summary};
use assay::verifiers::Scored;
use serde_json::Value;

use crate::exit::Failure;
use crate::run_files::{columns, input_file, json, manifest, other_row, row_numbers};

/// Rows that are shown of one kind, where not all are asked for.
pub(super) const SHOWN_MAX: usize = 5;

/// A run that was made.
pub(super) struct ListedRun {
    dir: PathBuf,
    manifest: RunManifest,
    config: Value,
}

/// A row of a run.
pub(super) struct ListedRow {
    /// Its number over the whole input, from 1.
    pub(super) row: u64,
    pub(super) scored: Scored,
}

impl ListedRun {
    pub(super) fn open(dir: &Path) -> Result<Self, Failure> {
        let shown = dir.display();
        if !dir.join(MANIFEST).is_file() {
            if has_shards(dir) {
                let why = format!(
                    "{shown} holds shards: make one run of them first, by `assay merge {shown} -o \
                     {shown}`"
                );
                return Err(Failure::usage(why));
            }
            let why = format!("{shown} is not a run folder: it has no {MANIFEST}");
            return Err(Failure::usage(why));
        }
        let manifest = manifest(dir)?;
        Ok(Self { dir: dir.to_owned(), manifest, config: json(dir, CONFIG)? })
    }

    /// The rows, in the order of the run.
    pub(super) fn rows(
        &self,
    ) -> Result<impl Iterator<Item = Result<ListedRow, Failure>> + use<>, Failure> {
        // As far as the timings have them.
        let numbers = row_numbers(&self.dir).ok().map(|numbers| numbers.map_while(Result::ok));
        let numbers = Box::new(numbers.into_iter().flatten());
        Ok(RowsOfRun { rows: verdict_rows(&self.dir)?, numbers, read: 0 })
    }

    /// The names of the rewards, each with its weight as the configuration has it.
    pub(super) fn rewards(&self) -> Vec<(String, Value)> {
        let rewards = self.config.get("reward").and_then(Value::as_array).into_iter().flatten();
        let named = |reward: &Value| {
            let weight = reward.get("weight").cloned().unwrap_or(Value::Null);
            Some((reward.get("name")?.as_str()?.to_owned(), weight))
        };
        rewards.filter_map(named).collect()
    }

    /// The comparison with labels that the run made itself.
    pub(super) fn agreement(&self) -> Option<Agreement> {
        let summary: Summary = json(&self.dir, SUMMARY).ok()?;
        summary.labels
    }

    /// The rows of the data with their labels: of `data`, or of the files that the run was made of.
    pub(super) fn labelled(
        &self,
        data: &[PathBuf],
        column: &str,
    ) -> Result<impl Iterator<Item = Result<Row, Failure>> + use<>, Failure> {
        let inputs = self.manifest.identity.inputs.iter();
        let own =
            inputs.map(|one| input_file(&self.dir, one).unwrap_or_else(|| (&one.path).into()));
        let data: Vec<PathBuf> = if data.is_empty() { own.collect() } else { data.to_vec() };
        let gone = |path: &&PathBuf| path.as_os_str() == "-" || is_stream(path).unwrap_or(true);
        if let Some(gone) = data.iter().find(gone) {
            let why = format!(
                "--labels {}: {} cannot be read again: name the rows that were scored, as in \
                 `assay explain RUN DATA... --disagree --labels COLUMN`",
                escape(column),
                gone.display()
            );
            return Err(Failure::usage(why));
        }
        let own = columns(&self.config, self.dir.display())?;
        let columns = Columns { label: Some(column.to_owned()), ..own };
        let blocks = Checked::new(Source::open(&data, &ReadLimits::default())?, &columns);
        Ok(blocks.flat_map(move |block| -> Vec<Result<Row, Failure>> {
            match block {
                Ok(block) => block.rows(&columns).into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error.into())],
            }
        }))
    }
}

/// Fails where a row of the data is not the one that the run scored.
pub(super) fn same_row(row: &Row, listed: &ListedRow) -> Result<(), Failure> {
    match other_row(row, &listed.scored.id) {
        None => Ok(()),
        Some(what) => {
            let why = format!("the data are not the rows that were scored: {what}");
            Err(Failure::usage(why))
        }
    }
}

struct RowsOfRun {
    rows: VerdictRows,
    /// The number of each row over the whole input.
    numbers: Box<dyn Iterator<Item = u64>>,
    read: u64,
}

impl Iterator for RowsOfRun {
    type Item = Result<ListedRow, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let scored = match self.rows.next()? {
            Ok(scored) => scored,
            Err(error) => return Some(Err(error.into())),
        };
        let number = self.numbers.next().unwrap_or(self.read);
        self.read += 1;
        Some(Ok(ListedRow { row: number + 1, scored }))
    }
}

fn has_shards(dir: &Path) -> bool {
    let is_shard = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with("shard-");
    fs::read_dir(dir).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_shard)))
}
