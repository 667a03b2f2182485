//! Why something was not computed or not read.

use crate::fault::Fault;

/// Why something was not computed or not read.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Fuel or time is gone: the verdict.
    Fault(Fault),
    /// A size limit: the question stays undecided.
    Cap,
    /// A division by zero.
    Undefined,
    /// Not mathematics.
    Unreadable,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
