//! What may run together without another score.

/// What a text may share a batch with, so that its score stays the same to the bit; the strictest is
/// the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchCompatibility {
    /// Texts of any length.
    #[default]
    Any,
    /// Texts of its own length: padding moves scores.
    SameLength,
    /// No other text.
    None,
}
