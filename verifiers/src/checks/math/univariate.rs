//! Polynomials in one variable over the rationals, and where their real roots lie.

use dashu_base::Signed as _;
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::Stop;
use super::number::{bits, small};
use super::poly::Poly;
use crate::meter::Meter;

/// The highest degree that is solved.
const DEGREE_MAX: usize = 24;
/// The longest coefficient, in bits.
const BITS_MAX: usize = 1024;
/// The most bisections for one root.
const STEPS_MAX: usize = 1024;

/// A polynomial: whole coefficients from the constant up, the last one not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Uni(Vec<RBig>);

/// Where one root lies: a point, or an open interval at whose ends the signs differ.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) low: RBig,
    pub(super) high: RBig,
}

impl Uni {
    /// The polynomial with these coefficients, from the constant up, times a positive number.
    pub(super) fn new(coefs: Vec<RBig>, meter: &mut Meter<'_>) -> Result<Self, Stop> {
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

    pub(super) fn coefs(&self) -> &[RBig] {
        &self.0
    }

    pub(super) fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The leading coefficient.
    pub(super) fn lead(&self) -> RBig {
        self.0.last().cloned().unwrap_or(RBig::ZERO)
    }

    /// Degree times the length of the longest coefficient: what solving it costs grows with this.
    pub(super) fn size(&self) -> usize {
        self.degree() * self.0.iter().map(bits).max().unwrap_or(0)
    }

    /// The sign of the value at `x`. Whole numbers only: no fraction is ever reduced.
    pub(super) fn sign_at(&self, x: &RBig, meter: &mut Meter<'_>) -> Result<i8, Stop> {
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

    fn derivative(&self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let powers = 1i64..;
        let coefs = self.0.iter().skip(1).zip(powers).map(|(coef, power)| coef * small(power, 1));
        Self::new(coefs.collect(), meter)
    }

    pub(super) fn times(&self, other: &Self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
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
    fn divided(&self, by: &Self, meter: &mut Meter<'_>) -> Result<(Self, Self), Stop> {
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
    pub(super) fn without(
        &self,
        factor: &Self,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Self>, Stop> {
        let (quotient, rest) = self.divided(factor, meter)?;
        Ok(rest.is_zero().then_some(quotient))
    }

    pub(super) fn gcd(&self, other: &Self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let (mut one, mut two) = (self.clone(), other.clone());
        while !two.is_zero() {
            let (_, rest) = one.divided(&two, meter)?;
            (one, two) = (two, rest);
        }
        Ok(one)
    }

    /// The polynomial with the same roots, each of them once, and a positive leading coefficient.
    pub(super) fn squarefree(&self, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        let shared = self.gcd(&self.derivative(meter)?, meter)?;
        let (once, _) = self.divided(&shared, meter)?;
        Ok(if once.lead().is_negative() {
            Self(once.0.iter().map(|coef| -coef).collect())
        } else {
            once
        })
    }

    /// Where the real roots of a polynomial without multiple roots lie, in ascending order and
    /// with gaps between them.
    pub(super) fn roots(&self, meter: &mut Meter<'_>) -> Result<Vec<Root>, Stop> {
        if self.degree() == 0 {
            return Ok(Vec::new());
        }
        let chain = self.sturm(meter)?;
        let lead = self.lead();
        let widest = self.0.iter().map(|coef| abs(&(coef / &lead))).max().unwrap_or(RBig::ONE);
        let bound = RBig::from(widest.ceil()) + RBig::ONE;
        let mut open = vec![(-bound.clone(), bound)];
        let mut found = Vec::new();
        while let Some((low, high)) = open.pop() {
            match changes(&chain, &low, meter)?.saturating_sub(changes(&chain, &high, meter)?) {
                0 => {}
                1 => found.push(self.isolated(&chain, low, high, meter)?),
                _ if bits(&low) > BITS_MAX => return Err(Stop::Cap),
                _ => {
                    let middle = middle(&low, &high);
                    open.push((middle.clone(), high));
                    open.push((low, middle));
                }
            }
        }
        for at in 1..found.len() {
            self.separate(&mut found, at, meter)?;
        }
        Ok(found)
    }

    /// The sequence of Sturm's theorem.
    fn sturm(&self, meter: &mut Meter<'_>) -> Result<Vec<Self>, Stop> {
        let mut chain = vec![self.clone(), self.derivative(meter)?];
        while let [.., one, two] = chain.as_slice() {
            let (_, rest) = one.divided(two, meter)?;
            if rest.is_zero() {
                break;
            }
            chain.push(Self(rest.0.iter().map(|coef| -coef).collect()));
        }
        Ok(chain)
    }

    /// The only root above `low` and not above `high`.
    fn isolated(
        &self,
        chain: &[Self],
        low: RBig,
        high: RBig,
        meter: &mut Meter<'_>,
    ) -> Result<Root, Stop> {
        let (mut low, mut high) = (low, high);
        for _ in 0..STEPS_MAX {
            if self.sign_at(&high, meter)? == 0 {
                return Ok(Root { low: high.clone(), high });
            }
            if self.sign_at(&low, meter)? != 0 {
                return Ok(Root { low, high });
            }
            let middle = middle(&low, &high);
            if changes(chain, &low, meter)? > changes(chain, &middle, meter)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Err(Stop::Cap)
    }

    /// Halves an interval.
    pub(super) fn refine(&self, root: &mut Root, meter: &mut Meter<'_>) -> Result<(), Stop> {
        if root.low == root.high {
            return Ok(());
        }
        let middle = middle(&root.low, &root.high);
        match self.sign_at(&middle, meter)? {
            0 => (root.low, root.high) = (middle.clone(), middle),
            sign if sign == self.sign_at(&root.low, meter)? => root.low = middle,
            _ => root.high = middle,
        }
        Ok(())
    }

    /// Halves an interval until it is not wider than `width`.
    pub(super) fn narrow(
        &self,
        root: &mut Root,
        width: &RBig,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop> {
        for _ in 0..STEPS_MAX {
            if &root.high - &root.low <= *width {
                return Ok(());
            }
            self.refine(root, meter)?;
        }
        Err(Stop::Cap)
    }

    fn separate(&self, roots: &mut [Root], at: usize, meter: &mut Meter<'_>) -> Result<(), Stop> {
        let Some([one, two]) = roots.get_mut(at.saturating_sub(1)..=at) else { return Ok(()) };
        for _ in 0..STEPS_MAX {
            if one.high < two.low {
                return Ok(());
            }
            self.refine(one, meter)?;
            self.refine(two, meter)?;
        }
        Err(Stop::Cap)
    }

    /// Whether one of the roots of this polynomial, which has no multiple ones, is the given one.
    pub(super) fn has(&self, root: &Root, meter: &mut Meter<'_>) -> Result<bool, Stop> {
        let (low, high) = (self.sign_at(&root.low, meter)?, self.sign_at(&root.high, meter)?);
        Ok(if root.low == root.high { low == 0 } else { low * high < 0 })
    }
}

impl Root {
    /// The root, where it is the rational number that a leading coefficient allows.
    pub(super) fn rational(
        &mut self,
        of: &Uni,
        meter: &mut Meter<'_>,
    ) -> Result<Option<RBig>, Stop> {
        let lead = of.lead();
        of.narrow(self, &(small(1, 2) / abs(&lead)), meter)?;
        let near = RBig::from((&self.high * &lead).floor()) / &lead;
        let inside = near == self.high || (self.low < near && near < self.high);
        Ok((inside && of.sign_at(&near, meter)? == 0).then_some(near))
    }
}

/// How often the signs of a sequence change at a place.
fn changes(chain: &[Uni], x: &RBig, meter: &mut Meter<'_>) -> Result<usize, Stop> {
    let (mut last, mut count) = (0, 0);
    for link in chain {
        let sign = link.sign_at(x, meter)?;
        if sign != 0 {
            count += usize::from(sign * last < 0);
            last = sign;
        }
    }
    Ok(count)
}

pub(super) fn middle(low: &RBig, high: &RBig) -> RBig {
    (low + high) * small(1, 2)
}

pub(super) fn sign(value: &RBig) -> i8 {
    match value {
        value if value.is_zero() => 0,
        value if value.is_negative() => -1,
        _ => 1,
    }
}

fn abs(value: &RBig) -> RBig {
    if value.is_negative() { -value } else { value.clone() }
}

/// The only whole number in an interval that is shorter than one, if there is one.
pub(super) fn whole_between(low: &RBig, high: &RBig) -> Option<IBig> {
    let near = high.floor();
    (RBig::from(near.clone()) >= *low).then_some(near)
}
