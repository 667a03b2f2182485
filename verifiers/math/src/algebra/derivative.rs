//! Derivatives of canonical forms.

use super::functions::apply;
use super::logarithm::ln;
use super::radical::pow_int;
use super::trig::{cos, sin};
use crate::algebra::prelude::*;

/// The derivative by a variable.
pub(crate) fn derivative(cx: &mut Context, form: &Canon, by: Atom) -> Result<Canon, Stop> {
    let top = poly_derivative(cx, &form.num, by)?;
    if form.den.is_one() {
        return Ok(top);
    }
    let below = poly_derivative(cx, &form.den, by)?;
    let (num, den) = (Canon::poly(form.num.clone()), Canon::poly(form.den.clone()));
    let (left, right) = (cx.mul(&top, &den)?, cx.mul(&num, &below)?);
    let difference = cx.sub(&left, &right)?;
    let square = cx.mul(&den, &den.clone())?;
    cx.div(&difference, &square)
}

fn poly_derivative(cx: &mut Context, poly: &Poly, by: Atom) -> Result<Canon, Stop> {
    let mut sum = Canon::int(0);
    for (mono, coef) in &poly.0 {
        let term = mono_derivative(cx, mono, by)?;
        let term = cx.mul(&term, &Canon::rational(coef.clone()))?;
        sum = cx.add(&sum, &term)?;
    }
    Ok(sum)
}

fn mono_derivative(cx: &mut Context, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
    let mut sum = Canon::int(0);
    for (at, &(atom, exp)) in mono.iter().enumerate() {
        let inner = atom_derivative(cx, atom, by)?;
        if inner.is_zero() {
            continue;
        }
        let rest: Mono = mono
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, part)| *part)
            .collect();
        let lower = exp.add(Exp::int(-1))?;
        let mut term = Canon::poly(cx.term(exp.to_rational(), &rest)?);
        if !lower.is_zero() {
            let power =
                pow(cx, &Canon::atom(atom, Exp::ONE), &Canon::rational(lower.to_rational()))?;
            term = cx.mul(&term, &power)?;
        }
        term = cx.mul(&term, &inner)?;
        sum = cx.add(&sum, &term)?;
    }
    Ok(sum)
}

pub(crate) fn atom_derivative(cx: &mut Context, atom: Atom, by: Atom) -> Result<Canon, Stop> {
    cx.meter.spend(50)?;
    if atom == by {
        return Ok(Canon::int(1));
    }
    if !cx.varies(atom) {
        return Ok(Canon::int(0));
    }
    match cx.kind(atom).cloned() {
        Some(Kind::Sin(arg)) => {
            let (outer, inner) = (cos(cx, &arg)?, derivative(cx, &arg, by)?);
            cx.mul(&outer, &inner)
        }
        Some(Kind::Cos(arg)) => {
            let (outer, inner) = (sin(cx, &arg)?, derivative(cx, &arg, by)?);
            Ok(negated(&cx.mul(&outer, &inner)?))
        }
        Some(Kind::Base(base)) => poly_derivative(cx, &base, by),
        Some(Kind::Power(base, mono)) => {
            let exponent = Canon::poly(cx.term(RBig::ONE, &mono)?);
            let base = Canon::atom(base, Exp::ONE);
            power_derivative(cx, &base, &exponent, &Canon::atom(atom, Exp::ONE), by)
        }
        Some(Kind::Fun("pow", args)) => {
            let [base, exponent] = args.as_slice() else { return Err(Stop::Cap) };
            power_derivative(cx, base, exponent, &Canon::atom(atom, Exp::ONE), by)
        }
        Some(Kind::Fun(name, args)) => {
            let [arg] = args.as_slice() else { return Err(Stop::Cap) };
            let inner = derivative(cx, arg, by)?;
            if inner.is_zero() {
                return Ok(inner);
            }
            let outer = outer_derivative(cx, name, arg)?;
            cx.mul(&outer, &inner)
        }
        _ => Ok(Canon::int(0)),
    }
}

/// The derivative of a power, by logarithmic differentiation.
fn power_derivative(
    cx: &mut Context,
    base: &Canon,
    exponent: &Canon,
    power: &Canon,
    by: Atom,
) -> Result<Canon, Stop> {
    let (slope, rise) = (derivative(cx, exponent, by)?, derivative(cx, base, by)?);
    let mut sum = Canon::int(0);
    if !slope.is_zero() {
        let log = ln(cx, base)?;
        sum = cx.mul(&slope, &log)?;
    }
    if !rise.is_zero() {
        let part = cx.mul(exponent, &rise)?;
        let part = cx.div(&part, base)?;
        sum = cx.add(&sum, &part)?;
    }
    cx.mul(&sum, power)
}

fn outer_derivative(cx: &mut Context, name: &str, arg: &Canon) -> Result<Canon, Stop> {
    let square = cx.mul(arg, &arg.clone())?;
    let one = Canon::int(1);
    let half = Canon::rational(small(-1, 2));
    match name {
        "ln" => cx.div(&one, arg),
        "arctan" | "arccot" => {
            let sum = cx.add(&one, &square)?;
            cx.div(&Canon::int(if name == "arctan" { 1 } else { -1 }), &sum)
        }
        "arcsin" | "arccos" => {
            let rest = cx.sub(&one, &square)?;
            let slope = pow(cx, &rest, &half)?;
            Ok(if name == "arcsin" { slope } else { negated(&slope) })
        }
        "sinh" => apply(cx, "cosh", vec![arg.clone()]),
        "cosh" => apply(cx, "sinh", vec![arg.clone()]),
        "tanh" => {
            let wave = apply(cx, "cosh", vec![arg.clone()])?;
            pow_int(cx, &wave, -2)
        }
        _ => Err(Stop::Cap),
    }
}
