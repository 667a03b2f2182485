//! Untrusted WebAssembly: one engine, its compiled guests, and an instance for every run.
//!
//! A guest sees no files but those in memory that it may be given, no network, no environment and no
//! clock but its own. What decides an
//! outcome is counted, never timed: fuel for instructions, bytes moved and calls of the host, bytes
//! for memory, output and messages. The wall clock is only a backstop: a guest yields every
//! millisecond of work and every few calls of the host, and [`drive`] checks the deadline then.

mod cache_model;
mod clock;
mod code_bounds;
mod compiled;
mod component;
mod engine;
mod files;
mod limits;
mod output;
mod plugin;
mod precompiled;
mod program;
mod record;
mod signatures;
mod state;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub use self::clock::GuestClock;
pub use self::component::{Guest, Instance, Invoke, Invoked, Setup};
pub use self::engine::{CompileNotice, Options, Runtime, SandboxError, WASM_STACK_BYTES};
pub use self::files::{FILES_BYTES_MAX, FileError, MemoryFiles};
pub use self::limits::{Limits, Stop};
pub use self::plugin::{Plugin, PluginAnswer, PluginInput};
pub(crate) use self::precompiled::parts;
pub use self::precompiled::precompile;
pub use self::program::{Program, Start};
pub use self::record::{Run, RunRecord};

/// Runs a guest to its end, and checks the deadline whenever it yields.
///
/// # Errors
/// What stopped the guest; [`Stop::Deadline`] once `expired` says so.
pub fn drive<T>(
    guest: impl Future<Output = Result<T, Stop>>,
    expired: &mut dyn FnMut() -> bool,
) -> Result<T, Stop> {
    let mut guest = pin!(guest);
    let mut context = Context::from_waker(Waker::noop());
    // Nothing in a guest waits for anything outside, so a guest that is pending has yielded.
    loop {
        match guest.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending if expired() => return Err(Stop::Deadline),
            Poll::Pending => {}
        }
    }
}
