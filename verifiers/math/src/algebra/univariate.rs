//! Polynomials in one variable over the rationals.

use dashu_base::Signed as _;
use dashu_int::IBig;

use crate::algebra::prelude::*;
use crate::meter::Meter;
use crate::number::bits;

/// The highest degree that is solved.
const DEGREE_MAX: usize = 24;
/// The longest coefficient, in bits.
pub(crate) const BITS_MAX: usize = 1024;

/// A polynomial: whole coefficients from the constant up, the last one not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Uni(Vec<RBig>);

impl Uni {
    /// The polynomial with these coefficients, from the constant up, times a positive number.
    pub(crate) fn new(coefs: Vec<RBig>, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let mut coefs = coefs;
        while coefs.last().is_some_and(RBig::is_zero) {
            coefs.pop();
        }
        let terms: Vec<_> = coefs.iter().filter(|coef| !coef.is_zero()).collect();
        let longest = terms.iter().map(|coef| bits(coef)).max().unwrap_or(0);
        if coefs.len() > DEGREE_MAX + 1 || longest > BITS_MAX {
            return Err(Stop::Cap);
        }
        meter.spend(20 + (terms.len() * (10 + longest / 8)) as u64)?;
        let terms = terms.into_iter().map(|coef| (Vec::new(), coef.clone())).collect();
        let content = Poly(terms).content();
        Ok(Self(coefs.into_iter().map(|coef| coef / &content).collect()))
    }

    pub(crate) fn coefs(&self) -> &[RBig] {
        &self.0
    }

    pub(crate) fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The leading coefficient.
    pub(crate) fn lead(&self) -> RBig {
        self.0.last().cloned().unwrap_or(RBig::ZERO)
    }

    /// Degree times the length of the longest coefficient: what solving it costs grows with this.
    pub(crate) fn size(&self) -> usize {
        self.degree() * self.0.iter().map(bits).max().unwrap_or(0)
    }

    /// The sign of the value at `x`. Integers only: no fraction is ever reduced.
    pub(crate) fn sign_at(&self, x: &RBig, meter: &mut Meter<'_>) -> Result<i8, Stop> {
        let (top, below) = (x.numerator(), IBig::from(x.denominator().clone()));
        let (mut value, mut scale) = (IBig::ZERO, IBig::ONE);
        let words = bits(x) / 64 + 1;
        for (step, coef) in self.0.iter().rev().enumerate() {
            meter.spend((60 + 3 * (step + 1) * words * words) as u64)?;
            value = value * top + coef.numerator() * &scale;
            scale *= &below;
        }
        Ok(sign(&RBig::from(value)))
    }

    pub(crate) fn derivative(&self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let powers = 1i64..;
        let coefs = self.0.iter().skip(1).zip(powers).map(|(coef, power)| coef * small(power, 1));
        Self::new(coefs.collect(), meter)
    }

    pub(crate) fn times(&self, other: &Self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        if self.is_zero() || other.is_zero() {
            return Ok(Self::default());
        }
        meter.spend((self.0.len() * other.0.len() * 100) as u64)?;
        let mut out = vec![RBig::ZERO; self.0.len() + other.0.len() - 1];
        for (at, one) in self.0.iter().enumerate() {
            for (by, two) in other.0.iter().enumerate() {
                if let Some(sum) = out.get_mut(at + by) {
                    *sum += one * two;
                }
            }
        }
        Self::new(out, meter)
    }

    /// The quotient, up to a positive factor, and the remainder, up to a positive factor.
    pub(crate) fn divided(&self, by: &Self, meter: &mut Meter<'_>) -> Result<(Self, Self), Stop> {
        let lead = by.lead();
        if lead.is_zero() {
            return Err(Stop::Undefined);
        }
        let mut rest = self.0.clone();
        let mut quotient = Vec::new();
        while rest.len() >= by.0.len() {
            let longest = rest.iter().map(bits).max().unwrap_or(0);
            if longest > 4 * BITS_MAX {
                return Err(Stop::Cap);
            }
            let words = longest / 64 + 1;
            meter.spend((by.0.len() * (200 + 10 * words * words)) as u64)?;
            let factor = rest.pop().unwrap_or(RBig::ZERO) / &lead;
            let shift = rest.len() + 1 - by.0.len();
            let below = by.0.len().saturating_sub(1);
            for (coef, sub) in rest.iter_mut().skip(shift).zip(by.0.iter().take(below)) {
                *coef -= &factor * sub;
            }
            quotient.push(factor);
        }
        quotient.reverse();
        Ok((Self::new(quotient, meter)?, Self::new(rest, meter)?))
    }

    /// The quotient, where the division leaves nothing.
    pub(crate) fn without(
        &self,
        factor: &Self,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Self>, Stop> {
        let (quotient, rest) = self.divided(factor, meter)?;
        Ok(rest.is_zero().then_some(quotient))
    }

    pub(crate) fn gcd(&self, other: &Self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let (mut one, mut two) = (self.clone(), other.clone());
        while !two.is_zero() {
            let (_, rest) = one.divided(&two, meter)?;
            (one, two) = (two, rest);
        }
        Ok(one)
    }

    /// The polynomial with the same roots, each of them once, and a positive leading coefficient.
    pub(crate) fn squarefree(&self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let shared = self.gcd(&self.derivative(meter)?, meter)?;
        let (once, _) = self.divided(&shared, meter)?;
        Ok(if once.lead().is_negative() { once.negated() } else { once })
    }

    /// The same with the other sign.
    pub(crate) fn negated(&self) -> Self {
        Self(self.0.iter().map(|coef| -coef).collect())
    }
}

pub(crate) fn sign(value: &RBig) -> i8 {
    match value {
        value if value.is_zero() => 0,
        value if value.is_negative() => -1,
        _ => 1,
    }
}
