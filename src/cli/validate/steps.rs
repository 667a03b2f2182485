//! What takes long is told on stderr, every few seconds: rows of programs take seconds each, and nothing else
//! is printed until all of them were tried.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::super::output::{self, count};

/// How often a line is written.
const EVERY: Duration = Duration::from_secs(5);

/// What is being done. A line says so while it takes long.
pub(super) struct Steps {
    now: Arc<Mutex<Step>>,
    /// The thread that tells, which ends when its sender is dropped.
    ticker: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// One of the things that are done.
#[derive(Default)]
struct Step {
    what: String,
    done: u64,
    all: u64,
}

impl Steps {
    pub(super) fn start() -> Self {
        let now = Arc::new(Mutex::new(Step::default()));
        let (end, ended) = mpsc::channel();
        let told = Arc::clone(&now);
        let run = move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let step = told.lock().unwrap_or_else(PoisonError::into_inner);
                output::note(&format!(
                    "{}: {} of {}",
                    step.what,
                    count(step.done),
                    count(step.all)
                ));
            }
        };
        let thread = std::thread::Builder::new().name("assay-progress".to_owned()).spawn(run);
        Self { now, ticker: thread.ok().map(|thread| (end, thread)) }
    }

    /// So many things are done now, which `what` names.
    pub(super) fn begin(&self, what: impl Into<String>, all: usize) {
        let mut step = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *step = Step { what: what.into(), done: 0, all: all as u64 };
    }

    /// So many more of them were done.
    pub(super) fn did(&self, more: usize) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).done += more as u64;
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.ticker.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}
