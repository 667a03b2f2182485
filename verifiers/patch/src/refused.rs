//! Why a tree, or a change of one, is refused.

use std::fmt;

/// Characters of a path or a line that a reason repeats.
const SHOWN_CHARS: usize = 120;

/// Why a tree, or a change of one, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file that is concerned, cut to 120 characters.
    pub path: String,
    /// What is wrong.
    pub why: String,
}

impl Refused {
    pub(crate) fn new(path: &str, why: impl Into<String>) -> Self {
        Self { path: cut(path), why: why.into() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.why),
            path => write!(f, "{}: {}", path.escape_debug(), self.why),
        }
    }
}

impl std::error::Error for Refused {}

/// Why a change was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unapplied<E> {
    /// It does not fit the tree, or is not a change at all.
    Refused(Refused),
    /// What `pay` said.
    Unpaid(E),
}

impl<E> From<Refused> for Unapplied<E> {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// A text cut to what a reason repeats.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}
