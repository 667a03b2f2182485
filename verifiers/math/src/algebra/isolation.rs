//! Real roots of a polynomial, isolated by Sturm's theorem and refined by bisection.

use dashu_base::Signed as _;
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::univariate::{BITS_MAX, Uni};
use crate::meter::Meter;
use crate::number::{bits, small};
use crate::stop::Stop;

/// The most bisections for one root.
const STEPS_MAX: usize = 1024;

/// The isolating interval of a root: a point, or an open interval at whose ends the signs differ.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) low: RBig,
    pub(crate) high: RBig,
}

/// The isolating intervals of the real roots of a squarefree polynomial, disjoint and in ascending
/// order.
pub(crate) fn real_roots(poly: &Uni, meter: &mut Meter<'_>) -> Result<Vec<Root>, Stop> {
    if poly.degree() == 0 {
        return Ok(Vec::new());
    }
    let chain = sturm(poly, meter)?;
    let lead = poly.lead();
    let widest = poly.coefs().iter().map(|coef| abs(&(coef / &lead))).max().unwrap_or(RBig::ONE);
    let bound = RBig::from(widest.ceil()) + RBig::ONE;
    let mut open = vec![(-bound.clone(), bound)];
    let mut found = Vec::new();
    while let Some((low, high)) = open.pop() {
        match changes(&chain, &low, meter)?.saturating_sub(changes(&chain, &high, meter)?) {
            0 => {}
            1 => found.push(isolated(poly, &chain, low, high, meter)?),
            _ if bits(&low) > BITS_MAX => return Err(Stop::Cap),
            _ => {
                let middle = middle(&low, &high);
                open.push((middle.clone(), high));
                open.push((low, middle));
            }
        }
    }
    for at in 1..found.len() {
        separate(poly, &mut found, at, meter)?;
    }
    Ok(found)
}

/// The Sturm sequence.
fn sturm(poly: &Uni, meter: &mut Meter<'_>) -> Result<Vec<Uni>, Stop> {
    let mut chain = vec![poly.clone(), poly.derivative(meter)?];
    while let [.., one, two] = chain.as_slice() {
        let (_, rest) = one.divided(two, meter)?;
        if rest.is_zero() {
            break;
        }
        chain.push(rest.negated());
    }
    Ok(chain)
}

/// The only root above `low` and not above `high`.
fn isolated(
    poly: &Uni,
    chain: &[Uni],
    low: RBig,
    high: RBig,
    meter: &mut Meter<'_>,
) -> Result<Root, Stop> {
    let (mut low, mut high) = (low, high);
    for _ in 0..STEPS_MAX {
        if poly.sign_at(&high, meter)? == 0 {
            return Ok(Root { low: high.clone(), high });
        }
        if poly.sign_at(&low, meter)? != 0 {
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

fn separate(poly: &Uni, roots: &mut [Root], at: usize, meter: &mut Meter<'_>) -> Result<(), Stop> {
    let Some([one, two]) = roots.get_mut(at.saturating_sub(1)..=at) else { return Ok(()) };
    for _ in 0..STEPS_MAX {
        if one.high < two.low {
            return Ok(());
        }
        one.refine(poly, meter)?;
        two.refine(poly, meter)?;
    }
    Err(Stop::Cap)
}

impl Root {
    /// Halves an interval.
    pub(crate) fn refine(&mut self, of: &Uni, meter: &mut Meter<'_>) -> Result<(), Stop> {
        if self.low == self.high {
            return Ok(());
        }
        let middle = middle(&self.low, &self.high);
        match of.sign_at(&middle, meter)? {
            0 => (self.low, self.high) = (middle.clone(), middle),
            sign if sign == of.sign_at(&self.low, meter)? => self.low = middle,
            _ => self.high = middle,
        }
        Ok(())
    }

    /// Halves an interval until it is not wider than `width`.
    pub(crate) fn narrow(
        &mut self,
        of: &Uni,
        width: &RBig,
        meter: &mut Meter<'_>,
    ) -> Result<(), Stop> {
        for _ in 0..STEPS_MAX {
            if &self.high - &self.low <= *width {
                return Ok(());
            }
            self.refine(of, meter)?;
        }
        Err(Stop::Cap)
    }

    /// Whether a polynomial without multiple roots has this root.
    pub(crate) fn is_root_of(&self, of: &Uni, meter: &mut Meter<'_>) -> Result<bool, Stop> {
        let (low, high) = (of.sign_at(&self.low, meter)?, of.sign_at(&self.high, meter)?);
        Ok(if self.low == self.high { low == 0 } else { low * high < 0 })
    }

    /// The root, where it is the rational number that a leading coefficient allows.
    pub(crate) fn rational(
        &mut self,
        of: &Uni,
        meter: &mut Meter<'_>,
    ) -> Result<Option<RBig>, Stop> {
        let lead = of.lead();
        self.narrow(of, &(small(1, 2) / abs(&lead)), meter)?;
        let near = RBig::from((&self.high * &lead).floor()) / &lead;
        let inside = near == self.high || (self.low < near && near < self.high);
        Ok((inside && of.sign_at(&near, meter)? == 0).then_some(near))
    }
}

/// The number of sign changes of a sequence at a point.
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

pub(crate) fn middle(low: &RBig, high: &RBig) -> RBig {
    (low + high) * small(1, 2)
}

fn abs(value: &RBig) -> RBig {
    if value.is_negative() { -value } else { value.clone() }
}

/// The only integer in an interval that is shorter than one, if there is one.
pub(crate) fn whole_between(low: &RBig, high: &RBig) -> Option<IBig> {
    let near = high.floor();
    (RBig::from(near.clone()) >= *low).then_some(near)
}
