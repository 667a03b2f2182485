//! The way of threads into the interpreter, which must not shut down beneath them. Before version 3.14,
//! `CPython` ends a thread that waits for the interpreter while it shuts down (`pthread_exit`); that unwinds
//! the frames of Rust below, whose guards then abort the process. So a thread comes in only while the
//! interpreter is open, and the interpreter closes once every thread that came in has left.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::prelude::*;

/// The process in the upper half, since a fork takes over a count whose threads it does not have. In the
/// lower half the threads that came in, twice, and one more once the interpreter is closed.
static GATE: AtomicU64 = AtomicU64::new(0);
const CLOSED: u64 = 1;
const THREAD: u64 = 2;
const COUNTS: u64 = 0xffff_ffff;

/// The thread that shuts the interpreter down. It holds it, and may go on.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();

/// How long the interpreter waits for threads that came in.
const LOOKS_MAX: u32 = 2000;
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A thread that came in, or waits to. It leaves when this is dropped.
struct Inside;

impl Inside {
    /// `None` once the interpreter is closed.
    fn enter() -> Option<Self> {
        let enter = |gate| {
            let gate = own(gate);
            (gate & CLOSED == 0 || is_closer()).then_some(gate + THREAD)
        };
        GATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_ok().then_some(Self)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let leave = |gate| (own(gate) & COUNTS >= THREAD).then(|| gate - THREAD);
        let _ = GATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave);
    }
}

fn is_closer() -> bool {
    CLOSER.get() == Some(&thread::current().id())
}

/// The gate as this process finds it.
fn own(gate: u64) -> u64 {
    let process = u64::from(std::process::id()) << 32;
    if gate & !COUNTS == process { gate } else { process }
}

/// Does `work` with the interpreter, from a thread of Rust; `None` where it shuts down.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _inside = Inside::enter()?;
    Python::try_attach(work)
}

/// Does `work` while other threads use the interpreter. A thread that would come back while it shuts down
/// waits for the end of the process, as `CPython` 3.14 has it.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let (done, _inside) = py.detach(|| {
        let done = work();
        (done, Inside::enter().unwrap_or_else(wait_for_the_end))
    });
    done
}

/// Does `work` while other threads use the interpreter, if it is `long`.
pub(crate) fn detached_if<T: Send>(
    py: Python<'_>,
    long: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    if long { detached(py, work) } else { work() }
}

fn wait_for_the_end() -> Inside {
    loop {
        thread::park();
    }
}

/// Closes the interpreter to all threads but this one, for `atexit`.
#[pyfunction]
fn close(py: Python<'_>) {
    let _ = CLOSER.set(thread::current().id());
    let close = |gate| Some(own(gate) | CLOSED);
    let _ = GATE.fetch_update(Ordering::AcqRel, Ordering::Acquire, close);
    py.detach(|| {
        let left = |_: &u32| own(GATE.load(Ordering::Acquire)) & COUNTS < THREAD;
        let wait = |_: &u32| thread::sleep(LOOK_EVERY);
        let _ = (0..LOOKS_MAX).inspect(wait).find(left);
    });
}

/// Has the interpreter close before it shuts down.
pub(crate) fn close_at_exit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let close = wrap_pyfunction!(close, module)?;
    py.import("atexit")?.call_method1("register", (close,))?;
    Ok(())
}
