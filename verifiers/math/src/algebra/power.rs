//! Powers, roots and absolute values of canonical forms.

use dashu_base::Signed as _;
use dashu_ratio::RBig;

use super::approx;
use super::context::Context;
use super::exponent::Exp;
use super::logarithm::is_positive;
use super::poly::{Canon, Kind, Mono, Poly, negated};
use super::radical::{pow_int, prime_powers, root_rational};
use super::trig::{cos, sin};
use crate::number::{self, small};
use crate::stop::Stop;

/// `base` to the `exponent`.
pub(crate) fn pow(cx: &mut Context, base: &Canon, exponent: &Canon) -> Result<Canon, Stop> {
    if base.is_zero() {
        let positive =
            exponent.as_rational().is_none_or(|value| value.is_positive() && !value.is_zero());
        return if positive { Ok(Canon::int(0)) } else { Err(Stop::Undefined) };
    }
    if let Some(value) = exponent.as_rational() {
        let exp = Exp::from_rational(&value).ok_or(Stop::Cap)?;
        return if exp.is_int() { pow_int(cx, base, exp.num) } else { root(cx, base, exp) };
    }
    if !exponent.den.is_one() {
        return cx.opaque("pow", vec![base.clone(), exponent.clone()]);
    }
    let mut result = Canon::int(1);
    for (mono, coef) in exponent.num.0.clone() {
        let exp = Exp::from_rational(&coef).ok_or(Stop::Cap)?;
        let factor = if mono.is_empty() {
            pow(cx, base, &Canon::rational(coef))?
        } else {
            pow_mono(cx, base, exp, &mono)?
        };
        result = cx.mul(&result, &factor)?;
    }
    Ok(result)
}

/// `base` to the power of a monomial with a coefficient.
fn pow_mono(cx: &mut Context, base: &Canon, exp: Exp, mono: &Mono) -> Result<Canon, Stop> {
    if !base.den.is_one() {
        let num = pow_mono(cx, &Canon::poly(base.num.clone()), exp, mono)?;
        let den = pow_mono(cx, &Canon::poly(base.den.clone()), exp, mono)?;
        return cx.div(&num, &den);
    }
    let [(factors, coef)] = base.num.0.as_slice() else {
        let atom = cx.atom(Kind::Base(base.num.clone()))?;
        return power_atom(cx, atom, exp, mono);
    };
    let (factors, coef) = (factors.clone(), coef.clone());
    let mut result = Canon::int(1);
    if coef.is_negative() {
        let atom = cx.atom(Kind::Minus)?;
        result = power_atom(cx, atom, exp, mono)?;
    }
    let mut powers = prime_powers(cx, &coef, Exp::ONE)?;
    powers.extend(factors);
    for (atom, inner) in powers {
        let factor = if is_rotation(cx, atom, mono) {
            rotation(cx, exp.mul(inner)?)?
        } else {
            power_atom(cx, atom, exp.mul(inner)?, mono)?
        };
        result = cx.mul(&result, &factor)?;
    }
    Ok(result)
}

fn power_atom(cx: &mut Context, atom: u32, exp: Exp, mono: &Mono) -> Result<Canon, Stop> {
    let power = cx.atom(Kind::Power(atom, mono.clone()))?;
    cx.term(RBig::ONE, &[(power, exp)]).map(Canon::poly)
}

/// Whether this is e to a multiple of i pi.
fn is_rotation(cx: &Context, atom: u32, mono: &Mono) -> bool {
    let whole = |want: &Kind| {
        mono.iter().any(|(atom, exp)| *exp == Exp::ONE && cx.kind(*atom) == Some(want))
    };
    cx.kind(atom) == Some(&Kind::Euler)
        && mono.len() == 2
        && whole(&Kind::Imaginary)
        && whole(&Kind::Pi)
}

/// e to `times` i pi.
fn rotation(cx: &mut Context, times: Exp) -> Result<Canon, Stop> {
    let pi = cx.of(Kind::Pi)?;
    let angle = cx.mul(&pi, &Canon::rational(times.to_rational()))?;
    let (real, height) = (cos(cx, &angle)?, sin(cx, &angle)?);
    let unit = cx.of(Kind::Imaginary)?;
    let height = cx.mul(&unit, &height)?;
    cx.add(&real, &height)
}

/// `base` to a power that is not whole.
pub(crate) fn root(cx: &mut Context, base: &Canon, exp: Exp) -> Result<Canon, Stop> {
    if exp.num < 0 {
        let power = root(cx, base, exp.neg()?)?;
        return cx.div(&Canon::int(1), &power);
    }
    let num = root_poly(cx, &base.num, exp)?;
    let den = root_poly(cx, &base.den, exp)?;
    cx.div(&num, &den)
}

