//! Values that repeat: `pi/4 + k pi` for whole `k`, `4k + 2`, "congruent to 2 modulo 4".
//!
//! A family is one period and what it is added to. Two families are equal when, brought to a
//! common period, each has a term for every term of the other.

use std::cmp::Ordering;

use dashu_ratio::RBig;

use super::Stop;
use super::algebra::negated;
use super::number::{Exp, small, whole};
use super::poly::{Canon, Ctx, Kind, Poly};
use super::value::{Family, Value};

/// The most terms of one period.
const TERMS_MAX: usize = 200;
/// Letters that usually stand for a whole number.
const USUAL: [&str; 4] = ["k", "m", "n", "l"];

/// A letter that stands for any whole number, or for those from a first one on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) range: Range,
}

/// Which whole numbers a parameter runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// Nobody said: what the other side says.
    Open,
    /// Remainders in words: whatever the other side says.
    Any,
    Whole,
    From(i64),
}

/// The letters that are taken for whole numbers where nothing is said about them.
pub(super) fn usual() -> Vec<Parameter> {
    USUAL.iter().map(|name| Parameter { name: (*name).to_owned(), range: Range::Open }).collect()
}

impl Ctx<'_, '_> {
    /// The value as a family over one of `parameters`.
    pub(super) fn family(
        &mut self,
        value: &Value,
        parameters: &[Parameter],
    ) -> Result<Option<Family>, Stop> {
        self.meter.spend(20)?;
        match value {
            Value::Family(family) => Ok(Some(family.clone())),
            Value::Scalar(scalar) if self.is_variable(&scalar.canon, "Z") => {
                Ok(Some(whole_numbers()))
            }
            Value::Scalar(scalar) if self.is_variable(&scalar.canon, "N") => {
                Ok(Some(natural_numbers()))
            }
            Value::Scalar(scalar) => self.progression(&scalar.canon, parameters),
            // A function or a sequence has a value for each index, in this order.
            Value::Named(named)
                if named.parameter.is_some() || indexed(&named.label, parameters) =>
            {
                Ok(None)
            }
            Value::Named(named) => {
                let family = self.family(&named.value, parameters)?;
                Ok(family.map(|family| Family { var: Some(named.label.clone()), ..family }))
            }
            Value::List(items) | Value::Set(items) => {
                let mut whole: Option<Family> = None;
                for item in items {
                    let Some(next) = self.family(item, parameters)? else { return Ok(None) };
                    whole = match whole {
                        None => Some(next),
                        Some(before) => self.joined(before, next)?,
                    };
                    if whole.is_none() {
                        return Ok(None);
                    }
                }
                Ok(whole)
            }
            _ => Ok(None),
        }
    }

    fn is_variable(&self, value: &Canon, name: &str) -> bool {
        value.den.is_one()
            && matches!(value.num.0.as_slice(), [(mono, coef)] if coef.is_one()
                && matches!(mono.as_slice(), [(atom, Exp::ONE)]
                    if matches!(self.kind(*atom), Some(Kind::Var(have)) if have == name)))
    }

    /// A form that is linear in its only variable, one of `parameters`.
    fn progression(
        &mut self,
        value: &Canon,
        parameters: &[Parameter],
    ) -> Result<Option<Family>, Stop> {
        let Some((name, atom)) = self.only_variable(value) else { return Ok(None) };
        let Some(parameter) = parameters.iter().find(|known| known.name == name) else {
            return Ok(None);
        };
        let (mut slope, mut rest) = (Poly::default(), Poly::default());
        for (mono, coef) in &value.num.0 {
            match mono.iter().find(|(factor, _)| self.varies(*factor)) {
                None => rest.0.push((mono.clone(), coef.clone())),
                Some((factor, Exp::ONE)) if *factor == atom => {
                    let others: Vec<_> =
                        mono.iter().filter(|(other, _)| *other != atom).copied().collect();
                    if others.iter().any(|(other, _)| self.varies(*other)) {
                        return Ok(None);
                    }
                    slope.0.push((others, coef.clone()));
                }
                Some(_) => return Ok(None),
            }
        }
        if value.den.0.iter().any(|(mono, _)| self.mono_varies(mono)) {
            return Ok(None);
        }
        slope.0.sort_by(|a, b| a.0.cmp(&b.0));
        let below = Canon::poly(value.den.clone());
        let (period, first) =
            (self.div(&Canon::poly(slope), &below)?, self.div(&Canon::poly(rest), &below)?);
        let rises = match self.order(&period, &Canon::int(0))? {
            Some(Ordering::Greater) => true,
            Some(Ordering::Less) => false,
            _ => return Ok(None),
        };
        let from = match parameter.range {
            Range::From(from) if rises => from,
            // A family without end on one side that falls is none of ours.
            Range::From(_) => return Ok(None),
            _ => 0,
        };
        let shift = self.mul(&period, &Canon::int(from))?;
        let term = self.add(&first, &shift)?;
        let period = if rises { period } else { negated(&period) };
        Ok(Some(Family { var: None, period, terms: vec![term], range: parameter.range }))
    }

