//! What may run together without another score.

use serde::{Deserialize, Serialize};

/// What a text may share a batch with, so that its score stays the same to the bit; the strictest is
/// the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BatchCompatibility {
    /// Texts of any length.
    #[default]
    Any,
    /// Texts of its own length: padding moves scores.
    SameLength,
    /// No other text.
    None,
}

/// The same of whole texts, and of texts that go on from one beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compatibility {
    /// Of texts that are run whole.
    pub whole: BatchCompatibility,
    /// Of texts behind the keys and values of one beginning.
    pub behind: BatchCompatibility,
}

impl Compatibility {
    pub(crate) fn strictest(self, other: Self) -> Self {
        Self { whole: self.whole.max(other.whole), behind: self.behind.max(other.behind) }
    }
}
