//! Lists compared as sets.

use rustc_hash::FxHashMap;

use crate::score::{Overlap, ratio};

/// How many different items two lists have, and have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetCounts {
    /// In both.
    pub common: usize,
    /// In the list that is judged.
    pub given: usize,
    /// In the reference.
    pub wanted: usize,
}

impl SetCounts {
    /// Counts the items of two lists, each once. Linear.
    pub fn of<'i>(
        given: impl IntoIterator<Item = &'i str>,
        wanted: impl IntoIterator<Item = &'i str>,
    ) -> Self {
        let mut sides: FxHashMap<&str, (bool, bool)> = FxHashMap::default();
        for item in given {
            sides.entry(item).or_default().0 = true;
        }
        for item in wanted {
            sides.entry(item).or_default().1 = true;
        }
        let mut out = Self { common: 0, given: 0, wanted: 0 };
        for (given, wanted) in sides.into_values() {
            out.given += usize::from(given);
            out.wanted += usize::from(wanted);
            out.common += usize::from(given && wanted);
        }
        out
    }

    /// Precision and recall.
    pub fn overlap(self) -> Overlap {
        Overlap::of(self.common, self.given, self.wanted)
    }

    /// What both have over what either has (Jaccard 1901).
    pub fn jaccard(self) -> f64 {
        ratio(self.common, self.given + self.wanted - self.common)
    }
}
