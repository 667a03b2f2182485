//! Exact decimals: digits and a power of ten as a fraction.

use dashu_base::Abs as _;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// The most digits of a number.
const DIGITS_MAX: usize = 1000;
/// The largest power of ten, either way.
const EXPONENT_MAX: i64 = 1000;

/// Reads `-12.5e3`: no separators, no blanks.
pub(super) fn parse(text: &str) -> Option<RBig> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + decimals.len() > DIGITS_MAX || exponent.abs() > EXPONENT_MAX {
        return None;
    }
    let digits: IBig = format!("{whole}{decimals}").parse().ok()?;
    let exponent = exponent - i64::try_from(decimals.len()).ok()?;
    Some(RBig::from(digits) * power_of_ten(exponent))
}

/// The decimal that a float is written as, not its binary fraction: 0.05 is one twentieth.
pub(super) fn from_f64(value: f64) -> Option<RBig> {
    parse(&format!("{value:e}"))
}

/// Half a unit of the last of `digits` significant digits of `value`.
pub(super) fn half_a_unit(value: &RBig, digits: u8) -> Option<RBig> {
    if *value == RBig::ZERO {
        return None;
    }
    let (numerator, denominator) = value.clone().abs().into_parts();
    let length = |number: &str| i64::try_from(number.len()).ok();
    let mut exponent = length(&numerator.to_string())? - length(&denominator.to_string())?;
    if power_of_ten(exponent) > value.clone().abs() {
        exponent -= 1;
    }
    Some(power_of_ten(exponent - i64::from(digits) + 1) / RBig::from(2))
}

fn power_of_ten(exponent: i64) -> RBig {
    let power = UBig::from(10_u8).pow(usize::try_from(exponent.unsigned_abs()).unwrap_or(0));
    if exponent < 0 {
        RBig::from_parts(IBig::ONE, power)
    } else {
        RBig::from_parts(power.into(), UBig::ONE)
    }
}
