//! Families that repeat: `pi/4 + k pi` for whole `k`, `4k + 2`, residues modulo a number.
//!
//! A family is one period and what it is added to. Two families are equal when, brought to a
//! common period, each has a term for every term of the other.

use dashu_ratio::RBig;
use std::cmp::Ordering;

use crate::algebra::{Canon, Context, Exp, Poly, negated, only_variable, order};
use crate::number::{small, whole};
use crate::stop::Stop;

/// The most terms of one period.
const TERMS_MAX: usize = 200;
/// Letters that usually stand for an integer.
const USUAL: [&str; 4] = ["k", "m", "n", "l"];

/// Every term plus every multiple of the period.
#[derive(Clone, Debug)]
pub struct Family {
    /// The variable that stands for its members, where it was named.
    pub(crate) var: Option<String>,
    /// Positive.
    pub(crate) period: Canon,
    /// The terms of one period; the first ones where the family starts somewhere.
    pub(crate) terms: Vec<Canon>,
    pub(crate) range: Range,
}

/// A letter that stands for any integer, or for those from a first one on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) range: Range,
}

/// Which integers a parameter runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// Not stated: the range of the other side.
    Open,
    /// Residues in words: any range of the other side.
    Any,
    Whole,
    From(i64),
}

/// The letters that denote integers where they are not declared.
pub(crate) fn usual() -> Vec<Parameter> {
    USUAL.iter().map(|name| Parameter { name: (*name).to_owned(), range: Range::Open }).collect()
}

/// A form that is linear in its only variable, one of `parameters`.
pub(crate) fn progression(
    cx: &mut Context,
    value: &Canon,
    parameters: &[Parameter],
) -> Result<Option<Family>, Stop> {
    let Some((name, atom)) = only_variable(cx, value) else { return Ok(None) };
    let Some(parameter) = parameters.iter().find(|known| known.name == name) else {
        return Ok(None);
    };
    let Some((slope, rest)) = value.num.split_linear(atom) else { return Ok(None) };
    let mut others = slope.0.iter().chain(&rest.0).chain(&value.den.0);
    if others.any(|(mono, _)| cx.mono_varies(mono)) {
        return Ok(None);
    }
    let slope = Poly::sorted(slope.0);
    let below = Canon::poly(value.den.clone());
    let (period, first) =
        (cx.div(&Canon::poly(slope), &below)?, cx.div(&Canon::poly(rest), &below)?);
    let rises = match order(cx, &period, &Canon::int(0))? {
        Some(Ordering::Greater) => true,
        Some(Ordering::Less) => false,
        _ => return Ok(None),
    };
    let from = match parameter.range {
        Range::From(from) if rises => from,
        // A descending family with a first member is not represented.
        Range::From(_) => return Ok(None),
        _ => 0,
    };
    let shift = cx.mul(&period, &Canon::int(from))?;
    let term = cx.add(&first, &shift)?;
    let period = if rises { period } else { negated(&period) };
    Ok(Some(Family { var: None, period, terms: vec![term], range: parameter.range }))
}

/// The union of two families with commensurable periods.
pub(crate) fn joined(cx: &mut Context, one: Family, two: Family) -> Result<Option<Family>, Stop> {
    if matches!((&one.var, &two.var), (Some(one), Some(two)) if one != two) {
        return Ok(None);
    }
    if one.range != two.range {
        return Ok(None);
    }
    let range = one.range;
    let Some((one, two)) = aligned(cx, one, two)? else { return Ok(None) };
    let terms = one.terms.into_iter().chain(two.terms).collect();
    Ok(Some(Family { var: one.var.or(two.var), period: one.period, terms, range }))
}

/// Two families written with a common period, where there is one.
fn aligned(cx: &mut Context, one: Family, two: Family) -> Result<Option<(Family, Family)>, Stop> {
    let ratio = cx.div(&one.period, &two.period)?.as_rational();
    let Some(ratio) = ratio.as_ref().and_then(Exp::from_rational) else { return Ok(None) };
    Ok(Some((stretched(cx, one, ratio.den)?, stretched(cx, two, ratio.num)?)))
}

/// The same family with a period `times` as long.
fn stretched(cx: &mut Context, family: Family, times: i64) -> Result<Family, Stop> {
    let count = usize::try_from(times).map_err(|_| Stop::Cap)?;
    if family.terms.len().saturating_mul(count) > TERMS_MAX {
        return Err(Stop::Cap);
    }
    let mut terms = Vec::new();
    for step in 0..times {
        let shift = cx.mul(&family.period, &Canon::int(step))?;
        for term in &family.terms {
            terms.push(cx.add(term, &shift)?);
        }
    }
    let period = cx.mul(&family.period, &Canon::int(times))?;
    Ok(Family { period, terms, ..family })
}

/// Whether two families have the same members. `None` where they cannot be compared.
pub(crate) fn same_family(
    cx: &mut Context,
    one: &Family,
    two: &Family,
) -> Result<Option<bool>, Stop> {
    if matches!((&one.var, &two.var), (Some(one), Some(two)) if one != two) {
        return Ok(Some(false));
    }
    let (one, two) = (started(cx, one, two.range)?, started(cx, two, one.range)?);
    let ended = |range: Range| matches!(range, Range::From(_));
    let exact = ended(one.range) && ended(two.range);
    let free = one.range == Range::Any || two.range == Range::Any;
    if !free && ended(one.range) != ended(two.range) {
        return Ok(Some(false));
    }
    let Some((one, two)) = aligned(cx, one, two)? else { return Ok(None) };
    Ok(Some(covers(cx, &one, &two, exact)? && covers(cx, &two, &one, exact)?))
}

/// The family with the range of the other, where it has none of its own.
fn started(cx: &mut Context, family: &Family, range: Range) -> Result<Family, Stop> {
    let (Range::Open, Range::From(from)) = (family.range, range) else {
        return Ok(family.clone());
    };
    let shift = cx.mul(&family.period, &Canon::int(from))?;
    let terms = family.terms.iter().map(|term| cx.add(term, &shift)).collect::<Result<_, _>>()?;
    Ok(Family { terms, range, ..family.clone() })
}

fn covers(cx: &mut Context, one: &Family, two: &Family, exact: bool) -> Result<bool, Stop> {
    for term in &two.terms {
        let mut found = false;
        for other in &one.terms {
            let apart = cx.sub(term, other)?;
            let periods = cx.div(&apart, &one.period)?.as_rational();
            found = found
                || periods.is_some_and(|periods| periods.is_int() && (!exact || periods.is_zero()));
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All integers.
pub(crate) fn whole_numbers() -> Family {
    Family { var: None, period: Canon::int(1), terms: vec![Canon::int(0)], range: Range::Whole }
}

/// The positive integers.
pub(crate) fn natural_numbers() -> Family {
    Family { terms: vec![Canon::int(1)], range: Range::From(1), ..whole_numbers() }
}

/// The integers with these remainders.
pub(crate) fn residues(
    var: Option<String>,
    modulus: &RBig,
    remainders: Vec<RBig>,
) -> Option<Family> {
    let modulus = whole(modulus).filter(|modulus| *modulus > 0)?;
    let terms = remainders.into_iter().map(Canon::rational).collect();
    Some(Family { var, period: Canon::rational(small(modulus, 1)), terms, range: Range::Any })
}
