//! The three lanes of a stage. They run side by side; a stage ends when all of them have.

mod compute;
mod model;
mod remote;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use assay_verifiers::{Fault, Verdict};

pub(super) use compute::Pool;
pub(super) use model::{Job, Queue};
pub(super) use remote::Permits;

/// Runs `judge`, and turns a panic into the fault that it is. A verifier must not panic; one that
/// does costs its verdict, not the run.
pub(super) fn guarded<T>(judge: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(judge)).map_err(|panic| panicked(&*panic))
}

fn panicked(panic: &(dyn Any + Send)) -> Fault {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    Fault::internal(format!("the verifier panicked: {text}"))
}

fn guarded_verdict(judge: impl FnOnce() -> Verdict) -> Verdict {
    guarded(judge).unwrap_or_else(Verdict::failed)
}
