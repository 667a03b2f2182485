//! A sample of a group that is compared.

use assay_verifiers::Sample;

/// A sample of a group, and what the judge sees of it.
pub(super) struct PairMember {
    pub(super) sample: Sample,
    pub(super) text: String,
}
