//! The engine as Python holds it: made anew in a process that was forked, and asked without holding
//! the interpreter.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assay::engine::{Planned, Rows};
use assay::{Engine, Sample, ScoreOptions, Scored};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{self, DataError};
use crate::explain::{self, Told};
use crate::interpreter::{detached, detached_if};
use crate::rows::{self, Taken};
use crate::run::{self, RunOptions};
use crate::score_arrow::PyArrowStream;
use crate::scored::{PyScored, VerifierVersions};
use crate::spec::Here;
use crate::trainer_rows::TrainerRows;
use crate::verifier::PythonVerifier;
use crate::{asyncio, value, wait};

/// What takes no longer is done without giving the interpreter up: a thread of Python that takes it
/// meanwhile keeps it for a hundred times as long.
const HELD_NS_MAX: u64 = 50_000;
/// Rows that are read in about that time.
const HELD_ROWS_MAX: usize = 16;

/// An engine, and what it is made of.
#[pyclass(frozen, name = "Engine", module = "assay._core")]
pub(crate) struct PyEngine {
    here: Here,
    verifiers: Vec<Arc<PythonVerifier>>,
    versions: VerifierVersions,
    /// The process that built the engine, and the engine. It is locked for no longer than it takes
    /// to clone, and never while the interpreter is given up: a fork cannot find it locked.
    live: Mutex<(u32, Arc<Engine>)>,
}

/// How a call is to be scored: where the training stands, as JSON, seconds that it may take, and
/// whether it waits for room.
#[derive(FromPyObject)]
struct Options(Option<String>, Option<f64>, bool);

#[pymethods]
impl PyEngine {
    #[new]
    fn new(py: Python<'_>, here: Here, verifiers: &Bound<'_, PyList>) -> PyResult<Self> {
        let verifiers: PyResult<Vec<_>> =
            verifiers.iter().map(|one| PythonVerifier::new(&one)).collect();
        let verifiers = verifiers?;
        let engine = detached(py, || here.build(&verifiers)).map_err(error::of_engine)?;
        let spec = |reward: &Planned| {
            let spec = &reward.built.spec;
            (spec.id.to_string(), spec.version)
        };
        let versions = engine.plan().rewards.iter().map(spec).collect();
        let live = Mutex::new((std::process::id(), Arc::new(engine)));
        Ok(Self { here, verifiers, versions, live })
    }

    /// The names of the rewards, in their order.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.engine(py)?.plan().names.to_vec())
    }

    /// Threads of the compute lane.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.engine(py)?.jobs())
    }

    /// The configuration with every default filled in.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.engine(py)?.plan().resolved())
    }

    /// The columns of the configuration by what they mean.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = serde_json::to_value(&self.engine(py)?.plan().config.data);
        value::to_python(py, &columns.unwrap_or_default())
    }

    /// Scores rows, or columns where there are no rows.
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: Option<&Bound<'py, PyAny>>,
        columns: &Bound<'py, PyDict>,
        options: Options,
    ) -> PyResult<Bound<'py, PyList>> {
        let engine = self.engine(py)?;
        self.scored(py, &engine, &taken(&engine, rows, columns)?, options)
    }

    /// Scores rows of a trainer.
    fn score_rows<'py>(
        &self,
        py: Python<'py>,
        rows: TrainerRows<'py>,
        options: Options,
    ) -> PyResult<Bound<'py, PyList>> {
        let engine = self.engine(py)?;
        let taken = rows.taken(engine.plan())?;
        self.scored(py, &engine, &taken, options)
    }

    /// Scores one row, and tells what it was and how its rewards became one.
    fn explain(&self, py: Python<'_>, row: &Bound<'_, PyAny>, options: Options) -> PyResult<Told> {
        let (engine, options) = (self.engine(py)?, options.checked()?);
        let sample = rows::of_row(row, &engine.plan().reader)?;
        let step = options.step;
        let scored = engine.score_async(vec![sample.clone()], options);
        explain::told(&engine, &sample, (wait::wait(py, scored)?, step), &self.versions)
    }

    /// The state for the next call, from that of a call and what it came to.
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is taken by value")]
    fn next_state<'py>(
        &self,
        py: Python<'py>,
        state: &str,
        scored: Vec<PyRef<'py, PyScored>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (engine, state) = (self.engine(py)?, run::training(Some(state))?);
        let scored: Vec<Scored> = scored.iter().map(|one| one.get().clone()).collect();
        let next = detached(py, || engine.plan().next_state(&state, &scored));
        value::to_python(py, &serde_json::to_value(next).unwrap_or_default())
    }

    /// Whether rewards compare the samples of a group.
    #[getter]
    fn needs_groups(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.engine(py)?.plan().needs_groups())
    }

    /// A table that is scored as it is read; where it is lazy, no batch is read before it is wanted.
    fn score_arrow(
        &self,
        table: &Bound<'_, PyAny>,
        keep: Vec<String>,
        options: Options,
        bad_rows: &str,
        lazy: bool,
    ) -> PyResult<PyArrowStream> {
        let engine = self.engine(table.py())?;
        PyArrowStream::new(engine, table, keep, options.checked()?, bad_rows, lazy)
    }

    /// [`Self::score`] as a future of the event loop that runs; as a list where to wait would cost more
    /// than to judge.
    fn score_future<'py>(
        &self,
        py: Python<'py>,
        rows: Option<&Bound<'py, PyAny>>,
        columns: &Bound<'py, PyDict>,
        options: Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine(py)?;
        let taken = taken(&engine, rows, columns)?;
        self.scored_later(py, engine, &taken, options)
    }

    /// [`Self::score_rows`] in the same way.
    fn score_rows_future<'py>(
        &self,
        py: Python<'py>,
        rows: TrainerRows<'py>,
        options: Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine(py)?;
        let taken = rows.taken(engine.plan())?;
        self.scored_later(py, engine, &taken, options)
    }

    /// Scores files into a run folder.
    fn score_file<'py>(
        &self,
        py: Python<'py>,
        options: RunOptions,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine(py)?;
        let summary = run::score_file(py, &engine, options, progress)?;
        engine.replies_kept().map_err(error::RunError::new_err)?;
        Ok(summary)
    }
}

