//! Shards of a run become the run: the very bytes that one session would have written.
//!
//! Every line of timings names its row, so the shards are merged by the numbers of their rows, and it
//! does not matter how the rows were split. Nothing is held but a line of each shard.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use assay_verifiers::canonical;
use sha2::{Digest as _, Sha256};

use super::folder::{RunError, RunFolder};
use super::form::{VerdictForm, write_form};
use super::manifest::{Identity, RunManifest};
use super::shard_rows::ShardRows;
use super::shard_set::{Part, ShardSet};
use super::store::{DiskStore, Store};
use super::{CONFIG, MANIFEST, SUMMARY, TIMINGS, VERDICTS, VERDICTS_PARQUET};
use crate::data::read_regular;
use crate::engine::batch::Batch;
use crate::engine::lines;
use crate::engine::summary::Summary;

/// Where lines go until all shards were read.
const MERGED_VERDICTS: &str = ".verdicts.jsonl.tmp";
const MERGED_TIMINGS: &str = ".timings.jsonl.tmp";

/// Rows that are written together.
const BATCH_ROWS: usize = 1024;

/// The bytes of all buffers together, and the least and the most that one file gets.
const BUFFERS_BYTES: usize = 16 << 20;
const BUFFER_BYTES_MIN: usize = 8 << 10;
const BUFFER_BYTES_MAX: usize = 256 << 10;

/// Shards that are about to become one run.
pub struct MergeSpec {
    /// The folders of shards, and folders that hold them.
    pub runs: Vec<PathBuf>,
    /// The folder of the run, held by this process. It may be the one that holds the shards.
    pub output: PathBuf,
    /// The id of this process.
    pub pid: u32,
    /// Start over, whatever the folder holds of another run.
    pub fresh: bool,
    /// The form of the verdict rows.
    pub form: VerdictForm,
}

/// What a merge came to.
#[derive(Debug)]
pub struct MergeReport {
    /// The whole run.
    pub summary: Summary,
    /// How many shards it was.
    pub shards: usize,
}

