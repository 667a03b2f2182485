//! Whole powers of canonical forms, and roots of rational numbers as powers of primes.

use dashu_base::{Signed as _, UnsignedAbs as _};

use super::context::EXPAND_MAX;
use super::poly;
use crate::algebra::prelude::*;
use crate::number;

pub(crate) fn pow_int(cx: &mut Context, base: &Canon, exponent: i64) -> Result<Canon, Stop> {
    if exponent == 0 {
        return Ok(Canon::int(1));
    }
    if exponent < 0 {
        let positive = exponent.checked_neg().ok_or(Stop::Cap)?;
        let power = pow_int(cx, base, positive)?;
        return cx.div(&Canon::int(1), &power);
    }
    let num = pow_whole(cx, &base.num, exponent)?;
    let den = pow_whole(cx, &base.den, exponent)?;
    cx.quotient(num, &den)
}

fn pow_whole(cx: &mut Context, poly: &Poly, exponent: i64) -> Result<Poly, Stop> {
    if poly.is_one() {
        return Ok(poly.clone());
    }
    if let [(mono, coef)] = poly.0.as_slice() {
        let (mut out, coef) = (Mono::new(), coef.clone());
        for &(atom, exp) in mono {
            out.push((atom, exp.mul(Exp::int(exponent))?));
        }
        let scale = coefficient_power(cx, &coef, exponent)?;
        let power = cx.term(RBig::ONE, &out)?;
        return cx.mul_poly(&scale, &power);
    }
    if exponent <= EXPAND_MAX {
        return cx.pow_poly(poly, exponent);
    }
    let content = poly.content();
    let content = if poly.leads_negative() { -content } else { content };
    let base = cx.atom(Kind::Base(poly.scaled(&(RBig::ONE / &content))))?;
    let scale = coefficient_power(cx, &content, exponent)?;
    cx.mul_poly(&scale, &Poly(vec![(vec![(base, Exp::int(exponent))], RBig::ONE)]))
}

/// A number to an integer power: computed where it fits, a product of prime powers otherwise.
fn coefficient_power(cx: &mut Context, coef: &RBig, exponent: i64) -> Result<Poly, Stop> {
    match number::power(coef, exponent, &mut cx.meter) {
        Ok(value) => Ok(Poly::constant(value)),
        Err(Stop::Cap) => {
            let sign = if coef.is_negative() && exponent % 2 != 0 { -1 } else { 1 };
            let mono = prime_powers(cx, coef, Exp::int(exponent))?;
            cx.term(small(sign, 1), &mono)
        }
        Err(stop) => Err(stop),
    }
}

/// The absolute value of a rational to a power, as powers of primes.
pub(crate) fn prime_powers(cx: &mut Context, value: &RBig, exp: Exp) -> Result<Mono, Stop> {
    let mut mono = Mono::new();
    let num = value.numerator().unsigned_abs();
    let den = value.denominator().clone();
    for (part, sign) in [(num, 1), (den, -1)] {
        for (prime, count) in number::factor(&part, &mut cx.meter)? {
            let atom = cx.atom(Kind::Prime(prime))?;
            let power = exp.mul(Exp::int(sign * i64::from(count)))?;
            mono = poly::mul_mono(&mono, &[(atom, power)])?;
        }
    }
    Ok(mono)
}

/// The real root where there is one; square roots of negative numbers are imaginary.
pub(crate) fn root_rational(cx: &mut Context, value: &RBig, exp: Exp) -> Result<Canon, Stop> {
    let mono = prime_powers(cx, value, exp)?;
    let size = Canon::poly(cx.term(RBig::ONE, &mono)?);
    if !value.is_negative() {
        return Ok(size);
    }
    let sign = if exp.den % 2 == 1 {
        Canon::int(if exp.num % 2 == 0 { 1 } else { -1 })
    } else if exp.den == 2 {
        let unit = cx.of(Kind::Imaginary)?;
        pow_int(cx, &unit, exp.num)?
    } else {
        cx.opaque("unity", vec![Canon::rational(exp.to_rational())])?
    };
    cx.mul(&sign, &size)
}