    /// Both together, where their periods fit.
    fn joined(&mut self, one: Family, two: Family) -> Result<Option<Family>, Stop> {
        if matches!((&one.var, &two.var), (Some(one), Some(two)) if one != two) {
            return Ok(None);
        }
        if one.range != two.range {
            return Ok(None);
        }
        let range = one.range;
        let Some((one, two)) = self.aligned(one, two)? else { return Ok(None) };
        let terms = one.terms.into_iter().chain(two.terms).collect();
        Ok(Some(Family { var: one.var.or(two.var), period: one.period, terms, range }))
    }

    /// Two families written with a common period, where there is one.
    fn aligned(&mut self, one: Family, two: Family) -> Result<Option<(Family, Family)>, Stop> {
        let ratio = self.div(&one.period, &two.period)?.as_rational();
        let Some(ratio) = ratio.as_ref().and_then(Exp::from_rational) else { return Ok(None) };
        Ok(Some((self.stretched(one, ratio.den)?, self.stretched(two, ratio.num)?)))
    }

    /// The same family with a period `times` as long.
    fn stretched(&mut self, family: Family, times: i64) -> Result<Family, Stop> {
        let count = usize::try_from(times).map_err(|_| Stop::Cap)?;
        if family.terms.len().saturating_mul(count) > TERMS_MAX {
            return Err(Stop::Cap);
        }
        let mut terms = Vec::new();
        for step in 0..times {
            let shift = self.mul(&family.period, &Canon::int(step))?;
            for term in &family.terms {
                terms.push(self.add(term, &shift)?);
            }
        }
        let period = self.mul(&family.period, &Canon::int(times))?;
        Ok(Family { period, terms, ..family })
    }

    /// Whether two families have the same members. `None` where they cannot be compared.
    pub(super) fn same_family(&mut self, one: &Family, two: &Family) -> Result<Option<bool>, Stop> {
        if matches!((&one.var, &two.var), (Some(one), Some(two)) if one != two) {
            return Ok(Some(false));
        }
        let (one, two) = (self.started(one, two.range)?, self.started(two, one.range)?);
        let ended = |range: Range| matches!(range, Range::From(_));
        let exact = ended(one.range) && ended(two.range);
        let free = one.range == Range::Any || two.range == Range::Any;
        if !free && ended(one.range) != ended(two.range) {
            return Ok(Some(false));
        }
        let Some((one, two)) = self.aligned(one, two)? else { return Ok(None) };
        Ok(Some(self.covers(&one, &two, exact)? && self.covers(&two, &one, exact)?))
    }

    /// The family with the range of the other, where nobody gave it one.
    fn started(&mut self, family: &Family, range: Range) -> Result<Family, Stop> {
        let (Range::Open, Range::From(from)) = (family.range, range) else {
            return Ok(family.clone());
        };
        let shift = self.mul(&family.period, &Canon::int(from))?;
        let terms =
            family.terms.iter().map(|term| self.add(term, &shift)).collect::<Result<_, _>>()?;
        Ok(Family { terms, range, ..family.clone() })
    }

    fn covers(&mut self, one: &Family, two: &Family, exact: bool) -> Result<bool, Stop> {
        for term in &two.terms {
            let mut found = false;
            for other in &one.terms {
                let apart = self.sub(term, other)?;
                let periods = self.div(&apart, &one.period)?.as_rational();
                found = found
                    || periods
                        .is_some_and(|periods| periods.is_int() && (!exact || periods.is_zero()));
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a value is a multiple of pi that repeats although nobody says so: by `k`, for `n` may
    /// as well be a number that is given, as in `(n - 2) pi`.
    pub(super) fn repeats(&self, value: &Value) -> bool {
        let canon = match value {
            Value::Scalar(scalar) => &scalar.canon,
            Value::Named(named) => return self.repeats(&named.value),
            Value::List(items) | Value::Set(items) => {
                return items.iter().all(|item| self.repeats(item));
            }
            _ => return false,
        };
        let mut atoms = canon.num.0.iter().flat_map(|(mono, _)| mono.iter().map(|(atom, _)| *atom));
        if !atoms.any(|atom| self.kind(atom) == Some(&Kind::Pi)) {
            return false;
        }
        matches!(self.names_in(canon).as_slice(), [name] if name == "k")
    }
}

/// Whether a label has one of the parameters for its index: `a_n`.
fn indexed(label: &str, parameters: &[Parameter]) -> bool {
    let index = label.split_once('_').map(|(_, index)| index);
    index.is_some_and(|index| parameters.iter().any(|known| index.contains(&known.name)))
}

/// All whole numbers.
pub(super) fn whole_numbers() -> Family {
    Family { var: None, period: Canon::int(1), terms: vec![Canon::int(0)], range: Range::Whole }
}

/// The positive whole numbers.
pub(super) fn natural_numbers() -> Family {
    Family { terms: vec![Canon::int(1)], range: Range::From(1), ..whole_numbers() }
}

/// The whole numbers with these remainders.
pub(super) fn residues(
    var: Option<String>,
    modulus: &RBig,
    remainders: Vec<RBig>,
) -> Option<Family> {
    let modulus = whole(modulus).filter(|modulus| *modulus > 0)?;
    let terms = remainders.into_iter().map(Canon::rational).collect();
    Some(Family { var, period: Canon::rational(small(modulus, 1)), terms, range: Range::Any })
}
