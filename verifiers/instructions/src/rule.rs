//! What says whether a text follows an instruction.

use crate::passage::Passage;

/// Which semantics an instruction has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// Those of the official code, with its quirks.
    #[default]
    Official,
    /// The same without what is plainly a mistake.
    Fixed,
}

/// Whether a text follows an instruction.
pub(crate) type Judge = Box<dyn Fn(&Passage<'_>) -> bool + Send + Sync>;

#[expect(clippy::unnecessary_wraps, reason = "what reads arguments before it may fail")]
pub(crate) fn judge(
    judge: impl Fn(&Passage<'_>) -> bool + Send + Sync + 'static,
) -> Result<Judge, String> {
    Ok(Box::new(judge))
}
