//! Tables through the engine: batches of Arrow in, the columns of their verdicts out.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use assay::data::{self, Block, ReadLimits, VerdictColumns};
use assay::engine::{BadRows, StreamError};
use assay::{Engine, ScoreOptions};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::arrow::{self, Reader, refused};
use crate::error::{AssayError, DataError, with_code};
use crate::interpreter::{attached, detached};
use crate::wait;

/// The most rows that are scored before any of them is handed on.
const BATCH_ROWS: usize = 1 << 16;

/// What messages call a table.
const TABLE: &str = "table";

/// A table that is scored as it is read, once.
#[pyclass(frozen, name = "ArrowStream", module = "assay")]
pub(crate) struct PyArrowStream {
    schema: SchemaRef,
    /// Taken out while it is read: who waits for a lock would hold the interpreter.
    scorer: Mutex<Option<Scorer>>,
}

/// Some scored rows.
#[pyclass(frozen, name = "ArrowBatch", module = "assay")]
pub(crate) struct PyArrowBatch(RecordBatch);

/// The lines of a table of verdicts, some at a time.
#[pyclass(frozen)]
pub(crate) struct PyArrowLines(Mutex<Option<Reader>>);

/// A table on its way through the engine.
struct Scorer {
    engine: Arc<Engine>,
    input: Reader,
    layout: Layout,
    bad_rows: BadRows,
    options: ScoreOptions,
    /// How many rows are read before they are scored, where there are so many.
    gather_rows: usize,
    /// The number of the next row.
    row: u64,
    /// Parts of a large batch that are still to be scored.
    waiting: VecDeque<RecordBatch>,
    ready: VecDeque<RecordBatch>,
    started: bool,
    ended: bool,
}

/// The columns that come out.
struct Layout {
    verdicts: VerdictColumns,
    /// Columns of the input that are handed on.
    keep: Vec<usize>,
    schema: SchemaRef,
}

impl PyArrowStream {
    pub(crate) fn new(
        engine: Arc<Engine>,
        table: &Bound<'_, PyAny>,
        keep: Vec<String>,
        options: ScoreOptions,
        bad_rows: &str,
        lazy: bool,
    ) -> PyResult<Self> {
        let bad_rows = match bad_rows {
            "stop" => BadRows::Stop,
            "fault" => BadRows::Fault,
            other => {
                let why = format!("bad_rows: expected \"stop\" or \"fault\", found {other:?}");
                return Err(PyValueError::new_err(why));
            }
        };
        let input = arrow::import(table)?;
        let layout = Layout::new(&input.schema(), keep, &engine.plan().names)?;
        let schema = Arc::clone(&layout.schema);
        let scorer = Scorer {
            engine,
            input,
            layout,
            bad_rows,
            options,
            gather_rows: if lazy { 1 } else { BATCH_ROWS },
            row: 0,
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            started: false,
            ended: false,
        };
        Ok(Self { schema, scorer: Mutex::new(Some(scorer)) })
    }

    fn take(&self) -> PyResult<Scorer> {
        let scorer = self.scorer.lock().unwrap_or_else(PoisonError::into_inner).take();
        scorer.ok_or_else(|| DataError::new_err("the stream was handed on, or is being read"))
    }
}

impl Layout {
    fn new(input: &Schema, keep: Vec<String>, names: &[String]) -> PyResult<Self> {
        let verdicts = VerdictColumns::new(names);
        let (mut places, mut fields) = (Vec::new(), Vec::new());
        for name in keep {
            let shown = data::escape(&name);
            if verdicts.schema().field_with_name(&name).is_ok() {
                let why = format!("keep: {shown:?} is the name of a column of verdicts; rename it");
                return Err(DataError::new_err(why));
            }
            let Some((place, field)) = input.fields().find(&name) else {
                let names = input.fields().iter().map(|field| data::escape(field.name()));
                let names = names.collect::<Vec<_>>().join(", ");
                let why = format!("keep: no column {shown:?}; the table has: {names}");
                return Err(DataError::new_err(why));
            };
            if places.contains(&place) {
                return Err(DataError::new_err(format!("keep: {shown:?} is named twice")));
            }
            places.push(place);
            fields.push(Arc::clone(field));
        }
        fields.extend(verdicts.schema().fields().iter().cloned());
        Ok(Self { verdicts, keep: places, schema: Arc::new(Schema::new(fields)) })
    }

    /// The kept columns of a batch beside those of its verdicts.
    fn join(&self, batch: &RecordBatch, parts: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
        let verdicts = concat_batches(self.verdicts.schema(), parts)?;
        let kept = batch.project(&self.keep)?;
        let columns = kept.columns().iter().chain(verdicts.columns()).cloned().collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Scorer {
    /// The next scored batch. There is at least one, which may be empty.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        while self.ready.is_empty() && !self.ended {
            let scored = self.advance(py);
            self.ended |= scored.is_err();
            scored?;
        }
        if !self.started && self.ready.is_empty() {
            self.ready.push_back(RecordBatch::new_empty(Arc::clone(&self.layout.schema)));
        }
        self.started = true;
        Ok(self.ready.pop_front())
    }

