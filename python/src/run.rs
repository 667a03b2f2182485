//! Runs: files into a folder, and shards into one run. The interpreter is free meanwhile; now and then
//! the thread that called looks for signals and tells how far the run is.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use assay::Engine;
use assay::engine::runs::{MergeSpec, RunError, VerdictForm};
use assay::engine::{BadRows, CancellationToken, FileRun, FileRunSpec, Report, Shard, Summary};
use assay::verifiers::TrainingState;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::interpreter::detached;
use crate::{error, value};

/// How often the thread that called looks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is scored, and into what.
#[derive(FromPyObject)]
pub(crate) struct RunOptions {
    data: Vec<PathBuf>,
    output: PathBuf,
    shard: Option<(u32, u32)>,
    bad_rows: String,
    limit: Option<u64>,
    fresh: bool,
    retry_faults: bool,
    format: String,
    training: Option<String>,
}

impl RunOptions {
    fn spec(self) -> PyResult<FileRunSpec> {
        let shard = self.shard.map(|(index, of)| Shard::new(index, of)).transpose();
        let shard = shard.map_err(|why| PyValueError::new_err(format!("shard: {why}")))?;
        let bad_rows = match self.bad_rows.as_str() {
            "stop" => BadRows::Stop,
            "skip" => BadRows::Skip,
            "fault" => BadRows::Fault,
            other => return Err(no_such("bad_rows", other, "'stop', 'skip' or 'fault'")),
        };
        Ok(FileRunSpec {
            data: self.data,
            output: self.output,
            shard,
            bad_rows,
            limit: self.limit,
            fresh: self.fresh,
            retry_faults: self.retry_faults,
            form: form(&self.format)?,
            training: training(self.training.as_deref())?,
            derived: false,
        })
    }
}

/// Where a training stands, of its JSON; nowhere yet without.
pub(crate) fn training(state: Option<&str>) -> PyResult<TrainingState> {
    let read = state.map(serde_json::from_str).transpose();
    Ok(read.map_err(|why| PyValueError::new_err(format!("state: {why}")))?.unwrap_or_default())
}

fn form(name: &str) -> PyResult<VerdictForm> {
    match name {
        "jsonl" => Ok(VerdictForm::Jsonl),
        "parquet" => Ok(VerdictForm::Parquet),
        other => Err(no_such("format", other, "'jsonl' or 'parquet'")),
    }
}

fn no_such(name: &str, value: &str, expected: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: expected {expected}, found {value:?}"))
}

/// How far a run is: rows, and bytes of the files.
#[derive(Default)]
struct Reached {
    rows: AtomicU64,
    bytes: AtomicU64,
    bytes_total: AtomicU64,
}

impl Reached {
    fn tell(&self, py: Python<'_>, progress: &Py<PyAny>) -> PyResult<()> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let told = (load(&self.rows), load(&self.bytes), load(&self.bytes_total));
        progress.call1(py, told).map(|_| ())
    }
}

/// Scores files into a run folder; the summary comes back.
pub(crate) fn score_file<'py>(
    py: Python<'py>,
    engine: &Engine,
    options: RunOptions,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (spec, reached, stop) = (options.spec()?, Reached::default(), CancellationToken::new());
    let progress = progress.map(|progress| progress.clone().unbind());
    let run = || run(engine, spec, &reached, &stop);
    let look = |py: Python<'_>| {
        py.check_signals()?;
        progress.as_ref().map_or(Ok(()), |progress| reached.tell(py, progress))
    };
    let report =
        detached(py, || watched(run, look, &stop))?.map_err(|error| error::of_run(&error))?;
    if let Some(progress) = &progress {
        reached.tell(py, progress)?;
    }
    told(py, &report.summary)
}

fn run(
    engine: &Engine,
    spec: FileRunSpec,
    reached: &Reached,
    stop: &CancellationToken,
) -> Result<Report, RunError> {
    let mut run = FileRun::open(spec, engine, std::process::id())?;
    reached.bytes_total.store(run.bytes_total(), Ordering::Relaxed);
    let report = run.run(stop, &mut |now| {
        reached.rows.store(now.summary.rows, Ordering::Relaxed);
        reached.bytes.store(now.bytes_read, Ordering::Relaxed);
    })?;
    reached.rows.store(report.summary.rows, Ordering::Relaxed);
    Ok(report)
}

/// Does `work` on a thread of its own and calls `look` now and then with the interpreter. What `look`
/// raises stops the work in order.
fn watched<T: Send>(
    work: impl FnOnce() -> T + Send,
    look: impl Fn(Python<'_>) -> PyResult<()>,
    stop: &CancellationToken,
) -> PyResult<T> {
    let caller = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let done = work();
            caller.unpark();
            done
        });
        let mut raised = None;
        while !worker.is_finished() {
            thread::park_timeout(LOOK_EVERY);
            if raised.is_none() && !worker.is_finished() {
                raised = Python::attach(|py| look(py).err());
                if raised.is_some() {
                    stop.cancel();
                }
            }
        }
        let lost = |_| error::RunError::new_err("internal: the thread of the run was lost");
        let done = worker.join().map_err(lost)?;
        raised.map_or(Ok(done), Err)
    })
}

fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

fn told<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyAny>> {
    value::to_python(py, &serde_json::to_value(summary).unwrap_or_default())
}

/// Makes one run of its shards.
#[pyfunction]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    runs: Vec<PathBuf>,
    output: PathBuf,
    fresh: bool,
    format: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (pid, form) = (std::process::id(), form(format)?);
    let spec = MergeSpec { runs, output, pid, fresh, form };
    let stop = CancellationToken::new();
    let work = || {
        spec.merge(&mut |_| {
            if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let merged = detached(py, || watched(work, signals, &stop))?;
    told(py, &merged.map_err(|error| error::of_run(&error))?.summary)
}
