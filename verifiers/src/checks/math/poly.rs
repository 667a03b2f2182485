//! Polynomials and rational functions over the rationals, in atoms: variables, constants, prime
//! radicals, logarithms of primes, and functions that stay opaque.
//!
//! Sums of rational multiples of radicals of primes are linearly independent over the rationals
//! (Besicovitch, "On the linear independence of fractional powers of integers"), so for surds the
//! form is canonical: two of them are equal exactly when their forms are.

use dashu_base::{Signed as _, UnsignedAbs as _};
use dashu_int::UBig;
use dashu_ratio::RBig;

use super::Stop;
use super::number::{self, Exp};
use crate::meter::Meter;

/// The most terms of one polynomial.
const TERMS_MAX: usize = 4096;
/// Powers of sums are written out up to this exponent; higher ones stay powers.
pub(super) const EXPAND_MAX: i64 = 24;

/// The index of an atom in [`Ctx`].
pub(super) type Atom = u32;

/// What a monomial is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
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
    /// A function that nothing here evaluates.
    Fun(&'static str, Vec<Canon>),
    /// A sum, for its radicals and high powers.
    Base(Poly),
    /// An atom to the power of a monomial.
    Power(Atom, Mono),
}

/// A product of powers of atoms, in the order of the atoms.
pub(super) type Mono = Vec<(Atom, Exp)>;

/// A sum of monomials with coefficients other than zero, in the order of the monomials.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Poly(pub(super) Vec<(Mono, RBig)>);

/// A quotient of two polynomials. Divisors of one term are multiplied into the numerator.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Canon {
    pub(super) num: Poly,
    pub(super) den: Poly,
}

/// The atoms of one comparison, and the meter that pays for it.
pub(super) struct Ctx<'m, 'b> {
    pub(super) atoms: Vec<Kind>,
    /// Whether the value of each atom depends on a variable.
    varying: Vec<bool>,
    pub(super) meter: &'m mut Meter<'b>,
    /// A `\log` without a base was seen; it may be the natural or the decimal one.
    pub(super) bare_log: bool,
    /// Read a `\log` without a base as the natural one.
    pub(super) natural_log: bool,
}