    fn advance(&mut self, py: Python<'_>) -> PyResult<()> {
        let batches = self.read(py)?;
        let (limits, mut blocks, mut counts) = (ReadLimits::default(), Vec::new(), Vec::new());
        for batch in &batches {
            let own = Block::of_batch(TABLE, self.row, batch, &limits);
            let own = own.map_err(|error| DataError::new_err(error.to_string()))?;
            self.row += batch.num_rows() as u64;
            counts.push(own.len());
            blocks.extend(own);
        }
        let verdicts = self.layout.verdicts.clone();
        let finish = move |rows: Vec<assay::Scored>| verdicts.batch(&rows);
        let scored = self.engine.score_blocks(blocks, self.bad_rows, self.options.clone(), finish);
        let mut scored = wait::wait(py, scored)?.map_err(failed)?.into_iter();
        for (batch, count) in batches.iter().zip(counts) {
            let parts: Result<Vec<_>, _> = scored.by_ref().take(count).collect();
            let parts = parts.map_err(|error| DataError::new_err(error.to_string()))?;
            let joined = detached(py, || self.layout.join(batch, &parts))
                .map_err(|error| refused(&error))?;
            self.ready.push_back(joined);
        }
        Ok(())
    }

    /// Rows that are scored together: a batch or some small ones, or all of them where rewards compare
    /// the samples of a group, which may stand anywhere.
    fn read(&mut self, py: Python<'_>) -> PyResult<Vec<RecordBatch>> {
        let all = self.engine.plan().needs_groups();
        let (mut batches, mut gathered) = (Vec::new(), 0);
        while all || gathered < self.gather_rows {
            if let Some(batch) = self.waiting.pop_front() {
                gathered += batch.num_rows();
                batches.push(batch);
                continue;
            }
            // The reader may be Python's own.
            let read = detached(py, || self.input.next()).transpose();
            let Some(batch) = read.map_err(|error| refused(&error))? else {
                self.ended = true;
                break;
            };
            let rows = batch.num_rows();
            let cut = |start| batch.slice(start, BATCH_ROWS.min(rows - start));
            self.waiting.extend((0..rows).step_by(BATCH_ROWS).map(cut));
            py.check_signals()?;
        }
        Ok(batches)
    }
}

fn failed(error: StreamError<std::convert::Infallible>) -> PyErr {
    match error {
        StreamError::Row(error) => {
            let why = format!("row {}: {}", error.place.row, error.message());
            with_code(DataError::new_err(why), error.code().word())
        }
        other => with_code(AssayError::new_err(other.to_string()), other.code().word()),
    }
}

#[pymethods]
impl PyArrowStream {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another schema is a wish that nobody has to grant.
        let _ = requested_schema;
        let scorer = self.take()?;
        arrow::stream(py, Box::new(Exported(scorer)))
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyArrowBatch>> {
        let mut scorer = self.take()?;
        let next = scorer.next(py);
        *self.scorer.lock().unwrap_or_else(PoisonError::into_inner) = Some(scorer);
        Ok(next?.map(PyArrowBatch))
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> =
            self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("<assay.ArrowStream: {}>", names.join(", "))
    }
}

#[pymethods]
impl PyArrowBatch {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, self.0.schema_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        arrow::batch(py, &self.0)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

/// A stream that another library reads: errors are texts there.
struct Exported(Scorer);

impl Iterator for Exported {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Whoever reads may hold the interpreter or not; waiting gives it up. A panic must not leave
        // through the C interface.
        let next = catch_unwind(AssertUnwindSafe(|| {
            attached(|py| self.0.next(py).map_err(|error| error.to_string()))
        }));
        let next = match next {
            Ok(Some(next)) => next,
            Ok(None) => Err("the interpreter is shutting down".to_owned()),
            Err(_) => {
                self.0.ended = true;
                Err("internal: scoring panicked".to_owned())
            }
        };
        // The text becomes one of C.
        next.map_err(|why| ArrowError::ExternalError(why.replace('\0', "").into())).transpose()
    }
}

impl RecordBatchReader for Exported {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.layout.schema)
    }
}

/// The lines of a table of verdicts.
#[pyfunction]
pub(crate) fn verdict_lines(table: &Bound<'_, PyAny>) -> PyResult<PyArrowLines> {
    Ok(PyArrowLines(Mutex::new(Some(arrow::import(table)?))))
}

#[pymethods]
impl PyArrowLines {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut reader = reader.ok_or_else(|| PyTypeError::new_err("the lines are being read"))?;
        let lines = detached(py, || {
            let batch = reader.next();
            batch.map(|batch| {
                Ok::<_, PyErr>(VerdictColumns::lines(&batch.map_err(|error| refused(&error))?))
            })
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        let Some(lines) = lines.transpose()? else { return Ok(None) };
        let lines = lines.map_err(|error| DataError::new_err(error.to_string()))?;
        Ok(Some(PyBytes::new(py, &lines)))
    }
}
