//! Polynomials and rational functions over the rationals, in atoms: variables, constants, prime
//! radicals, logarithms of primes, and functions that stay opaque.
//!
//! Sums of rational multiples of radicals of primes are linearly independent over the rationals
//! (Besicovitch, "On the linear independence of fractional powers of integers"), so for surds the
//! form is canonical: two of them are equal exactly when their forms are.

use dashu_base::{Signed as _, UnsignedAbs as _};
use dashu_int::UBig;
use dashu_ratio::RBig;

use super::exponent::Exp;
use crate::number::{small, whole};
use crate::stop::Stop;

/// The index of an atom in [`Context`].
pub(crate) type Atom = u32;

/// An atom: a factor of monomials.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A prime (or a factor that was not split further), for its radicals.
    Prime(UBig),
    /// -1, for its symbolic powers.
    Minus,
    Var(String),
    Pi,
    Euler,
    Imaginary,
    /// The natural logarithm of a prime.
    Ln(UBig),
    Sin(Canon),
    Cos(Canon),
    /// An opaque function.
    Fun(&'static str, Vec<Canon>),
    /// A sum, for its radicals and high powers.
    Base(Poly),
    /// An atom to the power of a monomial.
    Power(Atom, Mono),
}

/// A product of powers of atoms, in the order of the atoms.
pub(crate) type Mono = Vec<(Atom, Exp)>;

/// A sum of monomials with coefficients other than zero, in the order of the monomials.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Poly(pub(crate) Vec<(Mono, RBig)>);

/// A quotient of two polynomials. Divisors of one term are multiplied into the numerator.
#[derive(Clone, Debug, PartialEq)]
pub struct Canon {
    pub(crate) num: Poly,
    pub(crate) den: Poly,
}

/// The name of a root without a closed form: its interval, then its polynomial.
pub(crate) const ROOT: &str = "root";

impl Poly {
    pub(crate) fn constant(value: RBig) -> Self {
        if value.is_zero() { Self::default() } else { Self(vec![(Mono::new(), value)]) }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, where there is no atom at all.
    pub(crate) fn rational(&self) -> Option<RBig> {
        match self.0.as_slice() {
            [] => Some(RBig::ZERO),
            [(mono, coef)] if mono.is_empty() => Some(coef.clone()),
            _ => None,
        }
    }

    pub(crate) fn is_one(&self) -> bool {
        matches!(self.0.as_slice(), [(mono, coef)] if mono.is_empty() && coef.is_one())
    }

    pub(crate) fn scaled(&self, by: &RBig) -> Self {
        if by.is_zero() {
            return Self::default();
        }
        Self(self.0.iter().map(|(mono, coef)| (mono.clone(), coef * by)).collect())
    }

    pub(crate) fn neg(&self) -> Self {
        Self(self.0.iter().map(|(mono, coef)| (mono.clone(), -coef)).collect())
    }

    /// The greatest rational that leaves whole coefficients without a common factor.
    pub(crate) fn content(&self) -> RBig {
        use dashu_base::Gcd as _;
        let mut num = UBig::ZERO;
        let mut den = UBig::ONE;
        for (_, coef) in &self.0 {
            let top = coef.numerator().unsigned_abs();
            num = if num.is_zero() { top } else { num.gcd(top) };
            let shared = (&den).gcd(coef.denominator());
            den = den / shared * coef.denominator();
        }
        if num.is_zero() { RBig::ONE } else { RBig::from_parts(num.into(), den) }
    }

    /// Whether the last coefficient is negative, which tells a sum from its opposite.
    pub(crate) fn leads_negative(&self) -> bool {
        self.0.last().is_some_and(|(_, coef)| coef.is_negative())
    }

    /// The sum of terms of different monomials, in any order.
    pub(crate) fn sorted(mut terms: Vec<(Mono, RBig)>) -> Self {
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        Self(terms)
    }

    /// Slope and rest, where the sum is linear in an atom. Their terms are not sorted.
    pub(crate) fn split_linear(&self, atom: Atom) -> Option<(Self, Self)> {
        let (mut slope, mut rest) = (Self::default(), Self::default());
        for (mono, coef) in &self.0 {
            match mono.iter().find(|(factor, _)| *factor == atom) {
                None => rest.0.push((mono.clone(), coef.clone())),
                Some((_, Exp::ONE)) => slope.0.push((cofactor(mono, atom), coef.clone())),
                Some(_) => return None,
            }
        }
        Some((slope, rest))
    }

    /// Sorts terms, adds up those of one monomial and drops zeros.
    pub(crate) fn collected(terms: Vec<(Mono, RBig)>) -> Self {
        let mut out: Vec<(Mono, RBig)> = Vec::with_capacity(terms.len());
        for (mono, coef) in Self::sorted(terms).0 {
            match out.last_mut() {
                Some(last) if last.0 == mono => last.1 += coef,
                _ => {
                    if out.last().is_some_and(|last| last.1.is_zero()) {
                        out.pop();
                    }
                    out.push((mono, coef));
                }
            }
        }
        out.retain(|(_, coef)| !coef.is_zero());
        Self(out)
    }
}

impl Canon {
    pub(crate) fn rational(value: RBig) -> Self {
        Self { num: Poly::constant(value), den: Poly::constant(RBig::ONE) }
    }

    pub(crate) fn poly(num: Poly) -> Self {
        Self { num, den: Poly::constant(RBig::ONE) }
    }

    /// An atom to a power that needs no reduction.
    pub(crate) fn atom(atom: Atom, exp: Exp) -> Self {
        Self::poly(Poly(vec![(vec![(atom, exp)], RBig::ONE)]))
    }

    pub(crate) fn int(value: i64) -> Self {
        Self::rational(small(value, 1))
    }

    /// The value, where it is a rational number.
    pub(crate) fn as_rational(&self) -> Option<RBig> {
        if self.den.is_one() { self.num.rational() } else { None }
    }

    /// The value, where it is an integer of machine size.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        self.as_rational().and_then(|value| whole(&value))
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    /// The monomials of numerator and denominator.
    pub(crate) fn monomials(&self) -> impl Iterator<Item = &Mono> {
        self.num.0.iter().chain(&self.den.0).map(|(mono, _)| mono)
    }
}

/// The same with the other sign.
pub(crate) fn negated(value: &Canon) -> Canon {
    Canon { num: value.num.neg(), den: value.den.clone() }
}

/// A monomial without one of its atoms.
pub(crate) fn cofactor(mono: &[(Atom, Exp)], atom: Atom) -> Mono {
    mono.iter().filter(|(factor, _)| *factor != atom).copied().collect()
}

/// The product of two monomials, not yet reduced.
pub(crate) fn mul_mono(a: &[(Atom, Exp)], b: &[(Atom, Exp)]) -> Result<Mono, Stop> {
    if a.is_empty() {
        return Ok(b.to_vec());
    }
    let mut out = Mono::with_capacity(a.len() + b.len());
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
        match one.0.cmp(&two.0) {
            std::cmp::Ordering::Less => out.extend(left.next().copied()),
            std::cmp::Ordering::Greater => out.extend(right.next().copied()),
            std::cmp::Ordering::Equal => {
                let exp = one.1.add(two.1)?;
                if !exp.is_zero() {
                    out.push((one.0, exp));
                }
                left.next();
                right.next();
            }
        }
    }
    out.extend(left.copied());
    out.extend(right.copied());
    Ok(out)
}
