//! The engine under asyncio: a future of the event loop for each call. One thread drives all of them.

use std::future::Future;
use std::sync::Mutex;

use assay::Scored;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::runtime::{Builder, Handle};
use tokio::task::AbortHandle;

use crate::interpreter::{attached, detached_if};
use crate::results::{Held, TOGETHER};
use crate::scored::{PyScored, VerifierVersions};

/// The thread of this process. After a fork the child has none, and starts its own.
static DRIVER: Mutex<Option<(u32, Handle)>> = Mutex::new(None);

/// Gives the work up once the future of the event loop was cancelled.
#[pyclass(frozen)]
struct Canceller(AbortHandle);

#[pymethods]
impl Canceller {
    fn __call__(&self, future: &Bound<'_, PyAny>) -> PyResult<()> {
        if future.call_method0(intern!(future.py(), "cancelled"))?.is_truthy()? {
            self.0.abort();
        }
        Ok(())
    }
}

/// Sets the result of a future, unless it was cancelled meanwhile. Runs in the event loop.
#[pyclass(frozen)]
struct Deliver;

#[pymethods]
impl Deliver {
    #[staticmethod]
    fn __call__(future: &Bound<'_, PyAny>, scored: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = future.py();
        if !future.call_method0(intern!(py, "done"))?.is_truthy()? {
            future.call_method1(intern!(py, "set_result"), (scored,))?;
        }
        Ok(())
    }
}

/// A future of the event loop that runs for what `work` comes to.
pub(crate) fn future(
    py: Python<'_>,
    versions: VerifierVersions,
    work: impl Future<Output = Vec<Scored>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let event_loop =
        py.import(intern!(py, "asyncio"))?.call_method0(intern!(py, "get_running_loop"))?;
    let future = event_loop.call_method0(intern!(py, "create_future"))?;
    let (target, own) = (event_loop.unbind(), future.clone().unbind());
    let task = driver()?.spawn(async move {
        let scored = work.await;
        // An interpreter that is shutting down waits for nothing any more.
        let _ = attached(|py| {
            let scored = list(py, scored, &versions)?;
            deliver(target.bind(py), own.bind(py), &scored)
        });
    });
    let canceller = Canceller(task.abort_handle());
    future.call_method1(intern!(py, "add_done_callback"), (canceller,))?;
    Ok(future)
}

/// The results as a list of Python.
pub(crate) fn list<'py>(
    py: Python<'py>,
    scored: Vec<Scored>,
    versions: &VerifierVersions,
) -> PyResult<Bound<'py, PyList>> {
    let held = detached_if(py, scored.len() > TOGETHER, || Held::all(scored)).into_iter();
    PyList::new(py, held.map(|one| PyScored::new(one, versions)))
}

/// Hands the results to the event loop. One that is closed wants none.
fn deliver(
    event_loop: &Bound<'_, PyAny>,
    future: &Bound<'_, PyAny>,
    scored: &Bound<'_, PyList>,
) -> PyResult<()> {
    let py = event_loop.py();
    let name = intern!(py, "call_soon_threadsafe");
    event_loop.call_method1(name, (Deliver, future, scored))?;
    Ok(())
}

fn driver() -> PyResult<Handle> {
    let failed = |error: &dyn std::fmt::Display| {
        PyRuntimeError::new_err(format!("no thread for asyncio: {error}"))
    };
    let mut driver = DRIVER.lock().map_err(|error| failed(&error))?;
    let own = std::process::id();
    if let Some((process, handle)) = &*driver
        && *process == own
    {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().build().map_err(|error| failed(&error))?;
    let handle = runtime.handle().clone();
    let run = move || runtime.block_on(std::future::pending::<()>());
    let thread = std::thread::Builder::new().name("assay-asyncio".to_owned());
    thread.spawn(run).map_err(|error| failed(&error))?;
    *driver = Some((own, handle.clone()));
    Ok(handle)
}
