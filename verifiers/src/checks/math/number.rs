//! Exact numbers: the small exponents of monomials, prime factors, and caps on what is evaluated.

use dashu_base::{BitTest as _, Signed as _, UnsignedAbs as _};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::Stop;
use crate::meter::Meter;

/// The largest number that is ever computed, in bits. Larger ones stay symbolic.
pub(super) const BITS_MAX: usize = 1 << 16;
/// Trial division stops here, so every number below its square is factored completely.
const TRIAL_MAX: u64 = 1 << 16;
/// Trial division of numbers that do not fit a machine word stops earlier.
const TRIAL_MAX_BIG: u64 = 1 << 10;

/// The exponent of a monomial: a fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Exp {
    pub(super) num: i64,
    pub(super) den: i64,
}

impl Exp {
    pub(super) const ONE: Self = Self { num: 1, den: 1 };

    pub(super) fn int(num: i64) -> Self {
        Self { num, den: 1 }
    }

    pub(super) fn is_zero(self) -> bool {
        self.num == 0
    }

    pub(super) fn is_int(self) -> bool {
        self.den == 1
    }

    /// A fraction of machine numbers, or a stop where it does not fit.
    fn reduced(num: i128, den: i128) -> Result<Self, Stop> {
        let divisor = gcd(num.unsigned_abs(), den.unsigned_abs()).max(1);
        let divisor = i128::try_from(divisor).map_err(|_| Stop::Cap)?;
        let sign = if den < 0 { -1 } else { 1 };
        let num = i64::try_from(sign * num / divisor).map_err(|_| Stop::Cap)?;
        let den = i64::try_from(sign * den / divisor).map_err(|_| Stop::Cap)?;
        if den == 0 { Err(Stop::Undefined) } else { Ok(Self { num, den }) }
    }

    pub(super) fn add(self, other: Self) -> Result<Self, Stop> {
        if self.den == 1 && other.den == 1 {
            return self.num.checked_add(other.num).map(Self::int).ok_or(Stop::Cap);
        }
        let (a, b) = (i128::from(self.num), i128::from(self.den));
        let (c, d) = (i128::from(other.num), i128::from(other.den));
        Self::reduced(a * d + c * b, b * d)
    }

    pub(super) fn mul(self, other: Self) -> Result<Self, Stop> {
        let num = i128::from(self.num) * i128::from(other.num);
        Self::reduced(num, i128::from(self.den) * i128::from(other.den))
    }

    pub(super) fn neg(self) -> Result<Self, Stop> {
        Ok(Self { num: self.num.checked_neg().ok_or(Stop::Cap)?, den: self.den })
    }

    pub(super) fn floor(self) -> i64 {
        self.num.div_euclid(self.den)
    }

    /// What is left above the floor.
    pub(super) fn fraction(self) -> Self {
        Self { num: self.num.rem_euclid(self.den), den: self.den }
    }

    #[expect(clippy::cast_precision_loss, reason = "only for the screen in floating point")]
    pub(super) fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    pub(super) fn to_rational(self) -> RBig {
        RBig::from_parts_signed(IBig::from(self.num), IBig::from(self.den))
    }

    /// The rational as an exponent, where it fits.
    pub(super) fn from_rational(value: &RBig) -> Option<Self> {
        let num = i64::try_from(value.numerator().clone()).ok()?;
        let den = i64::try_from(value.denominator().clone()).ok()?;
        (num != i64::MIN).then_some(Self { num, den })
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A rational of machine size.
pub(super) fn small(num: i64, den: i64) -> RBig {
    let den = if den == 0 { 1 } else { den };
    RBig::from_parts_signed(IBig::from(num), IBig::from(den))
}

/// Bits of the larger of numerator and denominator.
pub(super) fn bits(value: &RBig) -> usize {
    value.numerator().unsigned_abs().bit_len().max(value.denominator().bit_len())
}

/// Ten to the `places`, at most a few thousand.
pub(super) fn power_of_ten(places: usize) -> UBig {
    UBig::from(10u8).pow(places.min(8192))
}

/// `value` to the `exponent`, or a stop where the result would be too large.
pub(super) fn power(value: &RBig, exponent: i64, meter: &mut Meter<'_>) -> Result<RBig, Stop> {
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

/// The product of the whole numbers from 1 to `n`, or a stop where it would be too large.
pub(super) fn factorial(n: &RBig, meter: &mut Meter<'_>) -> Result<RBig, Stop> {
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
pub(super) fn binomial(n: &RBig, k: &RBig, meter: &mut Meter<'_>) -> Result<RBig, Stop> {
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

/// `mod`, `gcd` and `lcm` of two whole numbers.
pub(super) fn divided(name: &str, a: &RBig, b: &RBig) -> Option<RBig> {
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
pub(super) fn whole(value: &RBig) -> Option<i64> {
    if value.is_int() { i64::try_from(value.numerator().clone()).ok() } else { None }
}

/// The factors of `n` with their exponents, in ascending order.
///
/// Small factors are prime. What trial division leaves is kept as one factor, with perfect powers
/// taken out: equal numbers still factor equally.
pub(super) fn factor(n: &UBig, meter: &mut Meter<'_>) -> Result<Vec<(UBig, u32)>, Stop> {
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
pub(super) fn exact_sqrt(value: &RBig) -> Option<RBig> {
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
