//! Integrals of canonical forms. What is not found stays opaque and equals only itself.

use super::approx::order;
use super::derivative::{atom_derivative, derivative};
use super::functions::apply;
use super::limits::{Target, limit};
use super::logarithm::ln;
use super::poly::cofactor;
use super::power::abs;
use super::radical::pow_int;
use super::substitution::substitute;
use super::trig::{cos, sin};
use crate::algebra::prelude::*;

/// Higher powers of sine and cosine are not integrated.
const DEGREE_MAX: i64 = 12;

/// An antiderivative, term by term.
pub(crate) fn antiderivative(cx: &mut Context, form: &Canon, by: Atom) -> Result<Canon, Stop> {
    let den = Canon::poly(form.den.clone());
    if !derivative(cx, &den, by)?.is_zero() {
        return antiderivative_of_quotient(cx, form, by);
    }
    let mut sum = Canon::int(0);
    for (mono, coef) in &form.num.0.clone() {
        let mut rest = Mono::new();
        let mut varying = Mono::new();
        for &part in mono {
            let fixed = atom_derivative(cx, part.0, by)?.is_zero();
            if fixed { rest.push(part) } else { varying.push(part) }
        }
        let inner = antiderivative_of(cx, &varying, by)?;
        let rest = Canon::poly(Poly(vec![(rest, coef.clone())]));
        let part = cx.mul(&inner, &rest)?;
        sum = cx.add(&sum, &part)?;
    }
    cx.div(&sum, &den)
}

/// A constant over a linear form, or over a quadratic one without real roots.
fn antiderivative_of_quotient(cx: &mut Context, form: &Canon, by: Atom) -> Result<Canon, Stop> {
    let (num, den) = (Canon::poly(form.num.clone()), Canon::poly(form.den.clone()));
    if !derivative(cx, &num, by)?.is_zero() {
        return Err(Stop::Cap);
    }
    let slope = derivative(cx, &den, by)?;
    let bend = derivative(cx, &slope, by)?;
    if bend.is_zero() {
        let size = abs(cx, &den)?;
        let log = ln(cx, &size)?;
        let log = cx.mul(&num, &log)?;
        return cx.div(&log, &slope);
    }
    if !derivative(cx, &bend, by)?.is_zero() {
        return Err(Stop::Cap);
    }
    // With d = 4ac - b^2 it is 2/sqrt(d) arctan((2ax + b)/sqrt(d)), and d = 2 den den'' - den'^2.
    let (twice, square) = (cx.mul(&den, &bend)?, cx.mul(&slope, &slope.clone())?);
    let twice = cx.mul(&twice, &Canon::int(2))?;
    let rest = cx.sub(&twice, &square)?;
    if order(cx, &rest, &Canon::int(0))? != Some(std::cmp::Ordering::Greater) {
        return Err(Stop::Cap);
    }
    let root = pow(cx, &rest, &Canon::rational(small(1, 2)))?;
    let inside = cx.div(&slope, &root)?;
    let angle = apply(cx, "arctan", vec![inside])?;
    let angle = cx.mul(&angle, &num)?;
    let angle = cx.mul(&angle, &Canon::int(2))?;
    cx.div(&angle, &root)
}

/// A power of the variable times an integrable factor: integration by parts lowers the power.
fn by_parts(cx: &mut Context, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
    let power = mono.iter().find(|(atom, _)| *atom == by).map(|(_, exp)| *exp).ok_or(Stop::Cap)?;
    if !power.is_int() || !(1..=DEGREE_MAX).contains(&power.num) {
        return Err(Stop::Cap);
    }
    let inner = antiderivative_of(cx, &cofactor(mono, by), by)?;
    let edge = cx.mul(&Canon::atom(by, power), &inner)?;
    let below = power.add(Exp::int(-1))?;
    let lower = if below.is_zero() { Canon::int(1) } else { Canon::atom(by, below) };
    let lower = cx.mul(&lower, &Canon::rational(power.to_rational()))?;
    let left = cx.mul(&lower, &inner)?;
    let left = antiderivative(cx, &left, by)?;
    cx.sub(&edge, &left)
}

