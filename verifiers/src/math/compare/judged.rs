//! The result of a comparison, and the rung of the ladder that decided it.

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equivalence {
    Equal(Rung),
    Unequal,
    /// Proved neither equal nor unequal.
    Undecided,
}

/// The rung of the ladder that decided, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rung {
    Bytes,
    Text,
    Rational,
    Surd,
    Polynomial,
    Decimal,
    Interval,
    /// Computed to 512 bits, or at several points: not proved.
    Numeric,
}

impl Rung {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Text => "text",
            Self::Rational => "rational",
            Self::Surd => "surd",
            Self::Polynomial => "polynomial",
            Self::Decimal => "decimal",
            Self::Interval => "interval",
            Self::Numeric => "numeric",
        }
    }

    /// The reason of a verdict that accepts.
    pub(crate) fn reason(self) -> &'static str {
        if self == Self::Numeric { "numeric-equal" } else { "proved-equal" }
    }
}

pub(crate) fn judged(equal: bool, rung: Rung) -> Equivalence {
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
