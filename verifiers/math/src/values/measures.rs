//! Numbers with units and signs: conversion and agreement.

use dashu_ratio::RBig;

use super::value::{Letters, Scalar, Value};
use crate::algebra::{Canon, Context, Kind, approx, negated, pow};
use crate::number::{power_of_ten, small};
use crate::stop::Stop;
use crate::syntax::Rel;
use crate::syntax::units::{self, Conversion};

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
    let conversion = match (&one.unit, &two.unit) {
        (Some(want), Some(have)) if want != have => match units::convert(want, have) {
            Some(conversion) => conversion,
            None => return Ok(false),
        },
        _ => Conversion::NONE,
    };
    let answer = converted(cx, &two.canon, &conversion)?;
    let factor = conversion.factor;
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
            || (one.degrees
                && (two.percent
                    || unit.is_some_and(|unit| units::is_measure(unit) && !units::is_scale(unit))))
    };
    clash(one, two) || clash(two, one)
}

/// A number before letters as a value with a unit.
pub(crate) fn measured(value: &Scalar) -> Option<Scalar> {
    let Letters { canon, unit, decimal, .. } = *value.letters.clone()?;
    Some(Scalar { canon, unit: Some(unit), decimal, ..value.clone() })
}

/// Both sides with letters as units, where the other side has a unit or letters that may be one:
/// `5000 m` beside kilometres, `5 A` beside `5 V`; or where it is a number, and they are rather a
/// unit: `5 mF`.
pub(crate) fn measured_alike(cx: &Context, one: &Scalar, two: &Scalar) -> [Option<Scalar>; 2] {
    let beside = |value: &Scalar, other: &Scalar| {
        let letters = value.letters.as_ref()?;
        let has_unit = match (&other.unit, &other.letters) {
            (Some(unit), _) => units::is_measure(unit),
            (None, Some(_)) => true,
            (None, None) => letters.sure && !cx.has_variable(&other.canon),
        };
        if has_unit { measured(value) } else { None }
    };
    [beside(one, two), beside(two, one)]
}

/// A value in another unit.
pub(crate) fn converted(
    cx: &mut Context,
    value: &Canon,
    conversion: &Conversion,
) -> Result<Canon, Stop> {
    let mut value = cx.mul(value, &Canon::rational(conversion.factor.clone()))?;
    if conversion.pi != 0 {
        let pi = cx.of(Kind::Pi)?;
        let pi = pow(cx, &pi, &Canon::int(i64::from(conversion.pi)))?;
        value = cx.mul(&value, &pi)?;
    }
    cx.add(&value, &Canon::rational(conversion.shift.clone()))
}

/// The unit after a point, a list or a set is that of its parts.
pub(crate) fn measure_parts(value: &mut Value, unit: &str) {
    match value {
        Value::Scalar(scalar) if scalar.unit.is_none() && scalar.letters.is_none() => {
            scalar.unit = Some(unit.to_owned());
        }
        Value::Tuple { items, .. } | Value::List(items) | Value::Set(items) => {
            for item in items {
                measure_parts(item, unit);
            }
        }
        _ => {}
    }
}
