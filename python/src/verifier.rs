//! Verifiers that are Python functions. Each has a thread of its own, which takes one sample after
//! the other: the threads of the engine never wait for the interpreter.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use assay::engine::Builder;
use assay::verifiers::{
    AsyncVerifier, Built, Earlier, Fault, Files, Lane, Meter, Pending, Sample, Spec, Verdict,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::interpreter::attached;
use crate::scored::PyVerdict;
use crate::value::{members_to_python, to_python};

/// The sample that a Python function judges.
///
/// >>> @assay.verifier
/// ... def right(sample):
/// ...     return sample.completion == sample.reference
#[pyclass(frozen, name = "Sample", module = "assay")]
pub(crate) struct PySample(Sample);

/// A Python function that is a verifier.
pub(crate) struct PythonVerifier {
    id: String,
    version: u32,
    /// `None` where the thread takes one sample after the other: deadlines then count by the place
    /// in its queue.
    in_flight_max: Option<usize>,
    takes_verdicts: bool,
    /// An `assay.Verifier`, whose `start` judges a sample and replies.
    object: Py<PyAny>,
}

/// One sample on its way to the thread.
struct Job {
    sample: Sample,
    earlier: Vec<(String, Verdict)>,
    answer: oneshot::Sender<Verdict>,
}

/// Takes the verdict of one sample.
#[pyclass(frozen)]
struct Reply(Arc<Mutex<Option<oneshot::Sender<Verdict>>>>);

/// A verifier of one reward.
struct Threaded {
    jobs: Sender<Job>,
    in_flight_max: Option<usize>,
}

impl PythonVerifier {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        let py = object.py();
        Ok(Arc::new(Self {
            id: object.getattr(intern!(py, "id"))?.extract()?,
            version: object.getattr(intern!(py, "version"))?.extract()?,
            in_flight_max: object.getattr(intern!(py, "in_flight_max"))?.extract()?,
            takes_verdicts: object.getattr(intern!(py, "takes_verdicts"))?.extract()?,
            object: object.clone().unbind(),
        }))
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Makes the verifier of a reward: a thread with the settings of that reward.
    pub(crate) fn builder(self: &Arc<Self>) -> Builder {
        let own = Arc::clone(self);
        Box::new(move |settings: Value, _: &dyn Files| {
            let (jobs, receiver) = mpsc::channel();
            let (verifier, given) = (Arc::clone(&own), settings.clone());
            let thread = std::thread::Builder::new().name(format!("assay-{}", own.id));
            let started = thread.spawn(move || verifier.run(&given, &receiver));
            started.map_err(|error| {
                assay::verifiers::BuildError::new("", format!("no thread: {error}"))
            })?;
            let spec = Spec {
                reads_verdicts: own.takes_verdicts,
                ..Spec::new(own.id.clone(), own.version, settings)
            };
            Ok(Built::new(
                spec,
                Lane::Awaited(Arc::new(Threaded { jobs, in_flight_max: own.in_flight_max })),
            ))
        })
    }

    /// Judges until nobody asks any more.
    fn run(&self, settings: &Value, jobs: &Receiver<Job>) {
        while let Ok(Job { sample, earlier, answer }) = jobs.recv() {
            if answer.is_closed() {
                continue;
            }
            let reply = Arc::new(Mutex::new(Some(answer)));
            let started = attached(|py| {
                let reply = Reply(Arc::clone(&reply));
                self.start(py, sample, &earlier, settings, reply).map_err(|error| error.to_string())
            });
            match started {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    send(&reply, Verdict::failed(Fault::internal(format!("{}: {error}", self.id))));
                }
                // The interpreter is shutting down.
                None => return,
            }
        }
    }

    fn start(
        &self,
        py: Python<'_>,
        sample: Sample,
        earlier: &[(String, Verdict)],
        settings: &Value,
        reply: Reply,
    ) -> PyResult<()> {
        let verdicts = PyDict::new(py);
        for (name, verdict) in earlier {
            verdicts.set_item(name, PyVerdict::from(verdict.clone()))?;
        }
        let start = self.object.bind(py).getattr(intern!(py, "start"))?;
        start.call1((PySample(sample), verdicts, to_python(py, settings)?, reply))?;
        Ok(())
    }
}

#[pymethods]
impl Reply {
    fn __call__(&self, verdict: &str) {
        let read: Result<Verdict, _> = serde_json::from_str(verdict);
        send(
            &self.0,
            read.unwrap_or_else(|error| {
                Verdict::failed(Fault::internal(format!("no verdict: {error}")))
            }),
        );
    }
}

/// Sends the verdict of one sample, once. Whoever asked may have given up meanwhile.
fn send(reply: &Mutex<Option<oneshot::Sender<Verdict>>>, verdict: Verdict) {
    let sender = reply.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(sender) = sender {
        let _ = sender.send(verdict);
    }
}

impl AsyncVerifier for Threaded {
    fn in_flight_max(&self) -> Option<usize> {
        self.in_flight_max
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        earlier: Earlier<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        let earlier =
            earlier.iter().map(|(name, verdict)| (name.to_owned(), verdict.clone())).collect();
        let sample = sample.clone();
        // The function is asked where this future is polled, and not before there is a permit.
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let lost = || Verdict::failed(Fault::internal("the thread of the verifier is gone"));
            match self.jobs.send(Job { sample, earlier, answer }) {
                Ok(()) => answered.await.unwrap_or_else(|_| lost()),
                Err(_) => lost(),
            }
        })
    }
}

#[pymethods]
impl PySample {
    /// The id: the one given, or the SHA-256 of the canonical form.
    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    /// The text that is judged.
    #[getter]
    fn completion(&self) -> &str {
        self.0.completion()
    }

    /// The text of the prompt.
    #[getter]
    fn prompt(&self) -> &str {
        self.0.prompt()
    }

    /// The reference as it came; `None` where there is none.
    #[getter]
    fn reference<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.reference().map(|value| to_python(py, value)).transpose()
    }

    /// The prompt that the sample shares with others.
    #[getter]
    fn group(&self) -> Option<&str> {
        self.0.group()
    }

    /// The remaining columns of the row.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        members_to_python(py, self.0.meta().iter())
    }

    /// Why the completion ended, where the row says so.
    #[getter]
    fn finish_reason(&self) -> Option<&str> {
        self.0.finish_reason()
    }

    fn __repr__(&self) -> String {
        format!("Sample(id={:?}, completion={:?})", self.0.id(), self.0.completion())
    }
}
