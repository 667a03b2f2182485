//! What an answer is: a number, a point, a set, an interval, a relation, a text.

use super::calendar::Calendar;
use super::families::Range;
use super::poly::Canon;
use dashu_ratio::RBig;

/// The value of an answer.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Box<Scalar>),
    Infinity {
        negative: bool,
    },
    /// A point, or an interval in whose place a point may stand.
    Tuple {
        open: char,
        close: char,
        items: Vec<Value>,
    },
    /// Values side by side, without brackets.
    List(Vec<Value>),
    Set(Vec<Value>),
    Region(Region),
    Matrix(Vec<Vec<Value>>),
    Ratio(Vec<Canon>),
    Relation(Relation),
    /// Terms in rising order.
    Ranks(Vec<Rank>),
    Named(Box<Named>),
    Calendar(Calendar),
    Family(Family),
    /// Branches with their conditions; the last may have none.
    Cases(Vec<(Value, Option<Value>)>),
    Text(String),
}

/// A number or an expression, and how it was written.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) canon: Canon,
    /// The same with percent signs and degree signs left out.
    pub(super) bare: Option<Canon>,
    pub(super) percent: bool,
    pub(super) degrees: bool,
    pub(super) unit: Option<String>,
    pub(super) decimal: Option<Decimal>,
}

/// A number that was written as a decimal.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    /// One unit of the last digit.
    pub(super) step: RBig,
    pub(super) significant: u32,
}

/// A union of intervals on the real line, in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// The variable that ranges over it, where it was named.
    pub(super) var: Option<String>,
    pub(super) parts: Vec<Interval>,
}

/// An interval. `None` is an infinite end.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    pub(super) low: Option<Canon>,
    pub(super) high: Option<Canon>,
    pub(super) low_closed: bool,
    pub(super) high_closed: bool,
}

/// What an expression is, compared with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Zero,
    NotZero,
    Negative,
    NotPositive,
}

/// An equation or inequality that is neither an assignment nor an interval.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) sign: Sign,
    pub(super) left: Canon,
}

/// Equal terms of a chain.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    pub(super) terms: Vec<Canon>,
    /// Whether they are greater than those before, and not perhaps equal.
    pub(super) strict: bool,
}

/// `x = 5`, `f(x) = 2x`, `Minimum: 1`.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) label: String,
    /// The parameter of a function that is being defined.
    pub(super) parameter: Option<String>,
    pub(super) value: Value,
    /// Left side minus right side, where both are expressions.
    pub(super) equation: Option<Canon>,
}

/// What repeats: every term plus every multiple of the period.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// The variable that stands for its members, where it was named.
    pub(super) var: Option<String>,
    /// Positive.
    pub(super) period: Canon,
    /// The terms of one period; the first ones where the family starts somewhere.
    pub(super) terms: Vec<Canon>,
    pub(super) range: Range,
}

impl Value {
    /// A number, and the noun that it counts.
    pub(super) fn counted(value: RBig, noun: Option<&str>) -> Self {
        match Self::plain(Canon::rational(value)) {
            Self::Scalar(scalar) => {
                Self::Scalar(Box::new(Scalar { unit: noun.map(str::to_owned), ..*scalar }))
            }
            other => other,
        }
    }

    /// A number or an expression of which nothing but its form is known.
    pub(super) fn plain(canon: Canon) -> Self {
        let (bare, unit, decimal) = (None, None, None);
        Self::Scalar(Box::new(Scalar {
            canon,
            bare,
            percent: false,
            degrees: false,
            unit,
            decimal,
        }))
    }

    /// Whether words alone may say it: a text, or that there is nothing, or that all is right.
    pub(super) fn is_words(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Region(region) => {
                let all = |part: &Interval| part.low.is_none() && part.high.is_none();
                region.parts.iter().all(all)
            }
            _ => false,
        }
    }
}

impl Region {
    pub(super) fn everything() -> Self {
        let all = Interval { low: None, high: None, low_closed: false, high_closed: false };
        Self { var: None, parts: vec![all] }
    }

    pub(super) fn empty() -> Self {
        Self { var: None, parts: Vec::new() }
    }
}
