//! The result of a comparison, and the rung of the ladder that decided it.

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equivalence {
    /// Equal, on this rung.
    Equal(Rung),
    /// Not equal.
    Unequal,
    /// Proved neither equal nor unequal.
    Undecided,
}

/// The rung of the ladder that decided, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// The texts are the same.
    Bytes,
    /// The words are the same.
    Text,
    /// Rational numbers.
    Rational,
    /// Numbers with radicals.
    Surd,
    /// Expressions in variables, and in functions kept as they are.
    Polynomial,
    /// A number within what a decimal leaves open.
    Decimal,
    /// Sets of real numbers.
    Interval,
    /// Computed to 512 bits, or at several points: not proved.
    Numeric,
}

crate::words! {
    Rung, name:
    Bytes "bytes", Text "text", Rational "rational", Surd "surd", Polynomial "polynomial",
    Decimal "decimal", Interval "interval", Numeric "numeric",
}

impl Rung {
    /// The reason of a verdict that accepts.
    pub fn reason(self) -> &'static str {
        if self == Self::Numeric { "numeric-equal" } else { "proved-equal" }
    }
}

/// The result of a comparison that this rung decides.
pub fn judged(equal: bool, rung: Rung) -> Equivalence {
    if equal { Equivalence::Equal(rung) } else { Equivalence::Unequal }
}

/// The conjunction of two results, on the higher of their rungs.
pub(crate) fn both(one: Equivalence, two: Equivalence) -> Equivalence {
    match (one, two) {
        (Equivalence::Equal(one), Equivalence::Equal(two)) => Equivalence::Equal(one.max(two)),
        (Equivalence::Unequal, _) | (_, Equivalence::Unequal) => Equivalence::Unequal,
        _ => Equivalence::Undecided,
    }
}
