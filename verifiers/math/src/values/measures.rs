//! Numbers with units and signs: conversion and agreement.

use dashu_ratio::RBig;

use super::value::Scalar;
use crate::algebra::{Canon, Context, Exp, Kind, approx, negated};
use crate::number::{power_of_ten, small};
use crate::stop::Stop;
use crate::syntax::{Rel, units};

/// The relative tolerance of an approximation.
const NEAR: f64 = 0.01;

/// Whether two numbers agree: exactly, or where one of them is rounded.
pub(crate) fn is_close(
    cx: &mut Context,
    one: &Scalar,
    two: &Scalar,
    sign: Rel,
) -> Result<bool, Stop> {
    for unit in [&one.unit, &two.unit].into_iter().flatten() {
        cx.meter.spend(100 * unit.len() as u64)?;
    }
    let factor = match (&one.unit, &two.unit) {
        (Some(want), Some(have)) if want != have => match units::factor(want, have) {
            Some(factor) => factor,
            None => return Ok(false),
        },
        _ => RBig::ONE,
    };
    let answer = cx.mul(&two.canon, &Canon::rational(factor.clone()))?;
    if cx.equal(&one.canon, &answer)? {
        return Ok(true);
    }
    let difference = cx.add(&one.canon, &negated(&answer))?;
    let (Some((apart, error)), Some((size, _))) = (approx(cx, &difference), approx(cx, &one.canon))
    else {
        return Ok(true);
    };
    let rounded = sign == Rel::Approx;
    let steps = [(one, RBig::ONE), (two, factor)].into_iter().map(|(side, factor)| {
        let step = side.decimal.as_ref().map(|decimal| decimal.step.clone());
        let percent = small(1, if side.percent { 100 } else { 1 });
        let step = step.or_else(|| rounded.then(|| last_unit(&side.canon)).flatten());
        step.map_or(0.0, |step| (step * percent * factor * small(1, 2)).to_f64_fast())
    });
    let step = steps.fold(0.0, f64::max);
    let near = if rounded { NEAR * size.abs() } else { 0.0 };
    Ok(apart.abs() <= step.max(near).max(1e-9 * size.abs()) * (1.0 + 1e-9) + 4.0 * error)
}

/// The unit of the last digit of an integer that is not zero: 100 for 1200.
fn last_unit(value: &Canon) -> Option<RBig> {
    let mut rest = value.as_integer().filter(|value| *value != 0)?;
    let mut zeros = 0;
    while rest % 10 == 0 {
        (rest, zeros) = (rest / 10, zeros + 1);
    }
    Some(RBig::from(power_of_ten(zeros)))
}

/// Whether one side has a percent or degree sign, and the other a different sign or a unit: then
/// the sign was not merely left out.
pub(crate) fn marks_clash(one: &Scalar, two: &Scalar) -> bool {
    let clash = |one: &Scalar, two: &Scalar| {
        let unit = two.unit.as_deref();
        (one.percent && (two.degrees || unit.is_some()))
            || (one.degrees && (two.percent || unit.is_some_and(units::is_measure)))
    };
    clash(one, two) || clash(two, one)
}

/// A number times letters that are units, as a number with that unit, where the other side
/// has one: `5000 m` compared with kilometres, `10 m/s` with kilometres per hour.
pub(crate) fn with_unit_letter(cx: &Context, value: &Scalar, beside: &Scalar) -> Option<Scalar> {
    let other = beside.unit.as_deref()?;
    if !units::is_measure(other) {
        return None;
    }
    measured_in_letters(cx, value)
}

/// A number times letters that may be units, as a number with that unit: `10 m/s`.
pub(crate) fn measured_in_letters(cx: &Context, value: &Scalar) -> Option<Scalar> {
    let ([(mono, coef)], true) = (value.canon.num.0.as_slice(), value.unit.is_none()) else {
        return None;
    };
    if mono.is_empty() || !value.counted || !value.canon.den.is_one() {
        return None;
    }
    let mut unit = String::new();
    for (atom, exp) in mono {
        match cx.kind(*atom) {
            Some(Kind::Var(name)) if exp.is_int() && units::known(name) => {
                unit.push_str(if unit.is_empty() { "" } else { " " });
                unit.push_str(&name.to_lowercase());
                if *exp != Exp::ONE {
                    unit.push('^');
                    unit.push_str(&exp.num.to_string());
                }
            }
            _ => return None,
        }
    }
    Some(Scalar { canon: Canon::rational(coef.clone()), unit: Some(unit), ..value.clone() })
}
