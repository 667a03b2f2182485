//! What an answer earns.

/// What an answer earns, and by which reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paid {
    pub(super) share: f64,
    pub(super) reading: &'static str,
}

impl Paid {
    pub(super) const NOTHING: Self = Self { share: 0.0, reading: "none" };

    pub(super) fn full(reading: &'static str) -> Self {
        Self { share: 1.0, reading }
    }

    pub(super) fn if_right(right: bool, reading: &'static str) -> Self {
        if right { Self::full(reading) } else { Self::NOTHING }
    }
}
