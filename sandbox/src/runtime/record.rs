//! The result of a run of a guest, and what it used.

use super::limits::Stop;

/// A run that is over.
#[derive(Debug)]
pub struct Run<T = i32> {
    /// What it ended with (an exit code, for programs), or what stopped it.
    pub end: Result<T, Stop>,
    /// What it used and wrote.
    pub used: RunRecord,
}

/// What a run used and wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRecord {
    /// Fuel that was spent.
    pub fuel: u64,
    /// The most memory of an instance, in bytes.
    pub memory_bytes_peak: usize,
    /// What was written to standard output.
    pub stdout: Vec<u8>,
    /// What was written to standard error.
    pub stderr: Vec<u8>,
}

impl RunRecord {
    /// Counts what another instance of the same run used.
    pub(crate) fn count(&mut self, other: &Self) {
        self.fuel = self.fuel.saturating_add(other.fuel);
        self.memory_bytes_peak = self.memory_bytes_peak.max(other.memory_bytes_peak);
    }

    /// Counts what a later instance used, and takes its output in the place of the earlier one's.
    pub(crate) fn follow(&mut self, later: Self) {
        self.count(&later);
        (self.stdout, self.stderr) = (later.stdout, later.stderr);
    }
}

/// What a guest used that could not be started, or was dropped at its deadline, is not known.
impl<T> From<Result<Run<T>, Stop>> for Run<T> {
    fn from(run: Result<Self, Stop>) -> Self {
        run.unwrap_or_else(|stop| Self { end: Err(stop), used: RunRecord::default() })
    }
}
