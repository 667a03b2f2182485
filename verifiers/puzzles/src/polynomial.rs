//! Polynomials compared by their values modulo a prime, with their derivatives.

use crate::expression::{Algebra, ExpressionStyle, Operator, compute};
use crate::number::DecimalNumber;

/// The prime 2^61 - 1: two different polynomials of degree d agree at a point with chance d / 2^61.
const PRIME: u64 = (1 << 61) - 1;
/// The greatest exponent.
const POWER_MAX: u64 = 10_000;

fn times(one: u64, two: u64) -> u64 {
    let product = u128::from(one) * u128::from(two) % u128::from(PRIME);
    u64::try_from(product).unwrap_or(0)
}

fn plus(one: u64, two: u64) -> u64 {
    (one + two) % PRIME
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut value = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            value = times(value, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    value
}

/// A value, its derivative, and the whole number that it is, if it is a small one.
#[derive(Clone, Copy)]
struct Dual {
    value: u64,
    slope: u64,
    whole: Option<i64>,
}

/// Values at a point that texts choose.
struct Point<'a> {
    variable: &'a str,
    seed: u64,
}

impl Point<'_> {
    fn at(&self, name: &str) -> u64 {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = name.bytes().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, mix);
        (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) % PRIME
    }
}

impl Algebra for Point<'_> {
    type Value = Dual;

    fn number(&mut self, digits: &str) -> Option<Dual> {
        let decimal = DecimalNumber::parse(digits)?;
        let digit = |value: u64, byte: u8| plus(times(value, 10), u64::from(byte - b'0'));
        let value = decimal.digits.bytes().fold(0, digit);
        let scale = power(10, decimal.exponent.unsigned_abs().min(POWER_MAX));
        let scale = if decimal.exponent < 0 { power(scale, PRIME - 2) } else { scale };
        Some(Dual { value: times(value, scale), slope: 0, whole: digits.parse().ok() })
    }

    fn name(&mut self, name: &str) -> Option<Dual> {
        let slope = u64::from(name == self.variable);
        Some(Dual { value: self.at(name), slope, whole: None })
    }

    fn negated(&mut self, of: Dual) -> Option<Dual> {
        let negative = |value| (PRIME - value) % PRIME;
        let whole = of.whole.and_then(i64::checked_neg);
        Some(Dual { value: negative(of.value), slope: negative(of.slope), whole })
    }

    fn factorial(&mut self, _: Dual) -> Option<Dual> {
        None
    }

    fn combined(&mut self, operator: Operator, left: Dual, right: Dual) -> Option<Dual> {
        match operator {
            Operator::Add => Some(Dual {
                value: plus(left.value, right.value),
                slope: plus(left.slope, right.slope),
                whole: left.whole.zip(right.whole).and_then(|(one, two)| one.checked_add(two)),
            }),
            Operator::Subtract => {
                let right = self.negated(right)?;
                self.combined(Operator::Add, left, right)
            }
            Operator::Multiply => Some(Dual {
                value: times(left.value, right.value),
                slope: plus(times(left.slope, right.value), times(left.value, right.slope)),
                whole: left.whole.zip(right.whole).and_then(|(one, two)| one.checked_mul(two)),
            }),
            Operator::Divide => {
                let inverse = self.combined(
                    Operator::Power,
                    right,
                    Dual { value: 0, slope: 0, whole: Some(-1) },
                )?;
                self.combined(Operator::Multiply, left, inverse)
            }
            Operator::Power => {
                let exponent = right.whole.filter(|own| own.unsigned_abs() <= POWER_MAX)?;
                let base = match exponent {
                    0.. => left.value,
                    _ if left.value == 0 => return None,
                    _ => power(left.value, PRIME - 2),
                };
                let factor = exponent.rem_euclid(i64::try_from(PRIME).ok()?).unsigned_abs();
                let value = power(base, exponent.unsigned_abs());
                // n x^(n-1): of a negative n that is n (1/x)^(|n|+1).
                let lower = match exponent {
                    0 => 0,
                    1.. => power(base, exponent.unsigned_abs() - 1),
                    _ => power(base, exponent.unsigned_abs() + 1),
                };
                let slope = times(times(factor, lower), left.slope);
                Some(Dual { value, slope, whole: None })
            }
            Operator::FloorDivide | Operator::Modulo => None,
        }
    }
}

/// Two points for two texts.
fn points<'a>(variable: &'a str, one: &str, two: &str) -> [Point<'a>; 2] {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let seed = one.bytes().chain(two.bytes()).fold(0x9e37_79b9, mix);
    [Point { variable, seed }, Point { variable, seed: !seed }]
}

/// Whether the derivative of `answer` is `integrand`, as polynomials with negative powers allowed.
/// `None` where the integrand is not one. Linear in the texts.
pub fn is_antiderivative(answer: &str, integrand: &str, variable: &str) -> Option<bool> {
    let mut equal = true;
    for mut point in points(variable, answer, integrand) {
        let wanted = compute(integrand, ExpressionStyle::Python, &mut point)?;
        let own = compute(answer, ExpressionStyle::Python, &mut point);
        equal = equal && own.is_some_and(|own| own.slope == wanted.value);
    }
    Some(equal)
}

/// Whether two polynomials are equal. `None` where `wanted` is not one. Linear in the texts.
pub fn is_equal(answer: &str, wanted: &str) -> Option<bool> {
    let mut equal = true;
    for mut point in points("", answer, wanted) {
        let own = compute(answer, ExpressionStyle::Python, &mut point);
        let wanted = compute(wanted, ExpressionStyle::Python, &mut point)?;
        equal = equal && own.is_some_and(|own| own.value == wanted.value);
    }
    Some(equal)
}
