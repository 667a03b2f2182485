//! What a verifier is built within, beside its settings.

use assay_verifiers::Files;

#[cfg(feature = "rubrics")]
use crate::rubrics::judge::JudgeSet;

/// What a configuration offers to the verifiers that are built of it.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// The files that settings may name.
    pub files: &'a dyn Files,
    /// The judges.
    #[cfg(feature = "rubrics")]
    pub judges: &'a JudgeSet,
    /// The names of the rewards that are listed before.
    pub earlier: &'a [String],
}
