//! Ball arithmetic: intervals whose lower end is rounded down and whose upper end is rounded up.
//!
//! An interval without zero proves that a number is not zero. Nothing here ever proves equality.

use dashu_base::{Approximation, Sign};
use dashu_float::round::mode::{Down, Up};
use dashu_float::{ConstCache, Context, FBig, FpResult, Repr};
use dashu_int::IBig;
use dashu_ratio::RBig;

type Float = Repr<2>;

/// Larger arguments of sine and cosine are not evaluated, in bits.
const ARGUMENT_BITS_MAX: isize = 1 << 10;

/// All numbers between two, ends included.
#[derive(Clone, Debug)]
pub(crate) struct Ball {
    low: Float,
    high: Float,
}

/// Arithmetic at one precision. The result is `None` where it is not real or too large.
pub(crate) struct Arith {
    down: Context<Down>,
    up: Context<Up>,
    cache: ConstCache,
}

/// A function of one argument, rounded down.
type Rounded = fn(&Context<Down>, &Float, Option<&mut ConstCache>) -> FpResult<FBig<Down, 2>>;

fn finite<R: dashu_float::round::Round>(result: FpResult<FBig<R, 2>>) -> Option<Float> {
    Some(result.ok()?.value().into_repr()).filter(Float::is_finite)
}

impl Ball {
    pub(crate) fn int(value: i64) -> Self {
        let value = Float::new(IBig::from(value), 0);
        Self { low: value.clone(), high: value }
    }

    /// Whether zero is in it.
    pub(crate) fn has_zero(&self) -> bool {
        self.low <= Float::zero() && Float::zero() <= self.high
    }

    /// The sign, where all of it has one.
    pub(crate) fn sign(&self) -> Option<Sign> {
        if self.low > Float::zero() {
            Some(Sign::Positive)
        } else if self.high < Float::zero() {
            Some(Sign::Negative)
        } else {
            None
        }
    }

    /// The integer that it is, where it is exactly one of machine size.
    pub(crate) fn whole(&self) -> Option<i64> {
        if self.low != self.high
            || !self.low.is_int()
            || self.magnitude().is_some_and(|bits| bits > 62)
        {
            return None;
        }
        let exponent = usize::try_from(self.low.exponent()).ok()?;
        i64::try_from(self.low.significand() << exponent).ok()
    }

    fn is_exact_zero(&self) -> bool {
        self.low == Float::zero() && self.high == Float::zero()
    }

    /// The binary exponent of the largest size in it; `None` for zero.
    pub(crate) fn magnitude(&self) -> Option<isize> {
        [&self.low, &self.high].into_iter().filter_map(top_bit).max()
    }

    pub(crate) fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

/// The position of the highest bit of a number that is not zero.
fn top_bit(value: &Float) -> Option<isize> {
    if *value == Float::zero() {
        return None;
    }
    let digits = isize::try_from(value.digits_ub()).ok()?;
    value.exponent().checked_add(digits)
}

impl Arith {
    pub(crate) fn new(bits: usize) -> Self {
        Self { down: Context::new(bits), up: Context::new(bits), cache: ConstCache::new() }
    }

    pub(crate) fn rational(&self, value: &RBig) -> Option<Ball> {
        let top = Float::new(value.numerator().clone(), 0);
        let below = Float::new(IBig::from(value.denominator().clone()), 0);
        Some(Ball {
            low: finite(self.down.div(&top, &below))?,
            high: finite(self.up.div(&top, &below))?,
        })
    }

    pub(crate) fn pi(&mut self) -> Ball {
        let low = self.down.pi(Some(&mut self.cache)).value().into_repr();
        let high = self.up.pi(Some(&mut self.cache)).value().into_repr();
        Ball { low, high }
    }

    pub(crate) fn add(&self, a: &Ball, b: &Ball) -> Option<Ball> {
        Some(Ball {
            low: finite(self.down.add(&a.low, &b.low))?,
            high: finite(self.up.add(&a.high, &b.high))?,
        })
    }

    pub(crate) fn sub(&self, a: &Ball, b: &Ball) -> Option<Ball> {
        Some(Ball {
            low: finite(self.down.sub(&a.low, &b.high))?,
            high: finite(self.up.sub(&a.high, &b.low))?,
        })
    }

    pub(crate) fn mul(&self, a: &Ball, b: &Ball) -> Option<Ball> {
        if a.is_exact_zero() || b.is_exact_zero() {
            return Some(Ball::int(0));
        }
        self.hull(
            a,
            b,
            |this, x, y| finite(this.down.mul(x, y)),
            |this, x, y| finite(this.up.mul(x, y)),
        )
    }

