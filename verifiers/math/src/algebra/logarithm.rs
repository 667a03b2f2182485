//! Logarithms of canonical forms.

use dashu_base::Signed as _;

use super::radical::prime_powers;
use crate::algebra::prelude::*;

/// The natural logarithm; that of a number is a sum over its prime factors.
pub(crate) fn ln(cx: &mut Context, value: &Canon) -> Result<Canon, Stop> {
    let ([(mono, coef)], true) = (value.num.0.as_slice(), value.den.is_one()) else {
        return cx.opaque("ln", vec![value.clone()]);
    };
    let known = mono.iter().all(|(atom, _)| {
        matches!(cx.kind(*atom), Some(Kind::Prime(_) | Kind::Euler))
            || matches!(cx.kind(*atom), Some(Kind::Power(base, _)) if is_positive(cx, *base))
    });
    if !coef.is_positive() || !known {
        return cx.opaque("ln", vec![value.clone()]);
    }
    let (mono, coef) = (mono.clone(), coef.clone());
    let mut factors = prime_powers(cx, &coef, Exp::ONE)?;
    factors.extend(mono);
    let mut sum = Canon::int(0);
    for (atom, exp) in factors {
        let part = match cx.kind(atom).cloned() {
            Some(Kind::Prime(prime)) => cx.of(Kind::Ln(prime))?,
            Some(Kind::Power(base, inner)) => {
                let base = Canon::atom(base, Exp::ONE);
                let log = ln(cx, &base)?;
                cx.mul(&log, &Canon::poly(Poly(vec![(inner, RBig::ONE)])))?
            }
            _ => Canon::int(1),
        };
        let part = cx.mul(&part, &Canon::rational(exp.to_rational()))?;
        sum = cx.add(&sum, &part)?;
    }
    Ok(sum)
}

/// The logarithm to a base.
pub(crate) fn log(cx: &mut Context, base: &Canon, value: &Canon) -> Result<Canon, Stop> {
    let (top, bottom) = (ln(cx, value)?, ln(cx, base)?);
    cx.div(&top, &bottom)
}

/// A `\log` without a base.
pub(crate) fn log_bare(cx: &mut Context, value: &Canon) -> Result<Canon, Stop> {
    cx.bare_log = true;
    if cx.natural_log { ln(cx, value) } else { log(cx, &Canon::int(10), value) }
}

/// Whether an atom stands for a positive real number.
pub(crate) fn is_positive(cx: &Context, atom: u32) -> bool {
    match cx.kind(atom) {
        Some(Kind::Prime(_) | Kind::Pi | Kind::Euler | Kind::Ln(_)) => true,
        Some(Kind::Fun(name, _)) => *name == "abs",
        Some(Kind::Power(base, _)) => is_positive(cx, *base),
        _ => false,
    }
}
