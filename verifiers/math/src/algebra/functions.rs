//! Functions by name, and those of integers: factorials, binomials, remainders, rounding.

use dashu_int::UBig;

use super::logarithm::{log, log_bare};
use super::power::abs;
use super::trig::{cos, sin};
use super::{approx, logarithm};
use crate::algebra::prelude::*;
use crate::number;

/// Larger double factorials are not computed.
const DOUBLE_MAX: i64 = 300;

/// The function called `name` of its arguments; a logarithm's base comes last.
pub(crate) fn apply(cx: &mut Context, name: &'static str, args: Vec<Canon>) -> Result<Canon, Stop> {
    match (name, args.as_slice()) {
        ("sin", [x]) => sin(cx, x),
        ("cos", [x]) => cos(cx, x),
        ("tan" | "cot" | "sec" | "csc", [x]) => quotient_wave(cx, name, x),
        ("sech" | "csch" | "coth", [x]) => hyperbolic_quotient(cx, name, x),
        ("arsinh" | "arcosh" | "artanh", [x]) => inverse_hyperbolic(cx, name, x),
        ("ln", [x]) => logarithm::ln(cx, x),
        ("log", [x]) => log_bare(cx, x),
        ("lg", [x]) => log(cx, &Canon::int(10), x),
        ("log" | "ln" | "lg", [x, base]) => log(cx, base, x),
        ("exp", [x]) => {
            let base = cx.of(Kind::Euler)?;
            pow(cx, &base, x)
        }
        ("abs", [x]) => abs(cx, x),
        ("floor", [x]) => floor_or_ceil(cx, x, false),
        ("ceil", [x]) => floor_or_ceil(cx, x, true),
        ("binom", [n, k]) => binomial(cx, n, k),
        ("factorial2", [n]) => double_factorial(cx, n),
        ("mod" | "gcd" | "lcm", [first, rest @ ..]) if !rest.is_empty() => {
            divided(cx, name, first, rest, &args)
        }
        ("min" | "max", [_, ..]) => extreme(cx, name, args),
        _ => cx.opaque(name, args),
    }
}

/// Every second integer down from `n`.
fn double_factorial(cx: &mut Context, n: &Canon) -> Result<Canon, Stop> {
    let Some(n) = n.as_rational() else { return cx.opaque("factorial2", vec![n.clone()]) };
    let n = number::whole(&n).filter(|n| (0..=DOUBLE_MAX).contains(n)).ok_or(Stop::Cap)?;
    let mut product = dashu_ratio::RBig::ONE;
    for factor in (1..=n).rev().step_by(2) {
        cx.meter.spend(20)?;
        product *= dashu_ratio::RBig::from(factor);
    }
    Ok(Canon::rational(product))
}

/// Remainders and common divisors of integers; opaque with variables.
fn divided(
    cx: &mut Context,
    name: &'static str,
    first: &Canon,
    rest: &[Canon],
    args: &[Canon],
) -> Result<Canon, Stop> {
    let mut value = first.as_rational();
    for next in rest {
        value = match (value, next.as_rational()) {
            (Some(one), Some(two)) => number::divided(name, &one, &two),
            _ => None,
        };
    }
    match value {
        Some(value) => Ok(Canon::rational(value)),
        None => cx.opaque(name, args.to_vec()),
    }
}

fn quotient_wave(cx: &mut Context, name: &str, x: &Canon) -> Result<Canon, Stop> {
    let (sine, cosine) = (sin(cx, x)?, cos(cx, x)?);
    match name {
        "tan" => cx.div(&sine, &cosine),
        "cot" => cx.div(&cosine, &sine),
        "sec" => cx.div(&Canon::int(1), &cosine),
        _ => cx.div(&Canon::int(1), &sine),
    }
}

fn hyperbolic_quotient(cx: &mut Context, name: &str, x: &Canon) -> Result<Canon, Stop> {
    let below = match name {
        "sech" => "cosh",
        "csch" => "sinh",
        _ => "tanh",
    };
    let below = apply(cx, below, vec![x.clone()])?;
    cx.div(&Canon::int(1), &below)
}

