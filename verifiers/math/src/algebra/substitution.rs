//! Substitution in canonical forms, also inside functions: a term for an atom, a name for a name.

use super::functions::{apply, factorial};
use super::trig::{cos, sin};
use super::variables::names_in;
use crate::algebra::prelude::*;

/// The form with one variable called by another name.
pub(crate) fn rename(cx: &mut Context, value: &Canon, from: &str, to: &str) -> Result<Canon, Stop> {
    // Two variables must not become one.
    if names_in(cx, value).iter().any(|name| name == to) {
        return Err(Stop::Cap);
    }
    let old = cx.atom(Kind::Var(from.to_owned()))?;
    let new = cx.of(Kind::Var(to.to_owned()))?;
    substitute(cx, value, old, &new)
}

/// The form with `new` in the place of an atom.
pub(crate) fn substitute(
    cx: &mut Context,
    value: &Canon,
    old: Atom,
    new: &Canon,
) -> Result<Canon, Stop> {
    let num = substitute_in_poly(cx, &value.num, old, new)?;
    let den = substitute_in_poly(cx, &value.den, old, new)?;
    cx.div(&num, &den)
}

fn substitute_in_poly(
    cx: &mut Context,
    poly: &Poly,
    old: Atom,
    new: &Canon,
) -> Result<Canon, Stop> {
    let mut sum = Canon::int(0);
    for (mono, coef) in &poly.0 {
        let mut term = Canon::rational(coef.clone());
        for &(atom, exp) in mono {
            let base = substitute_in_atom(cx, atom, old, new)?;
            let power = pow(cx, &base, &Canon::rational(exp.to_rational()))?;
            term = cx.mul(&term, &power)?;
        }
        sum = cx.add(&sum, &term)?;
    }
    Ok(sum)
}

fn substitute_in_atom(cx: &mut Context, atom: Atom, old: Atom, new: &Canon) -> Result<Canon, Stop> {
    cx.meter.spend(20)?;
    if atom == old {
        return Ok(new.clone());
    }
    let inner = if cx.varies(atom) { cx.kind(atom).cloned() } else { None };
    match inner {
        Some(Kind::Sin(angle)) => {
            let angle = substitute(cx, &angle, old, new)?;
            sin(cx, &angle)
        }
        Some(Kind::Cos(angle)) => {
            let angle = substitute(cx, &angle, old, new)?;
            cos(cx, &angle)
        }
        Some(Kind::Fun(name, args)) => {
            let args = args.iter().map(|arg| substitute(cx, arg, old, new));
            let args = args.collect::<Result<Vec<_>, _>>()?;
            match (name, args.as_slice()) {
                ("pow", [base, exponent]) => pow(cx, base, exponent),
                ("factorial", [n]) => factorial(cx, n),
                _ => apply(cx, name, args),
            }
        }
        Some(Kind::Base(base)) => substitute_in_poly(cx, &base, old, new),
        Some(Kind::Power(base, mono)) => {
            let base = substitute_in_atom(cx, base, old, new)?;
            let exponent = Poly(vec![(mono, RBig::ONE)]);
            let exponent = substitute_in_poly(cx, &exponent, old, new)?;
            pow(cx, &base, &exponent)
        }
        _ => Ok(Canon::atom(atom, Exp::ONE)),
    }
}