fn root_poly(cx: &mut Context, poly: &Poly, exp: Exp) -> Result<Canon, Stop> {
    if poly.is_zero() || poly.is_one() {
        return Ok(Canon::poly(poly.clone()));
    }
    let single = poly.0.len() == 1;
    let mut content =
        if let [(_, coef)] = poly.0.as_slice() { coef.clone() } else { poly.content() };
    let even = exp.den % 2 == 0;
    if !single && poly.leads_negative() && !even {
        content = -content;
    }
    let outside = root_rational(cx, &content, exp)?;
    let inside = poly.scaled(&(RBig::ONE / &content));
    if let [(mono, _)] = inside.0.as_slice() {
        let inner = root_mono(cx, &mono.clone(), exp)?;
        return cx.mul(&outside, &inner);
    }
    if let Some(whole) = denest(cx, &inside, exp)? {
        return cx.mul(&outside, &whole);
    }
    let atom = cx.atom(Kind::Base(inside))?;
    let inner = Canon::poly(cx.term(RBig::ONE, &[(atom, exp)])?);
    cx.mul(&outside, &inner)
}

fn root_mono(cx: &mut Context, mono: &Mono, exp: Exp) -> Result<Canon, Stop> {
    let mut result = Canon::int(1);
    for &(atom, inner) in mono {
        let power = exp.mul(inner)?;
        let signless = inner.is_int() && inner.num % 2 == 0 && exp.den % 2 == 0;
        let signed = !is_positive(cx, atom);
        let factor = if signless && signed && !(power.is_int() && power.num % 2 == 0) {
            let plain = Canon::atom(atom, Exp::ONE);
            let size = abs(cx, &plain)?;
            pow(cx, &size, &Canon::rational(power.to_rational()))?
        } else {
            Canon::poly(cx.term(RBig::ONE, &[(atom, power)])?)
        };
        result = cx.mul(&result, &factor)?;
    }
    Ok(result)
}

/// `sqrt(a + b sqrt(c))` as a sum of two roots, where `a^2 - b^2 c` is a square.
fn denest(cx: &mut Context, poly: &Poly, exp: Exp) -> Result<Option<Canon>, Stop> {
    let [(none, a), (mono, b)] = poly.0.as_slice() else { return Ok(None) };
    let primes = mono
        .iter()
        .all(|(atom, inner)| inner.den == 2 && matches!(cx.kind(*atom), Some(Kind::Prime(_))));
    if exp != (Exp { num: 1, den: 2 }) || !none.is_empty() || !primes || a.is_negative() {
        return Ok(None);
    }
    let (a, b) = (a.clone(), b.clone());
    let surd = Canon::poly(Poly(vec![(mono.clone(), b.clone())]));
    let square = cx.mul(&surd, &surd.clone())?.as_rational();
    let Some(rest) = square.map(|square| &a * &a - square) else { return Ok(None) };
    let Some(root) = number::exact_sqrt(&rest) else { return Ok(None) };
    let half = small(1, 2);
    let one = root_rational(cx, &((&a + &root) * &half), exp)?;
    let two = root_rational(cx, &((&a - &root) * &half), exp)?;
    let sum = if b.is_negative() { cx.sub(&one, &two)? } else { cx.add(&one, &two)? };
    Ok(Some(sum))
}

pub(crate) fn abs(cx: &mut Context, value: &Canon) -> Result<Canon, Stop> {
    if let Some(value) = value.as_rational() {
        return Ok(Canon::rational(if value.is_negative() { -value } else { value }));
    }
    if let Some((approx, error)) = approx::approx(cx, value)
        && approx.abs() > error
    {
        return Ok(if approx < 0.0 { negated(value) } else { value.clone() });
    }
    if let [(mono, coef)] = value.num.0.as_slice()
        && value.den.is_one()
        && !(coef.is_one() && mono.len() == 1)
    {
        let (mono, coef) = (mono.clone(), coef.clone());
        let mut result = abs(cx, &Canon::rational(coef))?;
        for &(atom, exp) in &mono {
            let plain = Canon::atom(atom, Exp::ONE);
            let even = exp.is_int() && exp.num % 2 == 0;
            let part = if even || is_positive(cx, atom) { plain } else { abs(cx, &plain)? };
            let part = pow(cx, &part, &Canon::rational(exp.to_rational()))?;
            result = cx.mul(&result, &part)?;
        }
        return Ok(result);
    }
    let value = if value.num.leads_negative() { negated(value) } else { value.clone() };
    cx.opaque("abs", vec![value])
}