/// An inverse hyperbolic function as the logarithm that it is.
fn inverse_hyperbolic(cx: &mut Context, name: &str, x: &Canon) -> Result<Canon, Stop> {
    let one = Canon::int(1);
    if name == "artanh" {
        let (top, below) = (cx.add(&one, x)?, cx.sub(&one, x)?);
        let quotient = cx.div(&top, &below)?;
        let log = logarithm::ln(cx, &quotient)?;
        return cx.mul(&log, &Canon::rational(small(1, 2)));
    }
    let square = cx.mul(x, &x.clone())?;
    let inner = if name == "arsinh" { cx.add(&square, &one)? } else { cx.sub(&square, &one)? };
    let root = pow(cx, &inner, &Canon::rational(small(1, 2)))?;
    let sum = cx.add(x, &root)?;
    logarithm::ln(cx, &sum)
}

/// The least or greatest of numbers; with variables an opaque set of its arguments.
fn extreme(cx: &mut Context, name: &'static str, args: Vec<Canon>) -> Result<Canon, Stop> {
    let mut best: Option<dashu_ratio::RBig> = None;
    for arg in &args {
        let Some(value) = arg.as_rational() else {
            let mut args = args;
            args.sort_by_key(|arg| format!("{:?}", arg.num));
            return cx.opaque(name, args);
        };
        let better = best.as_ref().is_none_or(|best| (value < *best) == (name == "min"));
        if better {
            best = Some(value);
        }
    }
    best.map(Canon::rational).ok_or(Stop::Unreadable)
}

/// Floor and ceiling of numbers; opaque with variables.
pub(crate) fn floor_or_ceil(cx: &mut Context, value: &Canon, up: bool) -> Result<Canon, Stop> {
    let name = if up { "ceil" } else { "floor" };
    if let Some(value) = value.as_rational() {
        let (floor, ceil) = (value.floor(), value.ceil());
        return Ok(Canon::rational(RBig::from(if up { ceil } else { floor })));
    }
    if let Some((approx, error)) = approx::approx(cx, value)
        && approx.abs() < 1e9
        && (approx + error).floor() - (approx - error).floor() < 0.5
    {
        #[expect(clippy::cast_possible_truncation, reason = "smaller than 1e9")]
        let whole = approx.floor() as i64;
        return Ok(Canon::int(if up { whole + 1 } else { whole }));
    }
    cx.opaque(name, vec![value.clone()])
}

/// `n!`, computed where it is small enough.
pub(crate) fn factorial(cx: &mut Context, value: &Canon) -> Result<Canon, Stop> {
    if let Some(n) = value.as_rational()
        && let Ok(product) = number::factorial(&n, &mut cx.meter)
    {
        return Ok(Canon::rational(product));
    }
    cx.opaque("factorial", vec![value.clone()])
}

/// `n` choose `k`: a number, a polynomial in `n` for small `k`, or opaque.
pub(crate) fn binomial(cx: &mut Context, n: &Canon, k: &Canon) -> Result<Canon, Stop> {
    if let (Some(n), Some(k)) = (n.as_rational(), k.as_rational())
        && let Ok(value) = number::binomial(&n, &k, &mut cx.meter)
    {
        return Ok(Canon::rational(value));
    }
    let Some(count) = k.as_integer() else {
        return cx.opaque("binom", vec![n.clone(), k.clone()]);
    };
    if !(0..=12).contains(&count) {
        return cx.opaque("binom", vec![n.clone(), k.clone()]);
    }
    let mut value = Canon::int(1);
    for step in 0..count {
        let factor = cx.sub(n, &Canon::int(step))?;
        value = cx.mul(&value, &factor)?;
        value = cx.mul(&value, &Canon::rational(small(1, step + 1)))?;
    }
    Ok(value)
}

/// The value of `digits` in `base`, where they are digits of that base.
pub(crate) fn from_digits(digits: &str, base: u32) -> Option<RBig> {
    let digits: String = digits.chars().filter(char::is_ascii_alphanumeric).collect();
    if !(2..=36).contains(&base) {
        return None;
    }
    UBig::from_str_radix(&digits, base).ok().map(RBig::from)
}
