//! Rooms: the candidate's code runs in one, and what judges it in another.
//!
//! Both are fresh instances of the same guest. The candidate's room never sees tests, expected
//! values or the verdict; the judge's room never runs the candidate's code. Between them cross
//! plain values alone, and the host reads every byte of them first.

mod cases;
mod equal;
mod marks;
mod message;
mod program;
mod solver;
mod two_rooms;
pub mod wire;

pub use cases::{Call, Callee, CaseResult, CaseRun, call_cases};
pub use equal::{Containers, from_json, plain_equal};
pub(crate) use equal::{json_dicts_equal, whole};
pub use program::{ProgramRun, run_program};
pub use two_rooms::{Isolation, Judged, Ruling, Task, TestResult, judge};

/// Which room something happened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The candidate's.
    Candidate,
    /// The one with the tests.
    Judge,
}

/// What runs share: limits for each room, and who says that the time is up.
pub struct Terms<'a> {
    /// What each room may use.
    pub limits: crate::runtime::Limits,
    /// What random numbers are drawn from.
    pub seed: u64,
    /// True once the wall-clock deadline has passed.
    pub expired: &'a mut dyn FnMut() -> bool,
}
