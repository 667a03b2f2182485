//! Files into a run folder: what `assay score` and `score_file` of Python do.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_verifiers::TrainingState;
use tokio_util::sync::CancellationToken;

use super::batch::Batch;
use super::runs::{
    DiskStore, RunError, RunFolder, RunInputs, VerdictForm, shard_folder, write_form,
};
use super::score::Engine;
use super::session::{Report, RunSession};
use super::shard::Shard;
use super::stream_spec::BadRows;
use super::summary::Summary;
use crate::data::{Checked, ReadLimits, Source};

/// Which files are scored into which folder, and how.
#[derive(Clone, Debug, Default)]
pub struct FileRunSpec {
    /// Files and dataset folders, and `-` for standard input.
    pub data: Vec<PathBuf>,
    /// The run folder; that of a shard lies inside it.
    pub output: PathBuf,
    /// The part of the run that is made; by default all of it.
    pub shard: Option<Shard>,
    /// What becomes of rows that cannot be read.
    pub bad_rows: BadRows,
    /// The most rows of input that are read, those of other shards included.
    pub limit: Option<u64>,
    /// Where the training stands: its step, and what shapes know of it.
    pub training: TrainingState,
    /// Start over, whatever the folder holds of an earlier run.
    pub fresh: bool,
    /// Once complete, judge rows with a fault again.
    pub retry_faults: bool,
    /// The form of the verdict rows.
    pub form: VerdictForm,
    /// The rows were made of others: none of them need have the columns that settings name.
    pub derived: bool,
}

/// How far a run is.
pub struct RunProgress<'a> {
    /// The rows so far, those of earlier sessions included.
    pub summary: &'a Summary,
    /// The rows that were just written.
    pub batch: &'a Batch,
    /// Bytes of files that were read.
    pub bytes_read: u64,
}

/// A run whose files were found and whose folder is held by this process.
pub struct FileRun<'a> {
    session: RunSession<'a>,
    spec: FileRunSpec,
    limits: ReadLimits,
    folder: PathBuf,
}

impl<'a> FileRun<'a> {
    /// Finds the files, takes their digests, and takes the folder. `pid` is the id of this process.
    ///
    /// # Errors
    /// Data that cannot be read, a folder that another process holds, or one that a shard cannot go to.
    pub fn open(spec: FileRunSpec, engine: &'a Engine, pid: u32) -> Result<Self, RunError> {
        let limits = engine.plan().config.limits.data();
        let inputs = RunInputs::find(&spec.data, &limits)?;
        let folder = match spec.shard {
            None => spec.output.clone(),
            Some(shard) => {
                if let Some(stream) = inputs.stream() {
                    let name = match stream.path.as_str() {
                        "-" => "standard input",
                        pipe => pipe,
                    };
                    let why = format!(
                        "{name} cannot be shown to be the same for every shard: save it to a file"
                    );
                    return Err(RunError::shards(&spec.output, why));
                }
                shard_folder(&spec.output, shard)?
            }
        };
        let failed = |source| RunError::Io { file: folder.display().to_string(), source };
        let session = RunSession {
            engine,
            inputs,
            folder: RunFolder::open(&folder, pid)?,
            store: Box::new(DiskStore::new(&folder).map_err(failed)?),
            bad_rows: spec.bad_rows,
            limit: spec.limit,
            shard: spec.shard,
            training: spec.training.clone(),
            fresh: spec.fresh,
            retry_faults: spec.retry_faults,
        };
        Ok(Self { session, spec, limits, folder })
    }

    /// The folder that is written.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The bytes of the files; streams have none.
    pub fn bytes_total(&self) -> u64 {
        self.session.inputs.files().iter().map(|input| input.bytes).sum()
    }

    /// Whether the same command can go on where this one is stopped: streams cannot be read again.
    pub fn can_go_on(&self) -> bool {
        self.session.inputs.stream().is_none()
    }

    /// Scores until the data end, the limit is reached, or `stop` is cancelled. `progress` is told of
    /// every batch of rows.
    ///
    /// # Errors
    /// Why the run cannot go on. Rows that were written stay, and the next run goes on there.
    pub fn run(
        &mut self,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(&RunProgress<'_>),
    ) -> Result<Report, RunError> {
        let read = Arc::new(AtomicU64::new(0));
        let (data, limits) = (&self.spec.data, &self.limits);
        let notes = self.session.inputs.notes();
        let plan = self.session.engine.plan();
        let mut columns = plan.config.data.clone();
        columns.optional |= self.spec.derived;
        let open = || {
            let source = Source::open(data, limits)?.count_into(Arc::clone(&read));
            let source = source.note_streams(Arc::clone(&notes));
            Ok(Checked::new(source, &columns).and_meta(&columns, plan.named_columns()))
        };
        let report = self.session.run(&open, stop, &mut |summary, batch| {
            let bytes_read = read.load(Ordering::Relaxed);
            progress(&RunProgress { summary, batch, bytes_read });
        })?;
        if report.complete {
            write_form(&self.folder, self.spec.form, &self.session.engine.plan().names)?;
        }
        Ok(report)
    }
}