fn antiderivative_of(cx: &mut Context, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
    if mono.len() > 1 && mono.iter().any(|(atom, _)| *atom == by) {
        return by_parts(cx, mono, by);
    }
    match mono.as_slice() {
        [] => Ok(Canon::atom(by, Exp::ONE)),
        [(atom, exp)] if *atom == by => {
            if *exp == Exp::int(-1) {
                let size = cx.opaque("abs", vec![Canon::atom(by, Exp::ONE)])?;
                return ln(cx, &size);
            }
            let next = exp.add(Exp::ONE)?.to_rational();
            let power = pow(cx, &Canon::atom(by, Exp::ONE), &Canon::rational(next.clone()))?;
            cx.mul(&power, &Canon::rational(RBig::ONE / next))
        }
        [(atom, exp)] => match cx.kind(*atom).cloned() {
            Some(Kind::Cos(angle)) if exp.is_int() && exp.num > 0 => {
                cosine_powers(cx, &angle, exp.num, by)
            }
            Some(Kind::Sin(angle)) if *exp == Exp::ONE => {
                let (wave, slope) = (cos(cx, &angle)?, fixed_slope(cx, &angle, by)?);
                Ok(negated(&cx.div(&wave, &slope)?))
            }
            Some(Kind::Power(base, inner)) if !cx.varies(base) => {
                let exponent = Canon::poly(cx.term(exp.to_rational(), &inner)?);
                let slope = fixed_slope(cx, &exponent, by)?;
                let log = ln(cx, &Canon::atom(base, Exp::ONE))?;
                let slope = cx.mul(&slope, &log)?;
                cx.div(&Canon::atom(*atom, *exp), &slope)
            }
            _ => Err(Stop::Cap),
        },
        // sin x cos^n x.
        [(one, first), (two, second)] => {
            let waves = match (cx.kind(*one).cloned(), cx.kind(*two).cloned()) {
                (Some(Kind::Sin(a)), Some(Kind::Cos(b))) if a == b && *first == Exp::ONE => {
                    Some((a, *second))
                }
                (Some(Kind::Cos(a)), Some(Kind::Sin(b))) if a == b && *second == Exp::ONE => {
                    Some((a, *first))
                }
                _ => None,
            };
            let (angle, exp) =
                waves.filter(|(_, exp)| exp.is_int() && exp.num > 0).ok_or(Stop::Cap)?;
            let wave = cos(cx, &angle)?;
            let power = pow_int(cx, &wave, exp.num + 1)?;
            let slope = fixed_slope(cx, &angle, by)?;
            let slope = cx.mul(&slope, &Canon::int(-(exp.num + 1)))?;
            cx.div(&power, &slope)
        }
        _ => Err(Stop::Cap),
    }
}

/// The integral of a power of a cosine, two powers lower each time.
fn cosine_powers(cx: &mut Context, angle: &Canon, n: i64, by: Atom) -> Result<Canon, Stop> {
    if n > DEGREE_MAX {
        return Err(Stop::Cap);
    }
    let slope = fixed_slope(cx, angle, by)?;
    let (sine, cosine) = (sin(cx, angle)?, cos(cx, angle)?);
    let mut sum = if n % 2 == 1 { cx.div(&sine, &slope)? } else { Canon::atom(by, Exp::ONE) };
    let mut power = if n % 2 == 1 { 3 } else { 2 };
    while power <= n {
        let lower = pow_int(cx, &cosine, power - 1)?;
        let edge = cx.mul(&lower, &sine)?;
        let edge = cx.div(&edge, &slope)?;
        let edge = cx.mul(&edge, &Canon::rational(small(1, power)))?;
        let rest = cx.mul(&sum, &Canon::rational(small(power - 1, power)))?;
        sum = cx.add(&edge, &rest)?;
        power += 2;
    }
    Ok(sum)
}

/// The slope of a form that is linear in the variable.
fn fixed_slope(cx: &mut Context, form: &Canon, by: Atom) -> Result<Canon, Stop> {
    let slope = derivative(cx, form, by)?;
    let fixed = !slope.is_zero() && derivative(cx, &slope, by)?.is_zero();
    if fixed { Ok(slope) } else { Err(Stop::Cap) }
}

/// The integral of a form between two bounds.
pub(crate) fn integral(
    cx: &mut Context,
    form: &Canon,
    by: Atom,
    from: &Target,
    to: &Target,
) -> Result<Canon, Stop> {
    let whole = antiderivative(cx, form, by)?;
    let mut ends = Vec::with_capacity(2);
    for end in [to, from] {
        ends.push(match end {
            Target::At(point) => substitute(cx, &whole, by, point)?,
            Target::Infinity { .. } => limit(cx, &whole, by, end)?,
        });
    }
    let [upper, lower] = ends.as_slice() else { return Err(Stop::Cap) };
    cx.sub(upper, lower)
}
