//! Waiting for the engine without holding the interpreter, and without missing Ctrl-C.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use assay::setup::Monotonic;
use pyo3::prelude::*;

use crate::interpreter::detached;

/// How often a waiting thread looks for signals, in seconds.
const SIGNALS_EVERY: f64 = 0.05;

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread, while others use the interpreter.
///
/// # Errors
/// What a handler of signals raised, such as `KeyboardInterrupt`; the future is then dropped.
pub(crate) fn wait<T: Send>(py: Python<'_>, future: impl Future<Output = T> + Send) -> PyResult<T> {
    let mut future = pin!(future);
    loop {
        if let Some(done) = detached(py, || poll_for(future.as_mut(), SIGNALS_EVERY)) {
            return Ok(done);
        }
        py.check_signals()?;
    }
}

/// Polls a future until it is ready or the time is over.
fn poll_for<F: Future>(mut future: Pin<&mut F>, seconds: f64) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut context, clock) = (Context::from_waker(&waker), Monotonic::start());
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        let left = Duration::try_from_secs_f64(seconds - clock.seconds()).ok()?;
        thread::park_timeout(left);
    }
}
