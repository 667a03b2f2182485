//! What takes long is told on stderr, every few seconds: rows of programs take seconds each, and nothing else
//! is printed until all of them were tried.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::output::{self, count};
use crate::ticker::Ticker;

/// How often a line is written.
const EVERY: Duration = Duration::from_secs(5);

/// What is being done. A line says so while it takes long.
pub(crate) struct Steps {
    now: Arc<Mutex<Step>>,
    _ticker: Ticker,
}

/// One of the things that are done.
#[derive(Default)]
struct Step {
    what: String,
    done: u64,
    all: u64,
}

impl Steps {
    pub(crate) fn start() -> Self {
        let now = Arc::new(Mutex::new(Step::default()));
        let told = Arc::clone(&now);
        let ticker = Ticker::start(EVERY, move || {
            let step = told.lock().unwrap_or_else(PoisonError::into_inner);
            output::note(&format!("{}: {} of {}", step.what, count(step.done), count(step.all)));
        });
        Self { now, _ticker: ticker }
    }

    /// So many things are done now, which `what` names.
    pub(crate) fn begin(&self, what: impl Into<String>, all: usize) {
        let mut step = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *step = Step { what: what.into(), done: 0, all: all as u64 };
    }

    /// So many more of them were done.
    pub(crate) fn did(&self, more: usize) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).done += more as u64;
    }
}
