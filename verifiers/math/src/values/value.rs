//! The value of an answer: a number, a point, a set, an interval, a relation, a text.

use dashu_ratio::RBig;

use crate::algebra::Canon;
use crate::sets::{Family, Interval, Region, Relation};
use crate::syntax::{Calendar, ClockForm, units};

/// The value of an answer.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number or an expression.
    Scalar(Box<Scalar>),
    /// An end of the real line.
    Infinity {
        /// Whether it is the lower end.
        negative: bool,
    },
    /// A point, or an interval in whose place a point may stand.
    Tuple {
        /// The opening bracket.
        open: char,
        /// The closing bracket.
        close: char,
        /// The coordinates, or the two ends.
        items: Vec<Value>,
    },
    /// Values side by side, without brackets.
    List(Vec<Value>),
    /// A set by its members.
    Set(Vec<Value>),
    /// A union of intervals.
    Region(Region),
    /// A matrix, row by row.
    Matrix(Vec<Vec<Value>>),
    /// The parts of `1 : 2 : 3`, and what they are as a time of day.
    Ratio(Vec<Canon>, ClockForm),
    /// An equation or inequality that is neither an assignment nor an interval.
    Relation(Relation),
    /// Terms in rising order.
    Ranks(Vec<Rank>),
    /// A value with its name.
    Named(Box<Named>),
    /// A date, or a time of day.
    Calendar(Calendar),
    /// Numbers that repeat.
    Family(Family),
    /// Branches with their conditions; the last may have none.
    Cases(Vec<(Value, Option<Value>)>),
    /// Words.
    Text(String),
}

/// A number or an expression, and its notation.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub(crate) canon: Canon,
    /// The same with percent signs and degree signs left out.
    pub(crate) bare: Option<Canon>,
    pub(crate) percent: bool,
    pub(crate) degrees: bool,
    pub(crate) unit: Option<String>,
    pub(crate) decimal: Option<Decimal>,
    /// The other reading of a number before letters that may be a unit: `1 m`, and not `m`.
    pub(crate) letters: Option<Box<Letters>>,
}

/// A number before letters as a value with a unit.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    pub(crate) canon: Canon,
    pub(crate) unit: String,
    pub(crate) decimal: Option<Decimal>,
    /// Whether the unit has a name or a sign of several letters, apart from the number.
    pub(crate) sure: bool,
}

/// A number that was written as a decimal.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    /// One unit of the last digit.
    pub(crate) step: RBig,
    pub(crate) significant: u32,
}

/// Equal terms of a chain.
#[derive(Clone, Debug)]
pub struct Rank {
    pub(crate) terms: Vec<Canon>,
    /// Whether they are strictly greater than those before.
    pub(crate) strict: bool,
}

/// `x = 5`, `f(x) = 2x`, `Minimum: 1`.
#[derive(Clone, Debug)]
pub struct Named {
    pub(crate) label: String,
    /// The parameter of a function that is being defined.
    pub(crate) parameter: Option<String>,
    pub(crate) value: Value,
    /// Left side minus right side, where both are expressions.
    pub(crate) equation: Option<Canon>,
}

impl Value {
    /// A point or a vector.
    pub(crate) fn point(items: Vec<Self>) -> Self {
        Self::Tuple { open: '(', close: ')', items }
    }

    /// A number, and the noun that it counts.
    pub(crate) fn counted(value: RBig, noun: Option<&str>) -> Self {
        match Self::plain(Canon::rational(value)) {
            Self::Scalar(scalar) => {
                Self::Scalar(Box::new(Scalar { unit: noun.map(str::to_owned), ..*scalar }))
            }
            other => other,
        }
    }

    /// A number or an expression without unit, signs and decimal places.
    pub(crate) fn plain(canon: Canon) -> Self {
        let (bare, unit, decimal) = (None, None, None);
        Self::Scalar(Box::new(Scalar {
            canon,
            bare,
            percent: false,
            degrees: false,
            unit,
            decimal,
            letters: None,
        }))
    }

    /// Whether it has a unit, or letters that may be one.
    pub fn is_measured(&self) -> bool {
        let Self::Scalar(scalar) = self else { return false };
        scalar.letters.is_some() || scalar.unit.as_deref().is_some_and(units::is_measure)
    }

    /// Whether it is an expression without any unit or mark.
    pub fn is_unmarked(&self) -> bool {
        let Self::Scalar(scalar) = self else { return false };
        scalar.unit.is_none() && scalar.letters.is_none() && !scalar.percent && !scalar.degrees
    }

    /// Whether it can be stated in words alone: a text, the empty set, or all real numbers.
    pub fn is_words(&self) -> bool {
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