impl Poly {
    pub(super) fn constant(value: RBig) -> Self {
        if value.is_zero() { Self::default() } else { Self(vec![(Mono::new(), value)]) }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, where there is no atom at all.
    pub(super) fn rational(&self) -> Option<RBig> {
        match self.0.as_slice() {
            [] => Some(RBig::ZERO),
            [(mono, coef)] if mono.is_empty() => Some(coef.clone()),
            _ => None,
        }
    }

    pub(super) fn is_one(&self) -> bool {
        matches!(self.0.as_slice(), [(mono, coef)] if mono.is_empty() && coef.is_one())
    }

    pub(super) fn scaled(&self, by: &RBig) -> Self {
        if by.is_zero() {
            return Self::default();
        }
        Self(self.0.iter().map(|(mono, coef)| (mono.clone(), coef * by)).collect())
    }

    pub(super) fn neg(&self) -> Self {
        Self(self.0.iter().map(|(mono, coef)| (mono.clone(), -coef)).collect())
    }

    /// The greatest rational that leaves whole coefficients without a common factor.
    pub(super) fn content(&self) -> RBig {
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

    /// Whether the last coefficient is negative: a sign that a sum and its opposite disagree on.
    pub(super) fn leads_negative(&self) -> bool {
        self.0.last().is_some_and(|(_, coef)| coef.is_negative())
    }

    /// Sorts terms, adds up those of one monomial and drops zeros.
    fn collected(mut terms: Vec<(Mono, RBig)>) -> Self {
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        let mut out: Vec<(Mono, RBig)> = Vec::with_capacity(terms.len());
        for (mono, coef) in terms {
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
    pub(super) fn rational(value: RBig) -> Self {
        Self { num: Poly::constant(value), den: Poly::constant(RBig::ONE) }
    }

    pub(super) fn poly(num: Poly) -> Self {
        Self { num, den: Poly::constant(RBig::ONE) }
    }

    /// An atom to a power that needs no reduction.
    pub(super) fn atom(atom: Atom, exp: Exp) -> Self {
        Self::poly(Poly(vec![(vec![(atom, exp)], RBig::ONE)]))
    }

    pub(super) fn int(value: i64) -> Self {
        Self::rational(number::small(value, 1))
    }

    /// The value, where it is a rational number.
    pub(super) fn as_rational(&self) -> Option<RBig> {
        if self.den.is_one() { self.num.rational() } else { None }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.num.is_zero()
    }
}

impl<'m, 'b> Ctx<'m, 'b> {
    pub(super) fn new(meter: &'m mut Meter<'b>) -> Self {
        Self { atoms: Vec::new(), varying: Vec::new(), meter, bare_log: false, natural_log: false }
    }

    pub(super) fn kind(&self, atom: Atom) -> Option<&Kind> {
        self.atoms.get(atom as usize)
    }

    /// The atom of this kind, new or known.
    pub(super) fn atom(&mut self, kind: Kind) -> Result<Atom, Stop> {
        self.meter.spend(20 + 10 * self.atoms.len() as u64)?;
        let known = self.atoms.iter().position(|have| *have == kind);
        let at = known.unwrap_or(self.atoms.len());
        if known.is_none() {
            self.varying.push(self.kind_varies(&kind));
            self.atoms.push(kind);
        }
        if at > 1000 { Err(Stop::Cap) } else { Atom::try_from(at).map_err(|_| Stop::Cap) }
    }

    /// Whether the value of an atom depends on a variable.
    pub(super) fn varies(&self, atom: Atom) -> bool {
        self.varying.get(atom as usize).copied().unwrap_or(true)
    }

    fn kind_varies(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Var(_) => true,
            Kind::Sin(arg) | Kind::Cos(arg) => self.has_variable(arg),
            Kind::Fun(_, args) => args.iter().any(|arg| self.has_variable(arg)),
            Kind::Base(base) => base.0.iter().any(|(mono, _)| self.mono_varies(mono)),
            Kind::Power(base, mono) => self.varies(*base) || self.mono_varies(mono),
            _ => false,
        }
    }

    pub(super) fn mono_varies(&self, mono: &[(Atom, Exp)]) -> bool {
        mono.iter().any(|(atom, _)| self.varies(*atom))
    }

    /// Whether a variable occurs anywhere in the form.
    pub(super) fn has_variable(&self, value: &Canon) -> bool {
        value.num.0.iter().chain(&value.den.0).any(|(mono, _)| self.mono_varies(mono))
    }

    pub(super) fn of(&mut self, kind: Kind) -> Result<Canon, Stop> {
        let atom = self.atom(kind)?;
        Ok(Canon::atom(atom, Exp::ONE))
    }

    /// A function that stays opaque. Arguments that are equal make the same atom.
    pub(super) fn opaque(&mut self, name: &'static str, args: Vec<Canon>) -> Result<Canon, Stop> {
        for at in 0..self.atoms.len() {
            let known = match self.atoms.get(at) {
                Some(Kind::Fun(have, known)) if *have == name && known.len() == args.len() => {
                    known.clone()
                }
                _ => continue,
            };
            let mut same = true;
            for (one, two) in known.iter().zip(&args) {
                same = same && self.equal(one, two)?;
            }
            if same {
                return self.of(Kind::Fun(name, known));
            }
        }
        self.of(Kind::Fun(name, args))
    }

    pub(super) fn add_poly(&mut self, a: &Poly, b: &Poly) -> Result<Poly, Stop> {
        self.meter.spend(10 + 10 * (a.0.len() + b.0.len()) as u64)?;
        let mut out = Vec::with_capacity(a.0.len() + b.0.len());
        let (mut left, mut right) = (a.0.iter().peekable(), b.0.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(one), Some(two)) => one.0.cmp(&two.0),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            if order.is_eq() {
                if let (Some(one), Some(two)) = (left.next(), right.next()) {
                    let sum = &one.1 + &two.1;
                    if !sum.is_zero() {
                        out.push((one.0.clone(), sum));
                    }
                }
            } else {
                out.extend(if order.is_lt() { left.next() } else { right.next() }.cloned());
            }
        }
        capped(Poly(out))
    }

    pub(super) fn mul_poly(&mut self, a: &Poly, b: &Poly) -> Result<Poly, Stop> {
        if a.is_one() {
            return Ok(b.clone());
        }
        if b.is_one() {
            return Ok(a.clone());
        }
        let pairs = a.0.len().saturating_mul(b.0.len());
        if pairs > 16 * TERMS_MAX {
            return Err(Stop::Cap);
        }
        let mut terms = Vec::with_capacity(pairs);
        for (one, left) in &a.0 {
            for (two, right) in &b.0 {
                self.meter.spend(product_cost(left, right))?;
                let coef = left * right;
                if number::bits(&coef) > 2 * number::BITS_MAX {
                    return Err(Stop::Cap);
                }
                let mono = mul_mono(one, two)?;
                if mono.iter().any(|(atom, exp)| self.reducible(*atom, *exp)) {
                    terms.extend(self.term(coef, &mono)?.0);
                } else {
                    terms.push((mono, coef));
                }
            }
        }
        capped(Poly::collected(terms))
    }

    /// Whether a power of an atom can be written without it, or with less of it.
    fn reducible(&self, atom: Atom, exp: Exp) -> bool {
        match self.kind(atom) {
            Some(Kind::Prime(_)) => exp.floor() != 0 && exp.floor().abs() <= 1 << 14,
            Some(Kind::Imaginary) => exp.is_int() && !(0..2).contains(&exp.num),
            Some(Kind::Sin(_)) => exp.is_int() && (2..=EXPAND_MAX).contains(&exp.num),
            Some(Kind::Base(_)) => (1..=EXPAND_MAX).contains(&exp.floor()),
            Some(Kind::Power(base, _)) => {
                matches!(self.kind(*base), Some(Kind::Minus))
                    && exp.is_int()
                    && !(0..2).contains(&exp.num)
            }
            _ => false,
        }
    }

    /// A coefficient times a product of powers, with every power reduced.
    pub(super) fn term(&mut self, coef: RBig, mono: &[(Atom, Exp)]) -> Result<Poly, Stop> {
        let mut coef = coef;
        let mut plain = Mono::with_capacity(mono.len());
        let mut factors: Vec<(Poly, i64)> = Vec::new();
        for &(atom, exp) in mono {
            if !self.reducible(atom, exp) {
                plain.push((atom, exp));
                continue;
            }
            let mut rest = exp.fraction();
            match self.kind(atom).cloned() {
                Some(Kind::Prime(prime)) => {
                    coef *= number::power(&RBig::from(prime), exp.floor(), self.meter)?;
                }
                Some(Kind::Imaginary) => {
                    if matches!(exp.num.rem_euclid(4), 2 | 3) {
                        coef = -coef;
                    }
                    rest = Exp::int(exp.num.rem_euclid(2));
                }
                Some(Kind::Power(..)) => rest = Exp::int(exp.num.rem_euclid(2)),
                Some(Kind::Sin(arg)) => {
                    let cosine = self.atom(Kind::Cos(arg))?;
                    let square = Poly(vec![
                        (Mono::new(), RBig::ONE),
                        (vec![(cosine, Exp::int(2))], -RBig::ONE),
                    ]);
                    factors.push((square, exp.num / 2));
                    rest = Exp::int(exp.num % 2);
                }
                Some(Kind::Base(base)) => factors.push((base, exp.floor())),
                _ => rest = exp,
            }
            if !rest.is_zero() {
                plain.push((atom, rest));
            }
        }
        let mut out = Poly::collected(vec![(plain, coef)]);
        for (factor, times) in factors {
            let power = self.pow_poly(&factor, times)?;
            out = self.mul_poly(&out, &power)?;
        }
        Ok(out)
    }

    /// A polynomial to a small positive power, written out.
    pub(super) fn pow_poly(&mut self, base: &Poly, exponent: i64) -> Result<Poly, Stop> {
        let mut result = Poly::constant(RBig::ONE);
        let mut square = base.clone();
        let mut left = exponent;
        while left > 0 {
            if left % 2 == 1 {
                result = self.mul_poly(&result, &square)?;
            }
            left /= 2;
            if left > 0 {
                square = self.mul_poly(&square, &square.clone())?;
            }
        }
        Ok(result)
    }

    pub(super) fn add(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        if a.den == b.den {
            let num = self.add_poly(&a.num, &b.num)?;
            return self.quotient(num, &a.den);
        }
        let left = self.mul_poly(&a.num, &b.den)?;
        let right = self.mul_poly(&b.num, &a.den)?;
        let num = self.add_poly(&left, &right)?;
        let den = self.mul_poly(&a.den, &b.den)?;
        self.quotient(num, &den)
    }

    pub(super) fn sub(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        let negative = Canon { num: b.num.neg(), den: b.den.clone() };
        self.add(a, &negative)
    }

    pub(super) fn mul(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        let num = self.mul_poly(&a.num, &b.num)?;
        let den = self.mul_poly(&a.den, &b.den)?;
        self.quotient(num, &den)
    }

    pub(super) fn div(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        if b.is_zero() {
            return Err(Stop::Undefined);
        }
        let num = self.mul_poly(&a.num, &b.den)?;
        let den = self.mul_poly(&a.den, &b.num)?;
        self.quotient(num, &den)
    }

    /// Numerator over denominator, with what can be divided out divided out.
    pub(super) fn quotient(&mut self, num: Poly, den: &Poly) -> Result<Canon, Stop> {
        if den.is_one() {
            return Ok(Canon::poly(num));
        }
        if den.is_zero() {
            return Err(Stop::Undefined);
        }
        if num.is_zero() {
            return Ok(Canon::rational(RBig::ZERO));
        }
        if num == *den {
            return Ok(Canon::rational(RBig::ONE));
        }
        let [(mono, coef)] = den.0.as_slice() else { return Ok(divide_content(&num, den)) };
        let (mut inverse, mut stays) = (Mono::new(), Mono::new());
        for &(atom, exp) in mono {
            match self.kind(atom) {
                Some(Kind::Base(_) | Kind::Sin(_)) => stays.push((atom, exp)),
                _ => inverse.push((atom, exp.neg()?)),
            }
        }
        let factor = self.term(RBig::ONE / coef, &inverse)?;
        let num = self.mul_poly(&num, &factor)?;
        Ok(Canon { num, den: Poly(vec![(stays, RBig::ONE)]) })
    }

    /// Whether two forms are equal, by multiplying across.
    pub(super) fn equal(&mut self, a: &Canon, b: &Canon) -> Result<bool, Stop> {
        if a.den == b.den {
            return Ok(a.num == b.num);
        }
        let left = self.mul_poly(&a.num, &b.den)?;
        let right = self.mul_poly(&b.num, &a.den)?;
        Ok(left == right)
    }
}

fn divide_content(num: &Poly, den: &Poly) -> Canon {
    let content = den.content();
    let content = if den.leads_negative() { -content } else { content };
    let inverse = RBig::ONE / content;
    Canon { num: num.scaled(&inverse), den: den.scaled(&inverse) }
}

/// Two coefficients multiplied, and the monomials beside them.
fn product_cost(left: &RBig, right: &RBig) -> u64 {
    let words = |value: &RBig| number::bits(value) as u64 / 64 + 1;
    70 + words(left).saturating_mul(words(right)) * 2
}

fn capped(poly: Poly) -> Result<Poly, Stop> {
    if poly.0.len() > TERMS_MAX { Err(Stop::Cap) } else { Ok(poly) }
}

/// The product of two monomials, not yet reduced.
pub(super) fn mul_mono(a: &[(Atom, Exp)], b: &[(Atom, Exp)]) -> Result<Mono, Stop> {
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
