//! Every rule check by its id: those of single samples, and those of groups.

use crate::entry::Entry;
use crate::{checks, group_checks};

/// Every check: those of single samples, then those of groups, each in the order of their ids.
pub static ALL: &[Entry] =
    &joined::<{ checks::LIST.len() + group_checks::LIST.len() }>(checks::LIST, group_checks::LIST);

/// The check called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.about.id == id)
}

/// Whether the check called `id` is one of groups.
pub fn is_of_groups(id: &str) -> bool {
    group_checks::LIST.iter().any(|entry| entry.about.id == id)
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which refuses a bad index")]
const fn joined<const N: usize>(one: &[Entry], other: &[Entry]) -> [Entry; N] {
    let mut all = [one[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < one.len() { one[at] } else { other[at - one.len()] };
        at += 1;
    }
    all
}
