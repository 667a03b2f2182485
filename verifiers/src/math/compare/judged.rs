//! What came of a comparison, and the rung of the ladder that decided.

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Equal(Rung),
    Unequal,
    /// Neither proved: never paid.
    Undecided,
}

/// The step of the ladder that decided.
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

    /// Why the verdict pays.
    pub(crate) fn reason(self) -> &'static str {
        if self == Self::Numeric { "numeric-equal" } else { "proved-equal" }
    }
}

pub(crate) fn judged(equal: bool, rung: Rung) -> Judged {
    if equal { Judged::Equal(rung) } else { Judged::Unequal }
}

/// Two pieces of one whole: as bad as the worse, on the higher rung.
pub(crate) fn both(one: Judged, two: Judged) -> Judged {
    match (one, two) {
        (Judged::Equal(one), Judged::Equal(two)) => Judged::Equal(one.max(two)),
        (Judged::Unequal, _) | (_, Judged::Unequal) => Judged::Unequal,
        _ => Judged::Undecided,
    }
}
