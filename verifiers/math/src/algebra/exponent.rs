//! The exponents of monomials: fractions of machine size.

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::stop::Stop;

/// The exponent of a monomial: a fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Exp {
    pub(crate) num: i64,
    pub(crate) den: i64,
}

impl Exp {
    pub(crate) const ONE: Self = Self { num: 1, den: 1 };

    pub(crate) fn int(num: i64) -> Self {
        Self { num, den: 1 }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.num == 0
    }

    pub(crate) fn is_int(self) -> bool {
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

    pub(crate) fn add(self, other: Self) -> Result<Self, Stop> {
        if self.den == 1 && other.den == 1 {
            return self.num.checked_add(other.num).map(Self::int).ok_or(Stop::Cap);
        }
        let (a, b) = (i128::from(self.num), i128::from(self.den));
        let (c, d) = (i128::from(other.num), i128::from(other.den));
        Self::reduced(a * d + c * b, b * d)
    }

    pub(crate) fn mul(self, other: Self) -> Result<Self, Stop> {
        let num = i128::from(self.num) * i128::from(other.num);
        Self::reduced(num, i128::from(self.den) * i128::from(other.den))
    }

    pub(crate) fn neg(self) -> Result<Self, Stop> {
        Ok(Self { num: self.num.checked_neg().ok_or(Stop::Cap)?, den: self.den })
    }

    pub(crate) fn floor(self) -> i64 {
        self.num.div_euclid(self.den)
    }

    /// The fractional part.
    pub(crate) fn fraction(self) -> Self {
        Self { num: self.num.rem_euclid(self.den), den: self.den }
    }

    #[expect(clippy::cast_precision_loss, reason = "only for the screen in floating point")]
    pub(crate) fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    pub(crate) fn to_rational(self) -> RBig {
        RBig::from_parts_signed(IBig::from(self.num), IBig::from(self.den))
    }

    /// The rational as an exponent, where it fits.
    pub(crate) fn from_rational(value: &RBig) -> Option<Self> {
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
