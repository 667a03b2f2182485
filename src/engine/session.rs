//! One `assay score`: a dataset through the engine into a run folder.

use std::io;

use assay_verifiers::TrainingState;
use assay_verifiers::canonical;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::batch::Batch;
use super::runs::{
    CONFIG, Identity, MANIFEST, RunError, RunFolder, RunInputs, RunManifest, RunStart, STATE,
    SUMMARY, Store, TIMINGS, VERDICTS, VERDICTS_PARQUET, to_mend,
};
use super::score::Engine;
use super::shard::Shard;
use super::stream_spec::{BadRows, Ended, Resume, StreamError, StreamSpec};
use super::summary::Summary;
use crate::data::{Block, DataError, read_regular};

/// Rows that are read at once for the state after the run.
const STATE_ROWS: usize = 4096;

/// Where the lines go while faults are judged again.
const RETRY: &str = "verdicts.jsonl.retry";

/// A run that is about to be made, continued or found complete.
pub struct RunSession<'a> {
    /// The engine that judges.
    pub engine: &'a Engine,
    /// The folder, held by this process.
    pub folder: RunFolder,
    /// Where the files of the folder are written.
    pub store: Box<dyn Store + 'a>,
    /// The input, file by file.
    pub inputs: RunInputs,
    /// What becomes of rows that cannot be read.
    pub bad_rows: BadRows,
    /// The most rows of input that are read.
    pub limit: Option<u64>,
    /// The part of the run that the folder holds; by default all of it.
    pub shard: Option<Shard>,
    /// Where the training stands.
    pub training: TrainingState,
    /// Start over, whatever the folder holds of an earlier run.
    pub fresh: bool,
    /// Once complete, judge rows with a fault again.
    pub retry_faults: bool,
}

/// What a session came to.
#[derive(Debug)]
pub struct Report {
    /// The whole run, rows of earlier sessions included.
    pub summary: Summary,
    /// How it started.
    pub start: RunStart,
    /// Whether every row is there now.
    pub complete: bool,
    /// Rows that this session scored.
    pub scored: u64,
    /// What was not as the run had left it, and is mended.
    pub mended: Vec<String>,
}

