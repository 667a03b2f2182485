//! The context of one comparison, the table of its atoms, and exact arithmetic on canonical forms.

use dashu_ratio::RBig;

use super::exponent::Exp;
use super::poly::{Atom, Canon, Kind, Mono, Poly, mul_mono};
use crate::meter::Meter;
use crate::number::{self, BITS_MAX, bits};
use crate::settings::Dates;
use crate::stop::Stop;

/// The most terms of one polynomial.
const TERMS_MAX: usize = 4096;
/// Powers of sums are expanded up to this exponent; higher ones stay powers.
pub(crate) const EXPAND_MAX: i64 = 24;

/// The atoms of one comparison, and the meter that pays for it.
pub struct Context {
    pub(crate) atoms: Vec<Kind>,
    /// Whether the value of each atom depends on a variable.
    varying: Vec<bool>,
    /// What pays for the comparison.
    pub meter: Meter<'static>,
    /// A `\log` without a base was seen; it may be the natural or the decimal one.
    pub bare_log: bool,
    /// Read a `\log` without a base as the natural one.
    pub(crate) natural_log: bool,
    /// How dates in numbers are read.
    pub dates: Dates,
}

impl Context {
    /// A context without atoms.
    pub fn new(meter: Meter<'static>) -> Self {
        Self {
            atoms: Vec::new(),
            varying: Vec::new(),
            meter,
            bare_log: false,
            natural_log: false,
            dates: Dates::default(),
        }
    }

    /// Forgets all atoms; a `\log` without a base is the natural one from now on.
    pub fn restart_with_natural_log(&mut self) {
        (self.atoms, self.varying) = (Vec::new(), Vec::new());
        self.natural_log = true;
    }

    pub(crate) fn kind(&self, atom: Atom) -> Option<&Kind> {
        self.atoms.get(atom as usize)
    }

    /// The atom of this kind, new or known.
    pub(crate) fn atom(&mut self, kind: Kind) -> Result<Atom, Stop> {
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
    #[expect(clippy::indexing_slicing, reason = "atoms are numbers that `atom` gave")]
    pub(crate) fn varies(&self, atom: Atom) -> bool {
        self.varying[atom as usize]
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

    pub(crate) fn mono_varies(&self, mono: &[(Atom, Exp)]) -> bool {
        mono.iter().any(|(atom, _)| self.varies(*atom))
    }

    /// Whether a variable occurs anywhere in the form.
    pub(crate) fn has_variable(&self, value: &Canon) -> bool {
        value.monomials().any(|mono| self.mono_varies(mono))
    }

    pub(crate) fn of(&mut self, kind: Kind) -> Result<Canon, Stop> {
        let atom = self.atom(kind)?;
        Ok(Canon::atom(atom, Exp::ONE))
    }

    /// A function that stays opaque. Arguments that are equal make the same atom.
    pub(crate) fn opaque(&mut self, name: &'static str, args: Vec<Canon>) -> Result<Canon, Stop> {
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

    fn add_poly(&mut self, a: &Poly, b: &Poly) -> Result<Poly, Stop> {
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

    pub(crate) fn mul_poly(&mut self, a: &Poly, b: &Poly) -> Result<Poly, Stop> {
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
                if bits(&coef) > 2 * BITS_MAX {
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

    /// Whether a power of an atom can be reduced: written without it, or with a lower power.
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
    pub(crate) fn term(&mut self, coef: RBig, mono: &[(Atom, Exp)]) -> Result<Poly, Stop> {
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
                    coef *= number::power(&RBig::from(prime), exp.floor(), &mut self.meter)?;
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

    /// A polynomial to a small positive power, expanded.
    pub(crate) fn pow_poly(&mut self, base: &Poly, exponent: i64) -> Result<Poly, Stop> {
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

    pub(crate) fn add(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
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

    pub(crate) fn sub(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        let negative = Canon { num: b.num.neg(), den: b.den.clone() };
        self.add(a, &negative)
    }

    pub(crate) fn mul(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        let num = self.mul_poly(&a.num, &b.num)?;
        let den = self.mul_poly(&a.den, &b.den)?;
        self.quotient(num, &den)
    }

    pub(crate) fn div(&mut self, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
        if b.is_zero() {
            return Err(Stop::Undefined);
        }
        let num = self.mul_poly(&a.num, &b.den)?;
        let den = self.mul_poly(&a.den, &b.num)?;
        self.quotient(num, &den)
    }

    /// Numerator over denominator, reduced: a divisor of one term is multiplied into the numerator.
    pub(crate) fn quotient(&mut self, num: Poly, den: &Poly) -> Result<Canon, Stop> {
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

    /// Whether two forms are equal, by cross-multiplication.
    pub(crate) fn equal(&mut self, a: &Canon, b: &Canon) -> Result<bool, Stop> {
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

/// The cost of the product of two terms.
fn product_cost(left: &RBig, right: &RBig) -> u64 {
    let words = |value: &RBig| bits(value) as u64 / 64 + 1;
    70 + words(left).saturating_mul(words(right)) * 2
}

fn capped(poly: Poly) -> Result<Poly, Stop> {
    if poly.0.len() > TERMS_MAX { Err(Stop::Cap) } else { Ok(poly) }
}