impl PyEngine {
    /// What samples come to.
    fn scored<'py>(
        &self,
        py: Python<'py>,
        engine: &Engine,
        taken: &Taken,
        options: Options,
    ) -> PyResult<Bound<'py, PyList>> {
        let (samples, options) = (samples(py, engine, taken)?, options.checked()?);
        let scored = match scored_inline(py, engine, samples, &options) {
            Ok(scored) => scored,
            Err(samples) => wait::wait(py, engine.score_rows(Rows::of_samples(samples), options))?,
        };
        asyncio::list(py, scored, &self.versions)
    }

    /// The same under asyncio: a list, or a future of one.
    fn scored_later<'py>(
        &self,
        py: Python<'py>,
        engine: Arc<Engine>,
        taken: &Taken,
        options: Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (samples, options) = (samples(py, &engine, taken)?, options.checked()?);
        let samples = match scored_inline(py, &engine, samples, &options) {
            Ok(scored) => return Ok(asyncio::list(py, scored, &self.versions)?.into_any()),
            Err(samples) => samples,
        };
        let scored = engine.score_async(samples, options);
        // The engine lives as long as its work.
        asyncio::future(py, Arc::clone(&self.versions), async move {
            let scored = scored.await;
            drop(engine);
            scored
        })
    }

    /// The engine of this process. One that was forked builds its own, once.
    pub(crate) fn engine(&self, py: Python<'_>) -> PyResult<Arc<Engine>> {
        let own = std::process::id();
        let (process, engine) = self.live.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if process == own {
            return Ok(engine);
        }
        // The threads of the parent's engine are not in this process: nothing may wait for them.
        std::mem::forget(engine);
        let built = detached(py, || self.here.build(&self.verifiers)).map_err(error::of_engine)?;
        let built = Arc::new(built);
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if live.0 == own {
            return Ok(Arc::clone(&live.1));
        }
        let parents = std::mem::replace(&mut *live, (own, Arc::clone(&built)));
        std::mem::forget(parents);
        Ok(built)
    }
}

impl Options {
    fn checked(self) -> PyResult<ScoreOptions> {
        let Self(training, timeout, wait) = self;
        let training = run::training(training.as_deref())?;
        let deadline = timeout.map(Duration::try_from_secs_f64).transpose();
        let wrong = |error| PyValueError::new_err(format!("timeout: {error}"));
        Ok(ScoreOptions { deadline: deadline.map_err(wrong)?, wait, ..ScoreOptions::at(training) })
    }
}

/// Rows, or columns where there are no rows.
fn taken(
    engine: &Engine,
    rows: Option<&Bound<'_, PyAny>>,
    columns: &Bound<'_, PyDict>,
) -> PyResult<Taken> {
    let reader = &engine.plan().reader;
    match rows {
        Some(rows) => Taken::rows(rows, reader),
        None => Taken::columns(columns, reader),
    }
}

/// The samples of a call.
fn samples(py: Python<'_>, engine: &Engine, taken: &Taken) -> PyResult<Vec<Sample>> {
    let samples = detached_if(py, taken.len() > HELD_ROWS_MAX, || taken.samples(engine));
    samples.map_err(|(why, code)| error::with_code(DataError::new_err(why), code.word()))
}

/// What samples come to that are judged on this thread; the samples, where others judge them.
fn scored_inline(
    py: Python<'_>,
    engine: &Engine,
    samples: Vec<Sample>,
    options: &ScoreOptions,
) -> Result<Vec<Scored>, Vec<Sample>> {
    let Some(expected_ns) = engine.inline_ns(samples.len()) else { return Err(samples) };
    detached_if(py, expected_ns > HELD_NS_MAX, || engine.score_inline(samples, options))
}
