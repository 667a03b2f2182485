//! The ladder: from equal bytes to equal canonical forms, and containers piece by piece.

pub(crate) mod alpha_equivalence;
pub(crate) mod containers;
pub(crate) mod cross_kind;
pub mod judged;
pub(crate) mod numbers;
pub(crate) mod relations;
pub(crate) mod rounding;

use crate::algebra::{Canon, Context, names_in};
use crate::compare::judged::{Equivalence, Rung, both};
use crate::sets::{Interval, Region, Relation, Sign};
use crate::settings::{Decimals, Strict};
use crate::stop::Stop;
use crate::syntax::{Calendar, ClockForm};
use crate::values::{Decimal, Named, Rank, Value, region_of, rename_in_value};

/// An hour in seconds.
const HOUR: u32 = 60 * 60;

/// Compares answers with references.
pub struct Comparer<'c> {
    /// Where the values were read, and what pays.
    pub cx: &'c mut Context,
    /// How decimals are compared.
    pub decimals: &'c Decimals,
    /// What is compared by its form, too.
    pub strict: Strict,
}

/// One side of a numeric comparison.
pub(crate) struct Side<'a> {
    pub(crate) value: &'a Canon,
    pub(crate) decimal: Option<Decimal>,
    pub(crate) percent: bool,
}

