//! The ladder: from equal bytes to equal canonical forms, and containers piece by piece.

use super::Stop;
use super::calendar::Calendar;
use super::evaluate::Near;
use super::measures;
use super::number::small;
use super::poly::{Canon, Ctx, Kind};
use super::settings::{Decimals, Strict};
use super::units;
use super::value::{Decimal, Interval, Named, Region, Relation, Scalar, Sign, Value};

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    Equal(Rung),
    Unequal,
    /// Neither proved: never paid.
    Undecided,
}

/// The step of the ladder that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rung {
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
    pub(super) fn name(self) -> &'static str {
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
    pub(super) fn reason(self) -> &'static str {
        if self == Self::Numeric { "numeric-equal" } else { "proved-equal" }
    }
}

/// More than this many pieces are not matched in every order.
const PIECES_MAX: usize = 500;

/// Compares answers with references.
pub(super) struct Comparer<'c, 'm, 'b> {
    pub(super) ctx: &'c mut Ctx<'m, 'b>,
    pub(super) decimals: &'c Decimals,
    pub(super) strict: Strict,
}

impl Comparer<'_, '_, '_> {
    /// Whether `answer` equals `reference`.
    pub(super) fn compare(&mut self, reference: &Value, answer: &Value) -> Result<Judged, Stop> {
        self.ctx.meter.spend(20)?;
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
                None => Ok(Judged::Unequal),
            },
            (Value::Region(_), _) | (_, Value::Region(_)) => self.regions(reference, answer),
            (Value::Named(_), _) | (_, Value::Named(_)) if self.strict.relations => {
                Ok(Judged::Unequal)
            }
            (Value::Named(one), other) => self.compare(&one.value, other),
            (other, Value::Named(two)) => self.compare(other, &two.value),
            (Value::Infinity { negative: one }, Value::Infinity { negative: two }) => {
                Ok(judged(one == two, Rung::Rational))
            }
            (Value::Ratio(one), Value::Ratio(two)) => self.ratios(one, two),
            (Value::Ratio(parts), Value::Scalar(scalar))
            | (Value::Scalar(scalar), Value::Ratio(parts)) => match parts.as_slice() {
                [top, below] => {
                    let value = self.ctx.div(top, below)?;
                    let decimal = scalar.step(false);
                    let one = Side { value: &scalar.canon, decimal, percent: false };
                    self.numbers(&one, &Side { value: &value, decimal: None, percent: false })
                }
                _ => Ok(Judged::Unequal),
            },
            (Value::Calendar(one), Value::Calendar(two)) => Ok(judged(one == two, Rung::Text)),
            // Without its half of the day a time is read as a ratio.
            (Value::Ratio(parts), Value::Calendar(Calendar::Time(minutes)))
            | (Value::Calendar(Calendar::Time(minutes)), Value::Ratio(parts)) => {
                let half_day = |minutes: u32| minutes % (12 * 60);
                let time = clock_minutes(parts).map(half_day);
                Ok(judged(time == Some(half_day(*minutes)), Rung::Text))
            }
            (Value::Text(one), Value::Text(two)) => Ok(judged(one == two, Rung::Text)),
            (Value::Relation(one), Value::Relation(two)) => self.relations(one, two),
            (Value::Ranks(one), Value::Ranks(two)) => self.ranks(one, two),
            _ => self.containers(reference, answer),
        }
    }

    fn containers(&mut self, reference: &Value, answer: &Value) -> Result<Judged, Stop> {
        match (reference, answer) {
            (
                Value::Tuple { open, close, items: one },
                Value::Tuple { open: open_two, close: close_two, items: two },
            ) => {
                let same = open == open_two && close == close_two;
                if one.len() == 2 && !same { Ok(Judged::Unequal) } else { self.in_order(one, two) }
            }
            // [1, 2] is an interval, and no two numbers; (1, 2) may be a point.
            (Value::Tuple { open: '(', items: one, .. }, Value::List(two))
            | (Value::List(one), Value::Tuple { open: '(', items: two, .. }) => {
                self.in_order(one, two)
            }
            (Value::Tuple { items: one, .. }, Value::List(two))
            | (Value::List(one), Value::Tuple { items: two, .. })
                if one.len() != 2 =>
            {
                self.in_order(one, two)
            }
            (Value::List(one), Value::List(two)) if self.strict.order => self.in_order(one, two),
            (Value::List(one) | Value::Set(one), Value::List(two) | Value::Set(two)) => {
                self.in_any_order(one, two)
            }
            (Value::Matrix(one), Value::Matrix(two)) => self.matrices(one, two),
            (Value::Matrix(rows), Value::Tuple { items, .. }) => self.in_order(&flat(rows), items),
            (Value::Tuple { items, .. }, Value::Matrix(rows)) => self.in_order(items, &flat(rows)),
            (Value::Set(one), two @ (Value::Scalar(_) | Value::Tuple { .. })) => {
                self.in_any_order(one, std::slice::from_ref(two))
            }
            (one @ (Value::Scalar(_) | Value::Tuple { .. }), Value::Set(two)) => {
                self.in_any_order(std::slice::from_ref(one), two)
            }
            _ => Ok(Judged::Unequal),
        }
    }

    pub(super) fn in_order(&mut self, one: &[Value], two: &[Value]) -> Result<Judged, Stop> {
        if one.len() != two.len() {
            return Ok(Judged::Unequal);
        }
        let mut whole = Judged::Equal(Rung::Bytes);
        for (one, two) in one.iter().zip(two) {
            whole = both(whole, self.compare(one, two)?);
            if whole == Judged::Unequal {
                break;
            }
        }
        Ok(whole)
    }

    /// Every piece of one side has its own equal on the other.
    fn in_any_order(&mut self, one: &[Value], two: &[Value]) -> Result<Judged, Stop> {
        let points =
            |values: &[Value]| values.iter().all(|value| matches!(value, Value::Tuple { .. }));
        if one.len() != two.len() && points(one) && points(two) {
            // A solution that is said twice is one solution.
            let (first, second) = (self.distinct(one)?, self.distinct(two)?);
            if first.len() == second.len() {
                return self.in_any_order(&first, &second);
            }
        }
        if one.len() != two.len() || one.len() > PIECES_MAX {
            return Ok(if one.len() == two.len() { Judged::Undecided } else { Judged::Unequal });
        }
        let mut free: Vec<&Value> = two.iter().collect();
        let mut whole = Judged::Equal(Rung::Bytes);
        for one in one {
            let mut found = None;
            for (at, two) in free.iter().enumerate() {
                match self.compare(one, two)? {
                    Judged::Unequal => {}
                    Judged::Undecided => whole = Judged::Undecided,
                    Judged::Equal(rung) => {
                        found = Some((at, rung));
                        break;
                    }
                }
            }
            let Some((at, rung)) = found else {
                return Ok(if whole == Judged::Undecided { whole } else { Judged::Unequal });
            };
            free.swap_remove(at);
            whole = both(whole, Judged::Equal(rung));
        }
        Ok(whole)
    }

    /// The values, each once.
    fn distinct(&mut self, values: &[Value]) -> Result<Vec<Value>, Stop> {
        let mut kept: Vec<Value> = Vec::with_capacity(values.len());
        for value in values.iter().take(PIECES_MAX) {
            let mut known = false;
            for have in &kept {
                known = known || matches!(self.compare(have, value)?, Judged::Equal(_));
            }
            if !known {
                kept.push(value.clone());
            }
        }
        Ok(kept)
    }

    fn matrices(&mut self, one: &[Vec<Value>], two: &[Vec<Value>]) -> Result<Judged, Stop> {
        if one.len() != two.len() {
            return Ok(Judged::Unequal);
        }
        let mut whole = Judged::Equal(Rung::Bytes);
        for (one, two) in one.iter().zip(two) {
            whole = both(whole, self.in_order(one, two)?);
        }
        Ok(whole)
    }

    /// Two labelled values: one label, or two names for the same function.
    fn named(&mut self, one: &Named, two: &Named) -> Result<Judged, Stop> {
        if let (Some(from), Some(to)) = (&two.parameter, &one.parameter)
            && from != to
        {
            let Some(renamed) = self.ctx.renamed_value(&two.value, from, to)? else {
                return Ok(Judged::Unequal);
            };
            return self.compare(&one.value, &renamed);
        }
        // y is what a function gives.
        let function = |one: &Named, two: &Named| {
            one.parameter.is_some() && two.label == "y" && two.parameter.is_none()
        };
        if function(one, two) || function(two, one) {
            return self.compare(&one.value, &two.value);
        }
        if one.label.eq_ignore_ascii_case(&two.label) {
            return self.compare(&one.value, &two.value);
        }
        match (&one.equation, &two.equation) {
            (Some(one), Some(two)) => {
                let one = Relation { sign: Sign::Zero, left: one.clone() };
                self.relations(&one, &Relation { sign: Sign::Zero, left: two.clone() })
            }
            _ => Ok(Judged::Unequal),
        }
    }

    fn regions(&mut self, one: &Value, two: &Value) -> Result<Judged, Stop> {
        if let (Value::Region(region), Value::Text(text))
        | (Value::Text(text), Value::Region(region)) = (one, two)
        {
            return Ok(judged(region.parts.is_empty() && text == "none", Rung::Text));
        }
        let (Some(one), Some(two)) = (self.ctx.region(one)?, self.ctx.region(two)?) else {
            return Ok(Judged::Unequal);
        };
        if self.strict.relations && one.var.is_some() != two.var.is_some() {
            return Ok(Judged::Unequal);
        }
        if let (Some(one), Some(two)) = (&one.var, &two.var)
            && one != two
        {
            return Ok(Judged::Unequal);
        }
        self.same_region(&one, &two)
    }

    pub(super) fn same_region(&mut self, one: &Region, two: &Region) -> Result<Judged, Stop> {
        if one.parts.len() != two.parts.len() {
            return Ok(Judged::Unequal);
        }
        let mut whole = Judged::Equal(Rung::Interval);
        for (one, two) in one.parts.iter().zip(&two.parts) {
            whole = both(whole, self.intervals(one, two)?);
        }
        Ok(whole)
    }

    fn intervals(&mut self, one: &Interval, two: &Interval) -> Result<Judged, Stop> {
        if one.low_closed != two.low_closed || one.high_closed != two.high_closed {
            return Ok(Judged::Unequal);
        }
        let mut whole = Judged::Equal(Rung::Interval);
        for (one, two) in [(&one.low, &two.low), (&one.high, &two.high)] {
            whole = both(
                whole,
                match (one, two) {
                    (Some(one), Some(two)) => self.exact(one, two)?,
                    (None, None) => whole,
                    _ => Judged::Unequal,
                },
            );
        }
        Ok(whole)
    }

    fn ratios(&mut self, one: &[Canon], two: &[Canon]) -> Result<Judged, Stop> {
        let (Some(first), Some(second)) = (one.first(), two.first()) else {
            return Ok(Judged::Unequal);
        };
        if one.len() != two.len() {
            return Ok(Judged::Unequal);
        }
        // 12:30 and 6:15 are two times of day, not one ratio.
        let times = looks_like_time(one) && looks_like_time(two);
        let mut whole = Judged::Equal(Rung::Rational);
        for (a, b) in one.iter().zip(two) {
            let judged = if times {
                self.exact(a, b)?
            } else {
                let (left, right) = (self.ctx.mul(a, second)?, self.ctx.mul(b, first)?);
                self.exact(&left, &right)?
            };
            whole = both(whole, judged);
        }
        Ok(whole)
    }

    fn scalars(&mut self, one: &Scalar, two: &Scalar) -> Result<Judged, Stop> {
        for unit in [&one.unit, &two.unit].into_iter().flatten() {
            self.ctx.meter.spend(100 * unit.len() as u64)?;
        }
        // "5000 m" beside kilometres: the letter is no variable.
        let (read_one, read_two) =
            (self.ctx.with_unit_letter(one, two), self.ctx.with_unit_letter(two, one));
        let (one, two) = (read_one.as_ref().unwrap_or(one), read_two.as_ref().unwrap_or(two));
        let mut scale = None;
        if self.strict.units && one.unit.is_some() != two.unit.is_some() {
            return Ok(Judged::Unequal);
        }
        if let (Some(want), Some(have)) = (&one.unit, &two.unit)
            && want != have
        {
            match units::factor(want, have) {
                Some(factor) if factor.is_one() => {}
                Some(factor) => scale = Some(factor),
                None => return Ok(Judged::Unequal),
            }
        }
        let scaled = match &scale {
            Some(factor) => Some(self.ctx.mul(&two.canon, &Canon::rational(factor.clone()))?),
            None => None,
        };
        let answer = scaled.as_ref().unwrap_or(&two.canon);
        let steps = (one.step(false), two.step(false));
        let first = self.numbers(
            &Side { value: &one.canon, decimal: steps.0, percent: one.percent },
            &Side { value: answer, decimal: steps.1, percent: two.percent },
        )?;
        let marks = one.percent != two.percent || one.degrees != two.degrees;
        if !marks
            || scale.is_some()
            || matches!(first, Judged::Equal(_))
            || measures::marks_clash(one, two)
        {
            return Ok(first);
        }
        // One side wears the sign, the other leaves it to the question.
        let (left, right) =
            (one.bare.as_ref().unwrap_or(&one.canon), two.bare.as_ref().unwrap_or(&two.canon));
        let steps = (one.step(true), two.step(true));
        let second = self.numbers(
            &Side { value: left, decimal: steps.0, percent: one.percent },
            &Side { value: right, decimal: steps.1, percent: two.percent },
        )?;
        Ok(if second == Judged::Unequal { first } else { second })
    }

    /// Numbers and expressions, with the tolerance of decimals.
    fn numbers(&mut self, one: &Side<'_>, two: &Side<'_>) -> Result<Judged, Stop> {
        let exact = self.exact(one.value, two.value)?;
        if matches!(exact, Judged::Equal(_)) {
            return Ok(exact);
        }
        Ok(if self.rounded(one, two)? { Judged::Equal(Rung::Decimal) } else { exact })
    }

    /// Equal as exact forms; told apart where floating point can.
    pub(super) fn exact(&mut self, one: &Canon, two: &Canon) -> Result<Judged, Stop> {
        if self.ctx.equal(one, two)? {
            return Ok(Judged::Equal(self.ctx.rung(one).max(self.ctx.rung(two))));
        }
        if self.ctx.rung(one).max(self.ctx.rung(two)) <= Rung::Surd {
            return Ok(Judged::Unequal);
        }
        if self.up_to_names(one, two)? {
            return Ok(Judged::Equal(Rung::Polynomial));
        }
        let difference = self.ctx.sub(one, two)?;
        let plain = self.ctx.is_plain(&difference);
        let apart = self
            .ctx
            .approx(&difference)
            .is_some_and(|(near, error)| near.abs() > error * 4.0 + 1e-12);
        if plain || apart {
            return Ok(Judged::Unequal);
        }
        Ok(match self.ctx.computed(&difference)? {
            Near::Apart => Judged::Unequal,
            Near::Zero => Judged::Equal(Rung::Numeric),
            Near::Open => Judged::Undecided,
        })
    }
}

