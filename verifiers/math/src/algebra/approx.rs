//! Approximation in floating point: it may prove that two numbers differ, never that they are
//! equal.

use std::cmp::Ordering;

use super::context::Context;
use super::poly::{Canon, Kind, Mono, Poly, ROOT};
use crate::stop::Stop;

/// A generous bound on the relative error of one operation.
const SLACK: f64 = 1e-13;
/// A value and a bound on its error.
type Approx = (f64, f64);

/// The value of a form without variables, where it fits floating point.
pub(crate) fn approx(cx: &Context, value: &Canon) -> Option<Approx> {
    if let Some(rational) = value.as_rational() {
        let near = rational.to_f64_fast();
        return finite((near, near.abs() * SLACK));
    }
    let mut known: Vec<Option<Approx>> = Vec::with_capacity(cx.atoms.len());
    // Atoms are made of earlier atoms only, so one pass in their order is enough.
    for kind in &cx.atoms {
        let near = atom(kind, &known).and_then(finite);
        known.push(near);
    }
    let (top, bottom) = (poly(&value.num, &known)?, poly(&value.den, &known)?);
    if bottom.0.abs() <= 2.0 * bottom.1 {
        return None;
    }
    let near = top.0 / bottom.0;
    let error = (top.1 + near.abs() * bottom.1) / (bottom.0.abs() - bottom.1);
    finite((near, error + near.abs() * SLACK))
}

/// The order of two numbers, where it is certain.
pub(crate) fn order(cx: &mut Context, a: &Canon, b: &Canon) -> Result<Option<Ordering>, Stop> {
    if cx.equal(a, b)? {
        return Ok(Some(Ordering::Equal));
    }
    let difference = cx.sub(a, b)?;
    if let Some(value) = difference.as_rational() {
        return Ok(Some(value.cmp(&dashu_ratio::RBig::ZERO)));
    }
    let near = approx(cx, &difference).filter(|(near, error)| near.abs() > *error);
    Ok(near.map(|(near, _)| near.total_cmp(&0.0)))
}

fn finite(near: Approx) -> Option<Approx> {
    (near.0.is_finite() && near.1.is_finite()).then_some(near)
}

fn poly(poly: &Poly, known: &[Option<Approx>]) -> Option<Approx> {
    let mut sum = (0.0, 0.0);
    for (mono, coef) in &poly.0 {
        let factor = monomial(mono, known)?;
        let scale = coef.to_f64_fast();
        let term = factor.0 * scale;
        sum.0 += term;
        sum.1 += factor.1 * scale.abs() + term.abs() * SLACK;
    }
    finite(sum)
}

fn monomial(mono: &Mono, known: &[Option<Approx>]) -> Option<Approx> {
    let (mut product, mut relative) = (1.0, 0.0);
    for (atom, exp) in mono {
        let (near, error) = (*known.get(*atom as usize)?)?;
        let exp = exp.to_f64();
        if near.abs() <= 2.0 * error || (near < 0.0 && exp.fract() != 0.0) {
            return None;
        }
        product *= near.powf(exp);
        relative += (error / (near.abs() - error) + SLACK) * (exp.abs() + 1.0) * 2.0;
    }
    finite((product, product.abs() * relative))
}

fn atom(kind: &Kind, known: &[Option<Approx>]) -> Option<Approx> {
    let exact = |near: f64| Some((near, near.abs() * SLACK));
    match kind {
        Kind::Prime(prime) => exact(prime.to_f64().value()),
        Kind::Pi => exact(std::f64::consts::PI),
        Kind::Euler => exact(std::f64::consts::E),
        Kind::Ln(prime) => exact(prime.to_f64().value().ln()),
        Kind::Sin(angle) => Some(smooth(canon(angle, known)?, f64::sin)),
        Kind::Cos(angle) => Some(smooth(canon(angle, known)?, f64::cos)),
        Kind::Base(base) => poly(base, known),
        Kind::Fun(ROOT, args) => {
            let low = args.first()?.as_rational()?.to_f64_fast();
            Some((low, low.abs() * SLACK + 1e-18))
        }
        Kind::Fun(name, args) => {
            let [arg] = args.as_slice() else { return None };
            function(name, canon(arg, known)?)
        }
        Kind::Power(base, mono) => {
            let (base, error) = (*known.get(*base as usize)?)?;
            let (exp, slack) = monomial(mono, known)?;
            if base <= 2.0 * error {
                return None;
            }
            let near = base.powf(exp);
            let relative = exp.abs() * error / base + slack * base.ln().abs() + SLACK;
            Some((near, near * relative * 2.0))
        }
        Kind::Var(_) | Kind::Imaginary | Kind::Minus => None,
    }
}

fn canon(value: &Canon, known: &[Option<Approx>]) -> Option<Approx> {
    let (top, bottom) = (poly(&value.num, known)?, poly(&value.den, known)?);
    let near = top.0 / bottom.0;
    finite((near, (top.1 + near.abs() * bottom.1) / (bottom.0.abs() - bottom.1).max(1e-300)))
}

/// A function whose slope is at most one.
fn smooth((at, error): Approx, function: fn(f64) -> f64) -> Approx {
    (function(at), error + SLACK)
}

fn function(name: &str, (at, error): Approx) -> Option<Approx> {
    match name {
        "abs" => Some((at.abs(), error)),
        "arctan" => Some(smooth((at, error), f64::atan)),
        "ln" if at > 2.0 * error => Some((at.ln(), 2.0 * error / at + SLACK)),
        "arcsin" if at.abs() + error < 0.999 => Some((at.asin(), 30.0 * error + SLACK)),
        "arccos" if at.abs() + error < 0.999 => Some((at.acos(), 30.0 * error + SLACK)),
        _ => None,
    }
}
