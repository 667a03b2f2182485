//! Why a sample could not be judged.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a fault. The names are part of the run format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FaultKind {
    /// The meter ran out. Deterministic: the same sample runs out again.
    OutOfFuel,
    /// The wall-clock backstop fired. Not deterministic, so never cached.
    Timeout,
    /// A memory limit was reached.
    OutOfMemory,
    /// What the user supplied went wrong: a component trapped, a script raised an error, a formula gave
    /// no finite number.
    Trap,
    /// The row could not be read as a sample.
    BadInput,
    /// The reference, the tests or the gold answer is broken.
    BadReference,
    /// A model is missing, broken or answers out of shape.
    BadModel,
    /// An external service failed.
    Upstream,
    /// A queue was full.
    Overloaded,
    /// A defect of ours.
    Internal,
}

crate::words! {
    FaultKind, code:
    OutOfFuel "out_of_fuel", Timeout "timeout", OutOfMemory "out_of_memory", Trap "trap",
    BadInput "bad_input", BadReference "bad_reference", BadModel "bad_model", Upstream "upstream",
    Overloaded "overloaded", Internal "internal",
}

impl FaultKind {
    /// Whether it is transient and not a property of the sample: a retry may succeed, and such a
    /// verdict is never cached.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Timeout | Self::Upstream | Self::Overloaded | Self::Internal)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A kind of fault, and a sentence that names its cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {why}")]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// Lower case, no final dot, names the thing and what it has.
    pub why: Cow<'static, str>,
    /// Where a script went wrong: its line and the character in it, both from 1; 0 where the character is
    /// not known.
    pub place: Option<(u16, u16)>,
}

impl Fault {
    /// A fault of `kind`, explained.
    pub fn new(kind: FaultKind, why: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, why: why.into(), place: None }
    }

    /// The same, at a line and a character of a script.
    #[must_use]
    pub fn at(self, place: Option<(usize, usize)>) -> Self {
        let small = |(line, at): (usize, usize)| Some((line.try_into().ok()?, at.try_into().ok()?));
        Self { place: place.and_then(small), ..self }
    }

    /// The row cannot be judged as it stands.
    pub fn bad_input(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(FaultKind::BadInput, why)
    }

    /// The reference is at fault, not the completion.
    pub fn bad_reference(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(FaultKind::BadReference, why)
    }

    /// What the user supplied went wrong.
    pub fn trap(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(FaultKind::Trap, why)
    }

    /// A defect of ours.
    pub fn internal(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(FaultKind::Internal, why)
    }
}