impl MergeSpec {
    /// Merges the shards. `progress` is told how many rows were merged, and may stop it.
    ///
    /// # Errors
    /// Which shard is missing, incomplete, given twice, damaged, or of another run. The output is then
    /// as it was.
    pub fn merge(
        &self,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<MergeReport, RunError> {
        let set = self.shards()?;
        let failed = |source| RunError::Io { file: self.output.display().to_string(), source };
        self.write(&set, &mut DiskStore::new(&self.output).map_err(failed)?, progress)
    }

    /// Merges the shards by way of `store`, which writes into the output.
    ///
    /// # Errors
    /// The same.
    pub fn merge_into(&self, store: &mut dyn Store) -> Result<MergeReport, RunError> {
        self.write(&self.shards()?, store, &mut |_| ControlFlow::Continue(()))
    }

    fn shards(&self) -> Result<ShardSet, RunError> {
        let set = ShardSet::find(&self.runs)?;
        if let Some(part) = set.parts.iter().find(|part| is_same_folder(&part.dir, &self.output)) {
            let why = "the run cannot be written into the folder of one of its shards".to_owned();
            return Err(RunError::shards(&part.dir, why));
        }
        Ok(set)
    }

    fn write(
        &self,
        set: &ShardSet,
        store: &mut dyn Store,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<MergeReport, RunError> {
        let folder = RunFolder::open(&self.output, self.pid)?;
        let manifest = RunManifest {
            identity: Identity { shard: None, ..set.first.identity.clone() },
            complete: false,
            rows: None,
            verdicts_sha256: None,
            summary_sha256: None,
            ..set.first.clone()
        };
        if !self.fresh {
            folder.admit(&manifest)?;
        }
        let merged = Merger::new(&folder, store, &set.parts).and_then(|mut merged| {
            merged.rows(set, progress)?;
            merged.retries()?;
            Ok(merged.finish())
        });
        let (summary, sha256) = merged.inspect_err(|_| {
            for name in [MERGED_VERDICTS, MERGED_TIMINGS] {
                // What is left behind is in nobody's way.
                let _ = store.remove(name);
            }
        })?;
        commit(&folder, store, set, &Merged { manifest, summary: &summary, sha256 })?;
        let names: Vec<String> = summary.rewards.iter().map(|reward| reward.name.clone()).collect();
        write_form(&self.output, self.form, &names)?;
        Ok(MergeReport { summary, shards: set.parts.len() })
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// What is committed beside the lines.
struct Merged<'a> {
    manifest: RunManifest,
    summary: &'a Summary,
    sha256: String,
}

/// Puts what was merged in place. A manifest that says `complete` comes last: until then the folder
/// holds a run that is not done.
fn commit(
    folder: &RunFolder,
    store: &mut dyn Store,
    set: &ShardSet,
    merged: &Merged<'_>,
) -> Result<(), RunError> {
    let Some(first) = set.parts.first() else { return Ok(()) };
    let config = first.dir.join(CONFIG);
    let config = read_regular(&config)
        .map_err(|source| RunError::Io { file: config.display().to_string(), source })?;
    let complete = RunManifest {
        complete: true,
        rows: Some(merged.summary.rows),
        verdicts_sha256: Some(merged.sha256.clone()),
        summary_sha256: Some(merged.summary.digest()),
        ..merged.manifest.clone()
    };
    let mut write = || -> io::Result<()> {
        store.replace(MANIFEST, &json(&merged.manifest)?)?;
        store.remove(VERDICTS_PARQUET)?;
        store.rename(MERGED_TIMINGS, TIMINGS)?;
        store.rename(MERGED_VERDICTS, VERDICTS)?;
        store.replace(CONFIG, &config)?;
        store.replace(SUMMARY, &json(merged.summary)?)?;
        store.replace(MANIFEST, &json(&complete)?)
    };
    write().map_err(|source| folder.io("", source))
}

fn json(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Lines of shards on their way into one file.
struct Merger<'a> {
    folder: &'a RunFolder,
    store: &'a mut dyn Store,
    shards: Vec<ShardRows>,
    batch: Batch,
    summary: Summary,
    sha256: Sha256,
}

impl<'a> Merger<'a> {
    fn new(
        folder: &'a RunFolder,
        store: &'a mut dyn Store,
        parts: &[Part],
    ) -> Result<Self, RunError> {
        for name in [MERGED_VERDICTS, MERGED_TIMINGS] {
            let emptied = store.remove(name).and_then(|()| store.append(name, b""));
            emptied.map_err(|error| folder.io(name, error))?;
        }
        let most = BUFFERS_BYTES / (2 * parts.len()).max(1);
        let buffer = most.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        let rows = |part: &Part| ShardRows::new(&part.dir, part.summary.rows, buffer);
        let shards = parts.iter().map(rows).collect();
        let summary = parts.first().map_or_else(Summary::default, |part| part.summary.emptied());
        Ok(Self { folder, store, shards, batch: Batch::default(), summary, sha256: Sha256::new() })
    }

    /// Merges the rows by their numbers.
    fn rows(
        &mut self,
        set: &ShardSet,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        let mut next = BinaryHeap::new();
        for (at, shard) in self.shards.iter_mut().enumerate() {
            next.extend(shard.advance()?.map(|timed| Reverse((timed.row, timed.group, at))));
        }
        let (mut expected, mut missing) = (0, 0);
        while let Some(Reverse((row, group, at))) = next.pop() {
            let Some(shard) = self.shards.get_mut(at) else { break };
            let Some(gap) = row.checked_sub(expected) else {
                return Err(shard.damaged(&format!("row {} is there twice", row + 1)));
            };
            (expected, missing) = (row + 1, missing + gap);
            let scored = lines::parse(&shard.verdict).map_err(|why| {
                shard.damaged(&format!("row {} is no verdict row: {why}", row + 1))
            })?;
            self.batch.verdicts.extend_from_slice(&shard.verdict);
            self.batch.timings.extend_from_slice(&shard.timing);
            self.batch.groups.push(group);
            self.batch.count(&scored, self.summary.rewards.len());
            next.extend(shard.advance()?.map(|timed| Reverse((timed.row, timed.group, at))));
            if self.batch.rows >= BATCH_ROWS {
                self.write()?;
                if progress(self.summary.rows).is_break() {
                    return Err(RunError::Stopped);
                }
            }
        }
        self.write()?;
        for (shard, part) in self.shards.iter_mut().zip(&set.parts) {
            shard.check(part.manifest.verdicts_sha256.as_deref())?;
            self.summary.absorb(part.summary.clone());
        }
        // Rows that were skipped have no line.
        if missing > self.summary.skipped {
            let why = format!("{missing} rows before row {expected} are in no shard");
            return Err(RunError::shards(&self.folder.path(""), why));
        }
        Ok(())
    }

    /// The timings of rows that were judged again come after those of all rows.
    fn retries(&mut self) -> Result<(), RunError> {
        for shard in &mut self.shards {
            while shard.next_retry()? {
                let written = self.store.append(MERGED_TIMINGS, &shard.timing);
                written.map_err(|error| self.folder.io(MERGED_TIMINGS, error))?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), RunError> {
        let batch = std::mem::take(&mut self.batch);
        let written = self.store.append(MERGED_TIMINGS, &batch.timings);
        written.map_err(|error| self.folder.io(MERGED_TIMINGS, error))?;
        let written = self.store.append(MERGED_VERDICTS, &batch.verdicts);
        written.map_err(|error| self.folder.io(MERGED_VERDICTS, error))?;
        self.sha256.update(&batch.verdicts);
        self.summary.add(&batch);
        Ok(())
    }

    fn finish(mut self) -> (Summary, String) {
        self.summary.finish();
        (self.summary, canonical::hex(&self.sha256.finalize()))
    }
}