    pub(crate) fn div(&self, a: &Ball, b: &Ball) -> Option<Ball> {
        if b.has_zero() {
            return None;
        }
        self.hull(
            a,
            b,
            |this, x, y| finite(this.down.div(x, y)),
            |this, x, y| finite(this.up.div(x, y)),
        )
    }

    /// The least and the greatest of an operation on the four pairs of ends.
    fn hull(
        &self,
        a: &Ball,
        b: &Ball,
        down: impl Fn(&Self, &Float, &Float) -> Option<Float>,
        up: impl Fn(&Self, &Float, &Float) -> Option<Float>,
    ) -> Option<Ball> {
        let pairs = [(&a.low, &b.low), (&a.low, &b.high), (&a.high, &b.low), (&a.high, &b.high)];
        let (mut low, mut high) = (None, None);
        for (x, y) in pairs {
            let (least, most) = (down(self, x, y)?, up(self, x, y)?);
            low = Some(low.map_or(least.clone(), |low: Float| low.min(least)));
            high = Some(high.map_or(most.clone(), |high: Float| high.max(most)));
        }
        Some(Ball { low: low?, high: high? })
    }

    /// The function at the lower end, and a bound on its rise up to the upper end.
    fn followed(
        &mut self,
        value: &Ball,
        function: Rounded,
        rise: impl FnOnce(&Self, &Float, &Float) -> Option<Float>,
    ) -> Option<Ball> {
        let found = function(&self.down, &value.low, Some(&mut self.cache)).ok()?;
        let exact = matches!(found, Approximation::Exact(_));
        let low = Some(found.value().into_repr()).filter(Float::is_finite)?;
        let mut high = low.clone();
        if !exact {
            let bits = isize::try_from(self.down.precision()).ok()?;
            let unit = Float::new(IBig::ONE, top_bit(&low)?.checked_sub(bits)?);
            high = finite(self.up.add(&high, &unit))?;
        }
        let width = finite(self.up.sub(&value.high, &value.low))?;
        let rise = rise(self, &high, &width)?;
        Some(Ball { low, high: finite(self.up.add(&high, &rise))? })
    }

    pub(crate) fn exp(&mut self, value: &Ball) -> Option<Ball> {
        // The result would be larger than any answer.
        if value.magnitude().is_some_and(|bits| bits > 40) {
            return None;
        }
        // e^w - 1 is at most 2w for w up to 1.
        if self.sub(value, value)?.magnitude().is_some_and(|bits| bits > 0) {
            return None;
        }
        self.followed(value, Context::exp, |this, at, width| {
            let twice = finite(this.up.add(width, width))?;
            finite(this.up.mul(at, &twice))
        })
    }

    pub(crate) fn ln(&mut self, value: &Ball) -> Option<Ball> {
        if value.sign() != Some(Sign::Positive) {
            return None;
        }
        let least = value.low.clone();
        self.followed(value, Context::ln, |this, _, width| finite(this.up.div(width, &least)))
    }

    pub(crate) fn atan(&mut self, value: &Ball) -> Option<Ball> {
        self.followed(value, Context::atan, |_, _, width| Some(width.clone()))
    }

    pub(crate) fn asin(&mut self, value: &Ball) -> Option<Ball> {
        let low = finite(self.down.asin(&value.low, Some(&mut self.cache)))?;
        let high = finite(self.up.asin(&value.high, Some(&mut self.cache)))?;
        Some(Ball { low, high })
    }

    pub(crate) fn acos(&mut self, value: &Ball) -> Option<Ball> {
        let low = finite(self.down.acos(&value.high, Some(&mut self.cache)))?;
        let high = finite(self.up.acos(&value.low, Some(&mut self.cache)))?;
        Some(Ball { low, high })
    }

    /// The sine; it is not monotonic, so the width of the argument is added on both sides.
    pub(crate) fn sin(&mut self, value: &Ball) -> Option<Ball> {
        self.wave(value, Context::sin)
    }

    pub(crate) fn cos(&mut self, value: &Ball) -> Option<Ball> {
        self.wave(value, Context::cos)
    }

    fn wave(&mut self, value: &Ball, function: Rounded) -> Option<Ball> {
        if value.magnitude().is_some_and(|bits| bits > ARGUMENT_BITS_MAX) {
            return None;
        }
        let width = finite(self.up.sub(&value.high, &value.low))?;
        let found = self.followed(value, function, |_, _, width| Some(width.clone()))?;
        Some(Ball { low: finite(self.down.sub(&found.low, &width))?, high: found.high })
    }