/// One side of a numeric comparison.
pub(super) struct Side<'a> {
    pub(super) value: &'a Canon,
    pub(super) decimal: Option<Decimal>,
    pub(super) percent: bool,
}

impl Scalar {
    /// How it was written, in the scale of its value or of its bare value.
    fn step(&self, bare: bool) -> Option<Decimal> {
        let decimal = self.decimal.clone()?;
        if self.percent && !bare {
            return Some(Decimal { step: decimal.step / small(100, 1), ..decimal });
        }
        Some(decimal)
    }
}

/// Whether the value can be written as a finite decimal.
pub(super) fn terminates(value: &Canon) -> bool {
    let Some(value) = value.as_rational() else { return false };
    let mut rest = value.denominator().clone();
    for prime in [2u8, 5] {
        rest.remove(&prime.into());
    }
    rest.is_one()
}

fn looks_like_time(parts: &[Canon]) -> bool {
    clock_minutes(parts).is_some_and(|minutes| minutes % 60 >= 10)
}

/// Hours and minutes as minutes.
fn clock_minutes(parts: &[Canon]) -> Option<u32> {
    let whole = |value: &Canon| value.as_rational().and_then(|value| super::number::whole(&value));
    let [hours, minutes] = parts else { return None };
    let hours = whole(hours).filter(|h| (0..=24).contains(h))?;
    let minutes = whole(minutes).filter(|m| (0..60).contains(m))?;
    u32::try_from(60 * hours + minutes).ok()
}

