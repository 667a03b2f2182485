//! A thread that does something every so often.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread, which ends when this is dropped.
pub(super) struct Ticker(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

impl Ticker {
    /// Calls `tick` every so often; never where no thread can be started.
    pub(super) fn start(every: Duration, mut tick: impl FnMut() + Send + 'static) -> Self {
        let (end, ended) = mpsc::channel();
        let run = move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        };
        let thread = std::thread::Builder::new().name("assay-progress".to_owned()).spawn(run);
        Self(thread.ok().map(|thread| (end, thread)))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}
