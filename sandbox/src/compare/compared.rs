//! The result of a comparison.

use super::difference::Difference;

/// What came of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// 1 for equal, 0 for different; a comparator may say anything between.
    pub credit: f64,
    /// Where the two differ first.
    pub difference: Option<Difference>,
}

impl Compared {
    /// Whether the output is right.
    pub fn is_equal(&self) -> bool {
        self.difference.is_none()
    }

    pub(super) fn of(difference: Option<Difference>) -> Self {
        Self { credit: if difference.is_none() { 1.0 } else { 0.0 }, difference }
    }
}