    /// The real root of a number that is not negative, or of any number where `index` is odd.
    pub(crate) fn root(&mut self, value: &Ball, index: usize) -> Option<Ball> {
        if index.is_multiple_of(2) && value.low < Float::zero() {
            return None;
        }
        let low = finite(self.down.nth_root(index, &value.low))?;
        let high = finite(self.up.nth_root(index, &value.high))?;
        Some(Ball { low, high })
    }

    /// `value` to an integer power.
    pub(crate) fn power(&self, value: &Ball, exponent: i64) -> Option<Ball> {
        if exponent < 0 {
            let positive = self.power(value, exponent.checked_neg()?)?;
            return self.div(&Ball::int(1), &positive);
        }
        let even = exponent % 2 == 0;
        let crosses = value.sign().is_none();
        let (down, up) = (
            |x: &Float| finite(self.down.powi(x, exponent.into())),
            |x: &Float| finite(self.up.powi(x, exponent.into())),
        );
        if !even {
            return Some(Ball { low: down(&value.low)?, high: up(&value.high)? });
        }
        let high = up(&value.low)?.max(up(&value.high)?);
        let low = if crosses { Float::zero() } else { down(&value.low)?.min(down(&value.high)?) };
        Some(Ball { low, high })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::small;

    fn holds(arith: &Arith, ball: &Ball, value: &RBig) -> bool {
        let exact = arith.rational(value).unwrap();
        arith.sub(ball, &exact).unwrap().has_zero()
    }

    proptest! {
        #[test]
        fn arithmetic_encloses_the_rationals(a in -5000i64..5000, b in 1i64..900, c in -5000i64..5000, d in 1i64..900, n in -6i64..7) {
            let arith = Arith::new(64);
            let (x, y) = (small(a, b), small(c, d));
            let (one, two) = (arith.rational(&x).unwrap(), arith.rational(&y).unwrap());
            prop_assert!(holds(&arith, &arith.add(&one, &two).unwrap(), &(&x + &y)));
            prop_assert!(holds(&arith, &arith.sub(&one, &two).unwrap(), &(&x - &y)));
            prop_assert!(holds(&arith, &arith.mul(&one, &two).unwrap(), &(&x * &y)));
            if c != 0 {
                prop_assert!(holds(&arith, &arith.div(&one, &two).unwrap(), &(&x / &y)));
                prop_assert!(holds(&arith, &arith.power(&two, n).unwrap(), &y.pow(isize::try_from(n).unwrap())));
            }
        }

        #[test]
        fn functions_enclose_what_their_inverses_undo(a in 1i64..5000, b in 1i64..900) {
            let mut arith = Arith::new(64);
            let x = small(a, b);
            let ball = arith.rational(&x).unwrap();
            let log = arith.ln(&ball).unwrap();
            let back = arith.exp(&log).unwrap();
            prop_assert!(holds(&arith, &back, &x));
            let root = arith.root(&ball, 3).unwrap();
            prop_assert!(holds(&arith, &arith.power(&root, 3).unwrap(), &x));
            let (sine, cosine) = (arith.sin(&ball).unwrap(), arith.cos(&ball).unwrap());
            let (one, two) = (arith.power(&sine, 2).unwrap(), arith.power(&cosine, 2).unwrap());
            prop_assert!(holds(&arith, &arith.add(&one, &two).unwrap(), &small(1, 1)));
            let angle = arith.atan(&ball).unwrap();
            let (sine, cosine) = (arith.sin(&angle).unwrap(), arith.cos(&angle).unwrap());
            prop_assert!(holds(&arith, &arith.div(&sine, &cosine).unwrap(), &x));
        }
    }

    #[test]
    fn what_has_no_real_value_has_none() {
        let mut arith = Arith::new(64);
        let (zero, negative, far) =
            (Ball::int(0), Ball::int(-2), arith.rational(&small(1, 1).pow(1)).unwrap());
        assert!(arith.ln(&zero).is_none() && arith.ln(&negative).is_none());
        assert!(arith.root(&negative, 2).is_none() && arith.root(&negative, 3).is_some());
        assert!(arith.div(&far, &zero).is_none() && arith.asin(&negative).is_none());
        assert_eq!(Ball::int(-7).whole(), Some(-7));
    }
}
