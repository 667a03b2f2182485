//! Why something was not computed or not read.

use crate::fault::Fault;

/// Why something was not computed or not read.
#[derive(Debug)]
pub enum Stop {
    /// Fuel or time is gone: the verdict.
    Fault(Fault),
    /// A size limit: the question stays undecided.
    Cap,
    /// A division by zero.
    Undefined,
    /// Not mathematics.
    Unreadable,
}

/// The result, `None` where it is not known. A fault stays one.
pub(crate) fn unless_fault<T>(result: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Fault(fault)) => Err(Stop::Fault(fault)),
        Err(_) => Ok(None),
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
