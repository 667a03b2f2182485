//! Exact rational numbers: caps on what is evaluated, powers, factorials, factors.

use dashu_base::{BitTest as _, Signed as _, UnsignedAbs as _};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::meter::Meter;
use crate::stop::Stop;

/// The largest number that is ever computed, in bits. Larger ones stay symbolic.
pub(crate) const BITS_MAX: usize = 1 << 16;
/// The limit of trial division; every number below its square is factored completely.
const TRIAL_MAX: u64 = 1 << 16;
/// The limit of trial division for numbers that do not fit a machine word.
const TRIAL_MAX_BIG: u64 = 1 << 10;

/// A rational of machine size.
pub(crate) fn small(num: i64, den: i64) -> RBig {
    let den = if den == 0 { 1 } else { den };
    RBig::from_parts_signed(IBig::from(num), IBig::from(den))
}

/// Bits of the larger of numerator and denominator.
pub(crate) fn bits(value: &RBig) -> usize {
    value.numerator().unsigned_abs().bit_len().max(value.denominator().bit_len())
}

/// Ten to the `places`, at most a few thousand.
pub(crate) fn power_of_ten(places: usize) -> UBig {
    UBig::from(10u8).pow(places.min(8192))
}

/// `value` to the `exponent`, or a stop where the result would be too large.
pub(crate) fn power(value: &RBig, exponent: i64, meter: &mut Meter<'_>) -> Result<RBig, Stop> {
    if value.is_zero() {
        return if exponent > 0 { Ok(RBig::ZERO) } else { Err(Stop::Undefined) };
    }
    if value.is_one() {
        return Ok(RBig::ONE);
    }
    let size = usize::try_from(exponent.unsigned_abs()).map_err(|_| Stop::Cap)?;
    let estimate = size.checked_mul(bits(value)).filter(|bits| *bits <= BITS_MAX);
    let estimate = estimate.ok_or(Stop::Cap)?;
    meter.spend((estimate as u64 / 64).pow(2) / 32 + 20)?;
    let exponent = isize::try_from(exponent).map_err(|_| Stop::Cap)?;
    Ok(value.pow(exponent))
}

/// The product of the integers from 1 to `n`, or a stop where it would be too large.
pub(crate) fn factorial(n: &RBig, meter: &mut Meter<'_>) -> Result<RBig, Stop> {
    let n = whole(n).filter(|n| *n >= 0).ok_or(Stop::Cap)?;
    let n = u64::try_from(n).map_err(|_| Stop::Cap)?;
    // n! has fewer than n * bits(n) bits.
    if n.saturating_mul(u64::from(64 - n.leading_zeros())) > BITS_MAX as u64 {
        return Err(Stop::Cap);
    }
    let mut product = UBig::ONE;
    for factor in 2..=n {
        meter.spend(10 + product.bit_len() as u64 / 640)?;
        product *= factor;
    }
    Ok(RBig::from(product))
}

/// The number of ways to choose `k` of `n`.
pub(crate) fn binomial(n: &RBig, k: &RBig, meter: &mut Meter<'_>) -> Result<RBig, Stop> {
    let (Some(n), Some(k)) = (whole(n), whole(k)) else { return Err(Stop::Cap) };
    if n < 0 || k < 0 || n > 4096 {
        return Err(Stop::Cap);
    }
    if k > n {
        return Ok(RBig::ZERO);
    }
    let mut value = UBig::ONE;
    for step in 0..k.min(n - k) {
        meter.spend(20 + value.bit_len() as u64 / 32)?;
        value *= UBig::from((n - step).unsigned_abs());
        value /= UBig::from((step + 1).unsigned_abs());
    }
    Ok(RBig::from(value))
}

/// `mod`, `gcd` and `lcm` of two integers.
pub(crate) fn divided(name: &str, a: &RBig, b: &RBig) -> Option<RBig> {
    use dashu_base::Gcd as _;
    if !a.is_int() || !b.is_int() || b.is_zero() {
        return None;
    }
    if name == "mod" {
        let turns = RBig::from((a / b).floor());
        return Some(a - turns * b);
    }
    let (a, b) = (a.numerator().unsigned_abs(), b.numerator().unsigned_abs());
    let shared = (&a).gcd(&b);
    Some(RBig::from(if name == "gcd" { shared } else { a / &shared * b }))
}

/// The value as a machine integer, where it is one.
pub(crate) fn whole(value: &RBig) -> Option<i64> {
    if value.is_int() { i64::try_from(value.numerator().clone()).ok() } else { None }
}

/// The factors of `n` with their exponents, in ascending order.
///
/// Small factors are prime. What trial division leaves is kept as one factor, with perfect powers
/// taken out: equal numbers still factor equally.
pub(crate) fn factor(n: &UBig, meter: &mut Meter<'_>) -> Result<Vec<(UBig, u32)>, Stop> {
    if let Ok(n) = u64::try_from(n.clone()) {
        return factor_word(n, meter);
    }
    let mut rest = n.clone();
    let mut factors = Vec::new();
    for prime in 2..TRIAL_MAX_BIG {
        meter.spend(2 + rest.bit_len() as u64 / 64)?;
        let prime = UBig::from(prime);
        let count = rest.remove(&prime).unwrap_or(0);
        if count > 0 {
            factors.push((prime, u32::try_from(count).map_err(|_| Stop::Cap)?));
        }
    }
    match u64::try_from(rest.clone()) {
        Ok(rest) => factors.extend(factor_word(rest, meter)?),
        Err(_) => factors.push(perfect_power(rest)),
    }
    Ok(factors)
}

fn factor_word(mut n: u64, meter: &mut Meter<'_>) -> Result<Vec<(UBig, u32)>, Stop> {
    let mut factors = Vec::new();
    let mut divisor = 2u64;
    while divisor < TRIAL_MAX && divisor * divisor <= n {
        meter.spend(1)?;
        let mut count = 0;
        while n.is_multiple_of(divisor) {
            n /= divisor;
            count += 1;
        }
        if count > 0 {
            factors.push((UBig::from(divisor), count));
        }
        divisor += if divisor == 2 { 1 } else { 2 };
    }
    if n > 1 {
        factors.push(perfect_power(UBig::from(n)));
    }
    Ok(factors)
}

/// `n` as the highest power of a smaller number that it is, among the first few exponents.
fn perfect_power(n: UBig) -> (UBig, u32) {
    for exponent in [6u32, 5, 4, 3, 2] {
        let root = n.nth_root(exponent as usize);
        if root.pow(exponent as usize) == n {
            return (root, exponent);
        }
    }
    (n, 1)
}

/// The exact square root of a rational, where there is one.
pub(crate) fn exact_sqrt(value: &RBig) -> Option<RBig> {
    if value.is_negative() {
        return None;
    }
    let num = exact_root(&value.numerator().unsigned_abs())?;
    let den = exact_root(value.denominator())?;
    Some(RBig::from_parts(IBig::from(num), den))
}

fn exact_root(n: &UBig) -> Option<UBig> {
    let root = n.nth_root(2);
    (&root * &root == *n).then_some(root)
}
