//! Waiting for the engine without holding the interpreter, and without missing Ctrl-C.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often a waiting thread looks for signals.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

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
        if let Some(done) = py.detach(|| poll_for(future.as_mut(), SIGNALS_EVERY)) {
            return Ok(done);
        }
        py.check_signals()?;
    }
}

/// Polls a future until it is ready or the time is over.
fn poll_for<F: Future>(mut future: Pin<&mut F>, time: Duration) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut context, end) = (Context::from_waker(&waker), Instant::now() + time);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}