fn flat(rows: &[Vec<Value>]) -> Vec<Value> {
    rows.iter().flatten().cloned().collect()
}

pub(super) fn judged(equal: bool, rung: Rung) -> Judged {
    if equal { Judged::Equal(rung) } else { Judged::Unequal }
}

/// Two pieces of one whole: as bad as the worse, on the higher rung.
pub(super) fn both(one: Judged, two: Judged) -> Judged {
    match (one, two) {
        (Judged::Equal(one), Judged::Equal(two)) => Judged::Equal(one.max(two)),
        (Judged::Unequal, _) | (_, Judged::Unequal) => Judged::Unequal,
        _ => Judged::Undecided,
    }
}

impl Ctx<'_, '_> {
    /// The lowest rung that decides a form.
    fn rung(&self, value: &Canon) -> Rung {
        if value.as_rational().is_some() {
            return Rung::Rational;
        }
        let surd = value.num.0.iter().chain(&value.den.0).all(|(mono, _)| {
            mono.iter().all(|(atom, exp)| {
                matches!(self.kind(*atom), Some(Kind::Prime(_))) && (0..exp.den).contains(&exp.num)
            })
        });
        if surd { Rung::Surd } else { Rung::Polynomial }
    }

    /// Whether a form is made of variables and rationals only, so that its canonical form decides.
    fn is_plain(&self, value: &Canon) -> bool {
        value.num.0.iter().chain(&value.den.0).all(|(mono, _)| {
            mono.iter().all(|(atom, exp)| {
                exp.is_int() && matches!(self.kind(*atom), Some(Kind::Var(_) | Kind::Imaginary))
            })
        })
    }
}

impl Comparer<'_, '_, '_> {
    /// Equal up to a name that nobody fixes: the whole number in `k pi`, the constant in `x + C`.
    fn up_to_names(&mut self, one: &Canon, two: &Canon) -> Result<bool, Stop> {
        let difference = self.ctx.sub(one, two)?;
        if !difference.is_zero() && !self.ctx.has_variable(&difference) {
            return Ok(self.ctx.has_constant(one) && self.ctx.has_constant(two));
        }
        let names = (self.ctx.only_parameter(one), self.ctx.only_parameter(two));
        let (Some(want), Some(have)) = names else { return Ok(false) };
        if want == have {
            return Ok(false);
        }
        let renamed = self.ctx.renamed(two, &have, &want)?;
        self.ctx.equal(one, &renamed)
    }
}
