//! Limits of canonical forms.

use super::derivative::derivative;
use super::logarithm::ln;
use super::radical_limits::limit_of_roots;
use super::substitution::substitute;
use crate::algebra::prelude::*;

/// How often l'Hospital's rule is applied before a limit is given up.
const LHOPITAL_MAX: usize = 6;

/// What a variable tends to.
pub(crate) enum Target {
    At(Canon),
    Infinity { negative: bool },
}

/// The limit as a variable tends to a point: by its value there, or by l'Hospital's rule.
pub(crate) fn limit(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    target: &Target,
) -> Result<Canon, Stop> {
    match target {
        Target::At(point) => limit_at(cx, form, variable, point),
        Target::Infinity { negative } => {
            if let Some(limit) = limit_of_growth(cx, form, variable, *negative)? {
                return Ok(limit);
            }
            if let Some(limit) = limit_of_roots(cx, form, variable, *negative)? {
                return Ok(limit);
            }
            // x = 1/t, and t tends to zero.
            let inverse = Canon::atom(variable, Exp::int(-1));
            let inverse = if *negative { negated(&inverse) } else { inverse };
            let near_zero = substitute(cx, form, variable, &inverse)?;
            limit_at(cx, &near_zero, variable, &Canon::int(0))
        }
    }
}

/// A sum in which a term shrinks exponentially; `None` where none does.
fn limit_of_growth(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    negative: bool,
) -> Result<Option<Canon>, Stop> {
    if !form.den.is_one() {
        return Ok(None);
    }
    let terms = form.num.0.clone();
    let (gone, rest): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(mono, _)| {
        let powers =
            mono.iter().filter(|(atom, _)| matches!(cx.kind(*atom), Some(Kind::Power(..)))).count();
        powers == 1 && shrinks(cx, mono, variable, negative)
    });
    if gone.is_empty() || rest.iter().any(|(mono, _)| has_exponent(cx, mono, variable)) {
        return Ok(None);
    }
    let target = Target::Infinity { negative };
    limit(cx, &Canon::poly(Poly(rest)), variable, &target).map(Some)
}

/// Whether a term holds a constant to the power of the variable, and tends to zero.
fn shrinks(cx: &Context, mono: &Mono, variable: Atom, negative: bool) -> bool {
    mono.iter().any(|&(atom, exp)| match cx.kind(atom) {
        Some(Kind::Power(base, inner)) if *inner == [(variable, Exp::ONE)] => {
            // All constants that are bases here are above one.
            matches!(cx.kind(*base), Some(Kind::Euler | Kind::Prime(_) | Kind::Pi))
                && (exp.num < 0) != negative
        }
        _ => false,
    })
}

/// Whether the variable is in an exponent of a term.
fn has_exponent(cx: &Context, mono: &Mono, variable: Atom) -> bool {
    mono.iter().any(|&(atom, _)| match cx.kind(atom) {
        Some(Kind::Power(_, inner)) => inner.iter().any(|(atom, _)| *atom == variable),
        _ => false,
    })
}

fn limit_at(cx: &mut Context, form: &Canon, variable: Atom, point: &Canon) -> Result<Canon, Stop> {
    if let Some(limit) = limit_of_power(cx, form, variable, point)? {
        return Ok(limit);
    }
    let (mut top, mut below) = with_whole_powers(cx, form, variable)?;
    for _ in 0..LHOPITAL_MAX {
        let bottom = substitute(cx, &below, variable, point)?;
        let value = substitute(cx, &top, variable, point)?;
        if !bottom.is_zero() {
            return cx.div(&value, &bottom);
        }
        if !value.is_zero() {
            return Err(Stop::Undefined);
        }
        (top, below) = (derivative(cx, &top, variable)?, derivative(cx, &below, variable)?);
        let quotient = cx.div(&top, &below)?;
        (top, below) = with_whole_powers(cx, &quotient, variable)?;
    }
    Err(Stop::Cap)
}

/// Numerator and denominator without negative powers of the variable.
fn with_whole_powers(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
) -> Result<(Canon, Canon), Stop> {
    let lowest = |poly: &Poly| {
        let exps =
            poly.0.iter().flat_map(|(mono, _)| mono.iter().filter(|(atom, _)| *atom == variable));
        exps.map(|(_, exp)| exp.floor()).min().unwrap_or(0).min(0)
    };
    let shift = lowest(&form.num).min(lowest(&form.den));
    let factor = Canon::atom(variable, Exp::int(shift.checked_neg().ok_or(Stop::Cap)?));
    let (num, den) = (Canon::poly(form.num.clone()), Canon::poly(form.den.clone()));
    if shift == 0 {
        return Ok((num, den));
    }
    Ok((cx.mul(&num, &factor)?, cx.mul(&den, &factor)?))
}

/// The limit of a power with variable base and exponent: e to the limit of exponent times
/// logarithm.
fn limit_of_power(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    point: &Canon,
) -> Result<Option<Canon>, Stop> {
    let ([(mono, coef)], true) = (form.num.0.as_slice(), form.den.is_one()) else {
        return Ok(None);
    };
    let [(atom, exp)] = mono.as_slice() else { return Ok(None) };
    let (base, exponent) = match cx.kind(*atom).cloned() {
        Some(Kind::Power(base, inner)) if cx.varies(base) => {
            (Canon::atom(base, Exp::ONE), Canon::poly(cx.term(RBig::ONE, &inner)?))
        }
        Some(Kind::Fun("pow", args)) => match args.as_slice() {
            [base, exponent] => (base.clone(), exponent.clone()),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let log = ln(cx, &base)?;
    let product = cx.mul(&log, &exponent)?;
    let product = cx.mul(&product, &Canon::rational(exp.to_rational()))?;
    let limit = limit_at(cx, &product, variable, point)?;
    let euler = cx.of(Kind::Euler)?;
    let power = pow(cx, &euler, &limit)?;
    cx.mul(&power, &Canon::rational(coef.clone())).map(Some)
}
