//! Two-sided test runs: the candidate's code runs in one instance, and its tests in another.
//!
//! Both are fresh instances of the same guest. The candidate's side never sees tests, expected
//! values or the verdict; the tests' side never runs the candidate's code. Only plain values cross
//! between them, and the host checks every byte of them first.

mod assertions;
mod calls;
mod candidate;
mod dialects;
mod marks;
mod message;
mod packages;
mod program;
mod repository;

pub use assertions::{
    AssertionRun, AssertionTask, Isolation, Ruling, TestResult, Told, run_assertions,
};
pub use calls::{CallResult, CallVerb, Callee, CallsRun, run_calls, run_operations};
pub use dialects::{Translated, Translator};
pub use packages::{has_module, mount};
pub use program::{run_program, run_program_with};
pub use repository::{ROOT, RepositoryRun, RepositoryTask, TestWord, WantedTest, run_repository};

/// Which instance something happened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one with the candidate's code.
    Candidate,
    /// The one with the tests.
    Tests,
}

/// What the instances of a run share: their limits, the seed, and the deadline.
pub struct RunContext<'a> {
    /// What each instance may use.
    pub limits: crate::runtime::Limits,
    /// The seed of random numbers.
    pub seed: u64,
    /// True once the wall-clock deadline has passed.
    pub expired: &'a mut dyn FnMut() -> bool,
}