impl RunSession<'_> {
    /// Runs until the data end, the limit is reached, or `stop` is set. `open` opens the data;
    /// `progress` is told of every batch.
    ///
    /// # Errors
    /// Why the run cannot go on. Rows that were written stay, and the next session goes on there.
    pub fn run<S>(
        &mut self,
        open: &dyn Fn() -> Result<S, DataError>,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(&Summary, &Batch),
    ) -> Result<Report, RunError>
    where
        S: Iterator<Item = Result<Block, DataError>> + Send + 'static,
    {
        let mut mended = Vec::new();
        let start = self.begin(&mut mended)?;
        let mut report = match start {
            RunStart::Done => self.done(&mut mended)?,
            RunStart::Fresh | RunStart::Resume => self.score(open()?, start, stop, progress)?,
        };
        if self.retry_faults && report.complete && start != RunStart::Fresh {
            let retried = self.retry(open()?, stop, progress)?;
            report = Report { start, scored: report.scored + retried.scored, ..retried };
        }
        Ok(Report { mended, ..report })
    }

    fn begin(&mut self, mended: &mut Vec<String>) -> Result<RunStart, RunError> {
        let manifest = self.manifest();
        let start = if self.fresh { RunStart::Fresh } else { self.start(&manifest, mended)? };
        if start == RunStart::Fresh {
            for name in RunFolder::files() {
                self.remove(name)?;
            }
        }
        if start == RunStart::Resume || (start == RunStart::Done && self.retry_faults) {
            // It was made of the lines that are about to change.
            self.remove(VERDICTS_PARQUET)?;
        }
        // What trainers read may have changed, also where the run is complete.
        self.replace_json(CONFIG, &self.engine.plan().resolved())?;
        if start != RunStart::Done {
            self.replace_json(MANIFEST, &manifest)?;
        }
        self.remove(RETRY)?;
        Ok(start)
    }

    /// How the run starts in a folder that may hold a part of it. A complete one is held against its
    /// manifest, also where it is about to go on.
    fn start(&self, wanted: &RunManifest, mended: &mut Vec<String>) -> Result<RunStart, RunError> {
        let start = self.folder.start(wanted, &self.engine.plan().deciding())?;
        let Some(have) = self.folder.manifest()?.filter(|have| have.complete) else {
            return Ok(start);
        };
        let Some(why) = to_mend(self.folder.dir(), &have)? else { return Ok(start) };
        mended.push(why);
        Ok(RunStart::Resume)
    }

    /// A run that is complete already.
    fn done(&mut self, mended: &mut Vec<String>) -> Result<Report, RunError> {
        let summary = self.folder.read_json(SUMMARY)?;
        let summary =
            summary.ok_or_else(|| self.folder.foreign(format!("{SUMMARY} is missing")))?;
        let state = |run: &Self| read_regular(&run.folder.path(STATE)).ok();
        let before = state(self);
        self.leave_state()?;
        if state(self) != before {
            mended
                .push(format!("{STATE} was not as the run left it: it is made again of the rows"));
        }
        Ok(Report { summary, start: RunStart::Done, complete: true, scored: 0, mended: Vec::new() })
    }

    /// Goes on after the lines that are there.
    fn score<S>(
        &mut self,
        source: S,
        start: RunStart,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(&Summary, &Batch),
    ) -> Result<Report, RunError>
    where
        S: Iterator<Item = Result<Block, DataError>> + Send + 'static,
    {
        let (bytes, lines) = self.folder.whole_lines(VERDICTS, u64::MAX)?;
        self.truncate(VERDICTS, bytes)?;
        // Timings are written first, so there is one for every verdict line.
        let (timing_bytes, _) = self.folder.whole_lines(TIMINGS, lines)?;
        self.truncate(TIMINGS, timing_bytes)?;
        let spec = self.spec(bytes, self.limit, Resume::KeepLines)?;
        let passed = self.pass(source, spec, VERDICTS, stop, progress);
        self.settle()?;
        let (tally, ended) = passed?;
        if ended == Ended::EndOfData && tally.old < lines {
            let why = format!("the run has {lines} rows, the data have {}", tally.old);
            return Err(self.folder.foreign(why));
        }
        self.finish(tally, ended, start)
    }

    /// Judges rows with a fault again. The lines go to a file beside, which then takes the place
    /// of the other: until then nothing is lost.
    fn retry<S>(
        &mut self,
        source: S,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(&Summary, &Batch),
    ) -> Result<Report, RunError>
    where
        S: Iterator<Item = Result<Block, DataError>> + Send + 'static,
    {
        let (bytes, lines) = self.folder.whole_lines(VERDICTS, u64::MAX)?;
        let limit = self.folder.manifest()?.and_then(|manifest| manifest.limit);
        let spec = self.spec(bytes, limit, Resume::RetryFaults)?;
        let passed = self.pass(source, spec, RETRY, stop, progress);
        self.settle()?;
        let (tally, ended) = passed?;
        if ended == Ended::Stopped || tally.summary.rows != lines {
            let (summary, start) = (tally.summary, RunStart::Done);
            return Ok(Report { summary, start, complete: false, scored: 0, mended: Vec::new() });
        }
        // Until the manifest says what the new lines are, it must not say what the old ones were.
        self.replace_json(MANIFEST, &RunManifest { limit, ..self.manifest() })?;
        if lines > 0 {
            self.store.rename(RETRY, VERDICTS).map_err(|error| self.folder.io(VERDICTS, error))?;
        }
        self.finish(tally, ended, RunStart::Done)
    }

    /// Streams the data once; verdict lines go to the file called `into`.
    fn pass<S>(
        &mut self,
        source: S,
        spec: StreamSpec,
        into: &str,
        stop: &CancellationToken,
        progress: &mut dyn FnMut(&Summary, &Batch),
    ) -> Result<(Count, Ended), RunError>
    where
        S: Iterator<Item = Result<Block, DataError>> + Send + 'static,
    {
        let plan = self.engine.plan();
        let labels = plan.config.data.label.as_deref();
        let sha256 = self.folder.hash(into).map_err(|error| self.folder.io(into, error))?;
        let mut tally =
            Count { summary: Summary::new(&plan.names, labels), sha256, old: 0, new: 0 };
        let store = &mut self.store;
        let ended = self.engine.stream(source, spec, stop, |batch| {
            store.append(TIMINGS, &batch.timings)?;
            store.append(into, &batch.verdicts)?;
            tally.sha256.update(&batch.verdicts);
            tally.add(&batch);
            progress(&tally.summary, &batch);
            Ok(())
        });
        match ended {
            Ok(ended) => Ok((tally, ended)),
            Err(StreamError::Sink(source)) => Err(self.folder.io(into, source)),
            Err(StreamError::Earlier(why)) => Err(self.folder.foreign(why)),
            Err(other) => Err(RunError::Stream(other)),
        }
    }

    fn spec(&self, bytes: u64, limit: Option<u64>, mode: Resume) -> Result<StreamSpec, RunError> {
        let earlier = Box::new(self.folder.earlier(bytes)?);
        Ok(StreamSpec {
            bad_rows: self.bad_rows,
            limit,
            shard: self.shard,
            training: self.training.clone(),
            earlier,
            mode,
        })
    }

    fn finish(
        &mut self,
        mut tally: Count,
        ended: Ended,
        start: RunStart,
    ) -> Result<Report, RunError> {
        let complete = ended != Ended::Stopped;
        for name in [TIMINGS, VERDICTS] {
            // An empty run has its files too.
            self.store.append(name, b"").map_err(|error| self.folder.io(name, error))?;
        }
        // A line of timings says of which row a verdict line is.
        for name in [TIMINGS, VERDICTS] {
            self.store.sync(name).map_err(|error| self.folder.io(name, error))?;
        }
        tally.summary.finish();
        tally.summary.cache = self.engine.cache_counts();
        tally.summary.judges = self.engine.judge_report();
        self.replace_json(SUMMARY, &tally.summary)?;
        if complete {
            let manifest = RunManifest {
                complete,
                limit: if ended == Ended::Limit { self.limit } else { None },
                rows: Some(tally.summary.rows),
                verdicts_sha256: Some(canonical::hex(&tally.sha256.finalize())),
                summary_sha256: Some(tally.summary.digest()),
                ..self.manifest()
            };
            self.leave_state()?;
            self.replace_json(MANIFEST, &manifest)?;
        }
        let (summary, scored) = (tally.summary, tally.new);
        Ok(Report { summary, start, complete, scored, mended: Vec::new() })
    }

    /// Writes where the training is after the run, for the next one.
    fn leave_state(&mut self) -> Result<(), RunError> {
        let plan = self.engine.plan();
        if !plan.reads_moments() {
            return Ok(());
        }
        let (bytes, _) = self.folder.whole_lines(VERDICTS, u64::MAX)?;
        let mut state = self.training.clone();
        let mut rows = self.folder.earlier(bytes)?.map(|row| row.map(|row| row.scored));
        loop {
            let chunk = rows.by_ref().take(STATE_ROWS).collect::<Result<Vec<_>, _>>();
            let chunk = chunk.map_err(|why| self.folder.foreign(why))?;
            if chunk.is_empty() {
                return self.replace_json(STATE, &state);
            }
            state = plan.next_state(&state, &chunk);
        }
    }

    fn manifest(&self) -> RunManifest {
        let bad_rows = match self.bad_rows {
            BadRows::Stop => "stop",
            BadRows::Skip => "skip",
            BadRows::Fault => "fault",
        };
        RunManifest {
            format: 1,
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            identity: Identity {
                config_hash: self.engine.plan().config_hash(),
                inputs: self.inputs.files().to_vec(),
                shard: self.shard,
                training: self.training.clone(),
            },
            bad_rows: bad_rows.to_owned(),
            complete: false,
            limit: self.limit,
            rows: None,
            verdicts_sha256: None,
            summary_sha256: None,
        }
    }

    /// Once the data were read: holds them against what they were.
    fn settle(&mut self) -> Result<(), RunError> {
        let settled = self.inputs.settle();
        if settled.is_err() {
            // Rows may be of what the file was or of what it is: nothing goes on from them.
            self.replace_json(MANIFEST, &self.manifest())?;
        }
        settled
    }

    fn replace_json(&mut self, name: &str, value: &impl serde::Serialize) -> Result<(), RunError> {
        let written =
            serde_json::to_vec_pretty(value).map_err(io::Error::from).and_then(|mut bytes| {
                bytes.push(b'\n');
                self.store.replace(name, &bytes)
            });
        written.map_err(|error| self.folder.io(name, error))
    }

    /// Removes a file of the run, if it is there.
    ///
    /// # Errors
    /// A file that cannot be removed.
    fn remove(&mut self, name: &str) -> Result<(), RunError> {
        self.store.remove(name).map_err(|error| self.folder.io(name, error))
    }

    fn truncate(&mut self, name: &str, bytes: u64) -> Result<(), RunError> {
        self.store.truncate(name, bytes).map_err(|error| self.folder.io(name, error))
    }
}

/// The summary as it grows, and how many rows are whose.
struct Count {
    summary: Summary,
    /// Of the verdict lines, those of earlier sessions included.
    sha256: Sha256,
    old: u64,
    new: u64,
}

impl Count {
    fn add(&mut self, batch: &Batch) {
        self.summary.add(batch);
        self.new += batch.scored as u64;
        self.old += (batch.rows - batch.scored) as u64;
    }
}
