//! The thread pool of the compute lane.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use assay_verifiers::Fault;
use rayon::ThreadPool;
use tokio::sync::oneshot;

thread_local! {
    /// Where the last panic of this thread began.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Notes where a panic of a verifier began, for its fault. A hook of panics calls it.
pub fn note_panic(panic: &PanicHookInfo<'_>) {
    PLACE.set(panic.location().map(|place| format!(" at {place}")));
}

/// The threads of the compute lane.
pub(super) struct Pool(ThreadPool);

impl Pool {
    pub(super) fn new(jobs: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        // Parsers recurse to a fixed depth; the stack has room for it many times over.
        let name = |at| format!("assay-compute-{at}");
        let builder = rayon::ThreadPoolBuilder::new().num_threads(jobs).thread_name(name);
        builder.stack_size(8 << 20).build().map(Self)
    }

    /// Runs `work` on the pool. `None` where it panicked. Work that waits is not run once the future
    /// was dropped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        self.0.spawn(move || {
            if !sender.is_closed() {
                // The receiver is gone only when the caller is: the answer is dropped then.
                let _ = sender.send(guarded(work).ok());
            }
        });
        receiver.await.ok().flatten()
    }

    /// Runs `work` on the pool, and waits for it on this thread.
    pub(super) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.install(work)
    }
}

/// Runs `judge`, and turns a panic into the fault that it is. A verifier must not panic; one that
/// does costs its verdict, not the run.
pub(super) fn guarded<T>(judge: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(judge)).map_err(|panic| panicked(&*panic))
}

/// What a panic says, as a fault.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Fault {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    Fault::internal(format!("the verifier panicked{}: {text}", PLACE.take().unwrap_or_default()))
}
