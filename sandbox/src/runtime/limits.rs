//! What a guest may use, and what stopped it.

use assay_verifiers::prelude::*;

/// Fuel after which a guest yields, so that the deadline can be checked: about a millisecond.
pub(super) const YIELD_EVERY: u64 = 10_000_000;

/// Table elements of all tables of a guest.
pub(super) const TABLE_ELEMENTS_MAX: usize = 64 << 10;

/// What one run of a guest may use. Every limit is counted, so that the same program stops at the
/// same place on every machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Units of fuel: about one a WebAssembly instruction, and more for what takes longer; 1e10 is half
    /// a second to a second.
    #[default(75_000_000_000)]
    pub fuel: u64,
    /// The most memory, in bytes.
    #[default(512 << 20)]
    pub memory_bytes_max: usize,
    /// The most bytes written to standard output, and again to standard error.
    #[default(4 << 20)]
    pub output_bytes_max: usize,
    /// The most calls of the host.
    #[default(1_000_000)]
    pub host_calls_max: u64,
    /// The most bytes of a message between host and guest.
    #[default(16 << 20)]
    pub message_bytes_max: usize,
    /// The longest that a guest may sleep in all, on its own clock, in milliseconds.
    #[default(10_000)]
    pub sleep_ms_max: u64,
}

impl Limits {
    /// What one verdict of code of the user's may use, where nothing else is said. It judges every sample,
    /// so that one that does not end is told of within a second.
    pub fn judging() -> Self {
        Self { fuel: 3_200_000_000, memory_bytes_max: 80 << 20, ..Self::default() }
    }

    /// Refuses limits that no program keeps.
    ///
    /// # Errors
    /// A limit of 0. Sleep may be forbidden.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let none = [
            ("fuel", self.fuel == 0),
            ("memory_bytes_max", self.memory_bytes_max == 0),
            ("output_bytes_max", self.output_bytes_max == 0),
            ("host_calls_max", self.host_calls_max == 0),
            ("message_bytes_max", self.message_bytes_max == 0),
        ];
        match none.iter().find(|(_, is_none)| *is_none) {
            Some((key, _)) => Err(BuildError::new(format!("limits.{key}"), NONE)),
            None => Ok(()),
        }
    }

    /// What is wrong with limits by which an empty program was stopped.
    pub(crate) fn too_low(&self, stop: &Stop) -> BuildError {
        let (key, why) = match stop {
            Stop::OutOfFuel => ("limits.fuel", format!("{} units", self.fuel)),
            Stop::OutOfMemory => {
                let why = format!("{} bytes (512 MiB are {})", self.memory_bytes_max, 512 << 20);
                ("limits.memory_bytes_max", why)
            }
            Stop::TooManyCalls => ("limits.host_calls_max", format!("{}", self.host_calls_max)),
            Stop::TooLarge => {
                ("limits.message_bytes_max", format!("{} bytes", self.message_bytes_max))
            }
            stop => ("limits", stop.to_string()),
        };
        BuildError::new(
            key,
            format!("an empty program needs more than {why}: every one would fail"),
        )
    }
}

/// What is said of a limit of 0.
const NONE: &str = "expected an integer of 1 or more, found the integer 0";

/// What stopped a guest before it was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// It ended itself, with this exit code.
    #[error("exit with code {0}")]
    Exit(i32),
    /// It used all its fuel.
    #[error("out of fuel")]
    OutOfFuel,
    /// It trapped after it was refused more memory.
    #[error("out of memory")]
    OutOfMemory,
    /// It ran into a trap.
    #[error("trap: {0}")]
    Trap(String),
    /// It wrote more than it may.
    #[error("too much output")]
    TooMuchOutput,
    /// It called the host more often than it may.
    #[error("too many calls of the host")]
    TooManyCalls,
    /// A message was larger than it may be.
    #[error("a message was too large")]
    TooLarge,
    /// It slept longer than it may.
    #[error("slept too long")]
    SleptTooLong,
    /// The wall-clock deadline passed: a backstop that says nothing about the guest.
    #[error("the wall-clock deadline passed")]
    Deadline,
    /// A defect of ours, or a machine without room for one more guest.
    #[error("internal: {0}")]
    Internal(String),
}

impl Stop {
    /// The fault that this is where the guest belongs to the verifier and not to the candidate.
    pub fn fault_kind(&self) -> FaultKind {
        match self {
            Self::OutOfFuel => FaultKind::OutOfFuel,
            Self::OutOfMemory => FaultKind::OutOfMemory,
            Self::Deadline => FaultKind::Timeout,
            Self::Internal(_) => FaultKind::Internal,
            _ => FaultKind::Trap,
        }
    }

    /// A short name for evidence.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exit(_) => "exit",
            Self::OutOfFuel => "out-of-fuel",
            Self::OutOfMemory => "out-of-memory",
            Self::Trap(_) => "trap",
            Self::TooMuchOutput => "too-much-output",
            Self::TooManyCalls => "too-many-calls",
            Self::TooLarge => "too-large",
            Self::SleptTooLong => "slept-too-long",
            Self::Deadline => "deadline",
            Self::Internal(_) => "internal",
        }
    }
}