impl Comparer<'_> {
    /// Whether `answer` equals `reference`.
    pub(crate) fn compare(
        &mut self,
        reference: &Value,
        answer: &Value,
    ) -> Result<Equivalence, Stop> {
        self.cx.meter.spend(20)?;
        if let Some(judged) = self.across(reference, answer)? {
            return Ok(judged);
        }
        match (reference, answer) {
            (Value::Scalar(one), Value::Scalar(two)) => self.scalars(one, two),
            (Value::Named(one), Value::Named(two)) => self.named(one, two),
            (Value::Relation(one), Value::Named(two))
            | (Value::Named(two), Value::Relation(one)) => match &two.equation {
                Some(left) => {
                    let two = Relation { sign: Sign::Zero, left: left.clone() };
                    self.relations(one, &two)
                }
                None => Ok(Equivalence::Unequal),
            },
            (Value::Region(_), _) | (_, Value::Region(_)) => self.regions(reference, answer),
            (Value::Named(_), _) | (_, Value::Named(_)) if self.strict.relations => {
                Ok(Equivalence::Unequal)
            }
            (Value::Named(one), other) => self.compare(&one.value, other),
            (other, Value::Named(two)) => self.compare(other, &two.value),
            (Value::Infinity { negative: one }, Value::Infinity { negative: two }) => {
                Ok(judged::judged(one == two, Rung::Rational))
            }
            (Value::Ratio(one, clock), Value::Ratio(two, other)) => {
                if *clock != ClockForm::None && *other != ClockForm::None {
                    let time = |parts| seconds(parts).map(|shown| shown % (24 * HOUR));
                    let same = time(one).is_some() && time(one) == time(two);
                    return Ok(judged::judged(same, Rung::Text));
                }
                self.ratios(one, two)
            }
            (Value::Ratio(parts, _), Value::Scalar(scalar))
            | (Value::Scalar(scalar), Value::Ratio(parts, _)) => match parts.as_slice() {
                [top, below] if !top.is_zero() => {
                    let value = self.cx.div(top, below)?;
                    let decimal = scalar.step(false);
                    let one = Side { value: &scalar.canon, decimal, percent: false };
                    self.numbers(&one, &Side { value: &value, decimal: None, percent: false })
                }
                _ => Ok(Equivalence::Unequal),
            },
            (Value::Calendar(one), Value::Calendar(two)) => {
                Ok(judged::judged(one == two, Rung::Text))
            }
            (Value::Ratio(parts, clock), Value::Calendar(Calendar::Time(time)))
            | (Value::Calendar(Calendar::Time(time)), Value::Ratio(parts, clock)) => {
                let period = match clock {
                    ClockForm::None => return Ok(Equivalence::Unequal),
                    ClockForm::Half => 12 * HOUR,
                    ClockForm::Day => 24 * HOUR,
                };
                let same = seconds(parts).map(|shown| shown % period) == Some(time % period);
                Ok(judged::judged(same, Rung::Text))
            }
            (Value::Text(one), Value::Text(two)) => {
                Ok(judged::judged(one == two || same_but_all(one, two), Rung::Text))
            }
            (Value::Relation(one), Value::Relation(two)) => self.relations(one, two),
            (Value::Ranks(one), Value::Ranks(two)) => self.ranks(one, two),
            _ => self.containers(reference, answer),
        }
    }

    /// Two labelled values: one label, or two names for the same function.
    pub(crate) fn named(&mut self, one: &Named, two: &Named) -> Result<Equivalence, Stop> {
        if let (Some(from), Some(to)) = (&two.parameter, &one.parameter)
            && from != to
        {
            let Some(renamed) = rename_in_value(self.cx, &two.value, from, to)? else {
                return Ok(Equivalence::Unequal);
            };
            return self.compare(&one.value, &renamed);
        }
        // `y = 2x` and `f(x) = 2x` define the same function.
        let function = |one: &Named, two: &Named| {
            let primes =
                two.label.strip_prefix('y').filter(|rest| rest.bytes().all(|c| c == b'\''));
            one.parameter.is_some()
                && two.parameter.is_none()
                && primes.is_some_and(|primes| {
                    one.label.trim_end_matches('\'').len() + primes.len() == one.label.len()
                })
        };
        if function(one, two) || function(two, one) {
            return self.compare(&one.value, &two.value);
        }
        if one.label.eq_ignore_ascii_case(&two.label)
            || self.is_derivative(one, two)
            || self.is_derivative(two, one)
        {
            return self.compare(&one.value, &two.value);
        }
        match (&one.equation, &two.equation) {
            (Some(one), Some(two)) => {
                let one = Relation { sign: Sign::Zero, left: one.clone() };
                self.relations(&one, &Relation { sign: Sign::Zero, left: two.clone() })
            }
            _ => Ok(Equivalence::Unequal),
        }
    }

    /// Whether `one` is y' and `two` the derivative of y by the variable of its value: `y' = 2t` and
    /// `\frac{dy}{dt} = 2t`.
    fn is_derivative(&self, one: &Named, two: &Named) -> bool {
        let by = two.label.strip_prefix(&one.label).and_then(|by| by.strip_prefix("/d"));
        let Value::Scalar(value) = &two.value else { return false };
        one.label.ends_with('\'')
            && by.is_some_and(|by| names_in(self.cx, &value.canon).iter().any(|name| name == by))
    }

    pub(crate) fn regions(&mut self, one: &Value, two: &Value) -> Result<Equivalence, Stop> {
        if let (Value::Region(region), Value::Text(text))
        | (Value::Text(text), Value::Region(region)) = (one, two)
        {
            return Ok(judged::judged(region.parts.is_empty() && text == "none", Rung::Text));
        }
        let (Some(one), Some(two)) = (region_of(self.cx, one)?, region_of(self.cx, two)?) else {
            return Ok(Equivalence::Unequal);
        };
        if self.strict.relations && one.var.is_some() != two.var.is_some() {
            return Ok(Equivalence::Unequal);
        }
        if let (Some(one), Some(two)) = (&one.var, &two.var)
            && one != two
        {
            return Ok(Equivalence::Unequal);
        }
        self.same_region(&one, &two)
    }

    fn same_region(&mut self, one: &Region, two: &Region) -> Result<Equivalence, Stop> {
        if one.parts.len() != two.parts.len() {
            return Ok(Equivalence::Unequal);
        }
        let mut whole = Equivalence::Equal(Rung::Interval);
        for (one, two) in one.parts.iter().zip(&two.parts) {
            whole = both(whole, self.intervals(one, two)?);
        }
        Ok(whole)
    }

    fn intervals(&mut self, one: &Interval, two: &Interval) -> Result<Equivalence, Stop> {
        if one.low_closed != two.low_closed || one.high_closed != two.high_closed {
            return Ok(Equivalence::Unequal);
        }
        let mut whole = Equivalence::Equal(Rung::Interval);
        for (one, two) in [(&one.low, &two.low), (&one.high, &two.high)] {
            whole = both(
                whole,
                match (one, two) {
                    (Some(one), Some(two)) => self.exact(one, two)?,
                    (None, None) => whole,
                    _ => Equivalence::Unequal,
                },
            );
        }
        Ok(whole)
    }

    pub(crate) fn ratios(&mut self, one: &[Canon], two: &[Canon]) -> Result<Equivalence, Stop> {
        let (Some(first), Some(second)) = (one.first(), two.first()) else {
            return Ok(Equivalence::Unequal);
        };
        if one.len() != two.len() {
            return Ok(Equivalence::Unequal);
        }
        // The score 2 : 0 is another one than 1 : 0.
        let is_ordered = one.iter().chain(two).any(Canon::is_zero);
        let mut whole = Equivalence::Equal(Rung::Rational);
        for (a, b) in one.iter().zip(two) {
            let judged = if is_ordered {
                self.exact(a, b)?
            } else {
                let (left, right) = (self.cx.mul(a, second)?, self.cx.mul(b, first)?);
                self.exact(&left, &right)?
            };
            whole = both(whole, judged);
        }
        Ok(whole)
    }

    pub(crate) fn ranks(&mut self, one: &[Rank], two: &[Rank]) -> Result<Equivalence, Stop> {
        if one.len() != two.len() {
            return Ok(Equivalence::Unequal);
        }
        let mut whole = Equivalence::Equal(Rung::Polynomial);
        for (one, two) in one.iter().zip(two) {
            if one.strict != two.strict {
                return Ok(Equivalence::Unequal);
            }
            whole = both(whole, self.same_terms(&one.terms, &two.terms)?);
        }
        Ok(whole)
    }

    /// Equal terms are in any order.
    fn same_terms(&mut self, one: &[Canon], two: &[Canon]) -> Result<Equivalence, Stop> {
        let plain = |terms: &[Canon]| {
            Value::Set(terms.iter().map(|term| Value::plain(term.clone())).collect())
        };
        self.compare(&plain(one), &plain(two))
    }
}

/// Whether two texts are the same but for an "all" before what one of them names: "all odd primes". "Not
/// all" and "all but" mean something else.
fn same_but_all(one: &str, two: &str) -> bool {
    let plain = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let at = words.iter().position(|word| *word == "all")?;
        let (before, behind) = (words.get(..at)?, words.get(at + 1..)?);
        let names = !matches!(behind.first()?, &"but" | &"except" | &"of");
        let is_limited = matches!(before.last(), Some(&"not" | &"nearly" | &"almost" | &"at"));
        (names && !is_limited).then(|| [before, behind].concat().join(" "))
    };
    plain(one).is_some_and(|one| one == two) || plain(two).is_some_and(|two| two == one)
}

/// Hours, minutes and perhaps seconds as seconds.
fn seconds(parts: &[Canon]) -> Option<u32> {
    let mut sum = 0_u32;
    for (at, part) in parts.iter().enumerate() {
        let part = u32::try_from(part.as_integer()?).ok()?;
        let unit = 60_u32.checked_pow(2_u32.checked_sub(u32::try_from(at).ok()?)?)?;
        sum = sum.checked_add(part.checked_mul(unit)?)?;
    }
    Some(sum)
}
