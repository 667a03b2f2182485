//! Powers, roots, logarithms, trigonometry and the other functions on canonical forms.

use dashu_base::{Signed as _, UnsignedAbs as _};
use dashu_int::UBig;
use dashu_ratio::RBig;

use super::Stop;
use super::number::{self, Exp};
use super::poly::{Canon, Ctx, EXPAND_MAX, Kind, Mono, Poly};

impl Ctx<'_, '_> {
    /// `base` to the `exponent`.
    pub(super) fn pow(&mut self, base: &Canon, exponent: &Canon) -> Result<Canon, Stop> {
        if base.is_zero() {
            let positive =
                exponent.as_rational().is_none_or(|value| value.is_positive() && !value.is_zero());
            return if positive { Ok(Canon::int(0)) } else { Err(Stop::Undefined) };
        }
        if let Some(value) = exponent.as_rational() {
            let exp = Exp::from_rational(&value).ok_or(Stop::Cap)?;
            return if exp.is_int() { self.pow_int(base, exp.num) } else { self.root(base, exp) };
        }
        if !exponent.den.is_one() {
            return self.opaque("pow", vec![base.clone(), exponent.clone()]);
        }
        let mut result = Canon::int(1);
        for (mono, coef) in exponent.num.0.clone() {
            let exp = Exp::from_rational(&coef).ok_or(Stop::Cap)?;
            let factor = if mono.is_empty() {
                self.pow(base, &Canon::rational(coef))?
            } else {
                self.pow_mono(base, exp, &mono)?
            };
            result = self.mul(&result, &factor)?;
        }
        Ok(result)
    }

    pub(super) fn pow_int(&mut self, base: &Canon, exponent: i64) -> Result<Canon, Stop> {
        if exponent == 0 {
            return Ok(Canon::int(1));
        }
        if exponent < 0 {
            let positive = exponent.checked_neg().ok_or(Stop::Cap)?;
            let power = self.pow_int(base, positive)?;
            return self.div(&Canon::int(1), &power);
        }
        let num = self.pow_whole(&base.num, exponent)?;
        let den = self.pow_whole(&base.den, exponent)?;
        self.quotient(num, &den)
    }

    fn pow_whole(&mut self, poly: &Poly, exponent: i64) -> Result<Poly, Stop> {
        if poly.is_one() {
            return Ok(poly.clone());
        }
        if let [(mono, coef)] = poly.0.as_slice() {
            let (mut out, coef) = (Mono::new(), coef.clone());
            for &(atom, exp) in mono {
                out.push((atom, exp.mul(Exp::int(exponent))?));
            }
            let scale = self.coefficient_power(&coef, exponent)?;
            let power = self.term(RBig::ONE, &out)?;
            return self.mul_poly(&scale, &power);
        }
        if exponent <= EXPAND_MAX {
            return self.pow_poly(poly, exponent);
        }
        let content = poly.content();
        let content = if poly.leads_negative() { -content } else { content };
        let base = self.atom(Kind::Base(poly.scaled(&(RBig::ONE / &content))))?;
        let scale = self.coefficient_power(&content, exponent)?;
        self.mul_poly(&scale, &Poly(vec![(vec![(base, Exp::int(exponent))], RBig::ONE)]))
    }

    /// A number to a whole power: computed where it fits, a product of prime powers otherwise.
    fn coefficient_power(&mut self, coef: &RBig, exponent: i64) -> Result<Poly, Stop> {
        match number::power(coef, exponent, self.meter) {
            Ok(value) => Ok(Poly::constant(value)),
            Err(Stop::Cap) => {
                let sign = if coef.is_negative() && exponent % 2 != 0 { -1 } else { 1 };
                let mono = self.prime_powers(coef, Exp::int(exponent))?;
                self.term(number::small(sign, 1), &mono)
            }
            Err(stop) => Err(stop),
        }
    }

    /// The size of a rational, to a power, as powers of primes.
    fn prime_powers(&mut self, value: &RBig, exp: Exp) -> Result<Mono, Stop> {
        let mut mono = Mono::new();
        let num = value.numerator().unsigned_abs();
        let den = value.denominator().clone();
        for (part, sign) in [(num, 1), (den, -1)] {
            for (prime, count) in number::factor(&part, self.meter)? {
                let atom = self.atom(Kind::Prime(prime))?;
                let power = exp.mul(Exp::int(sign * i64::from(count)))?;
                mono = super::poly::mul_mono(&mono, &[(atom, power)])?;
            }
        }
        Ok(mono)
    }

    /// `base` to the power of a monomial with a coefficient.
    fn pow_mono(&mut self, base: &Canon, exp: Exp, mono: &Mono) -> Result<Canon, Stop> {
        if !base.den.is_one() {
            let num = self.pow_mono(&Canon::poly(base.num.clone()), exp, mono)?;
            let den = self.pow_mono(&Canon::poly(base.den.clone()), exp, mono)?;
            return self.div(&num, &den);
        }
        let [(factors, coef)] = base.num.0.as_slice() else {
            let atom = self.atom(Kind::Base(base.num.clone()))?;
            return self.power_atom(atom, exp, mono);
        };
        let (factors, coef) = (factors.clone(), coef.clone());
        let mut result = Canon::int(1);
        if coef.is_negative() {
            let atom = self.atom(Kind::Minus)?;
            result = self.power_atom(atom, exp, mono)?;
        }
        let mut powers = self.prime_powers(&coef, Exp::ONE)?;
        powers.extend(factors);
        for (atom, inner) in powers {
            let factor = if self.is_turn(atom, mono) {
                self.turn(exp.mul(inner)?)?
            } else {
                self.power_atom(atom, exp.mul(inner)?, mono)?
            };
            result = self.mul(&result, &factor)?;
        }
        Ok(result)
    }

    fn power_atom(&mut self, atom: u32, exp: Exp, mono: &Mono) -> Result<Canon, Stop> {
        let power = self.atom(Kind::Power(atom, mono.clone()))?;
        self.term(RBig::ONE, &[(power, exp)]).map(Canon::poly)
    }

    /// Whether this is e to a multiple of i pi.
    fn is_turn(&self, atom: u32, mono: &Mono) -> bool {
        let whole = |want: &Kind| {
            mono.iter().any(|(atom, exp)| *exp == Exp::ONE && self.kind(*atom) == Some(want))
        };
        self.kind(atom) == Some(&Kind::Euler)
            && mono.len() == 2
            && whole(&Kind::Imaginary)
            && whole(&Kind::Pi)
    }

    /// e to `times` i pi.
    fn turn(&mut self, times: Exp) -> Result<Canon, Stop> {
        let pi = self.of(Kind::Pi)?;
        let angle = self.mul(&pi, &Canon::rational(times.to_rational()))?;
        let (real, height) = (self.cos(&angle)?, self.sin(&angle)?);
        let unit = self.of(Kind::Imaginary)?;
        let height = self.mul(&unit, &height)?;
        self.add(&real, &height)
    }

    /// `base` to a power that is not whole.
    pub(super) fn root(&mut self, base: &Canon, exp: Exp) -> Result<Canon, Stop> {
        if exp.num < 0 {
            let power = self.root(base, exp.neg()?)?;
            return self.div(&Canon::int(1), &power);
        }
        let num = self.root_poly(&base.num, exp)?;
        let den = self.root_poly(&base.den, exp)?;
        self.div(&num, &den)
    }

    fn root_poly(&mut self, poly: &Poly, exp: Exp) -> Result<Canon, Stop> {
        if poly.is_zero() || poly.is_one() {
            return Ok(Canon::poly(poly.clone()));
        }
        let single = poly.0.len() == 1;
        let mut content =
            if let [(_, coef)] = poly.0.as_slice() { coef.clone() } else { poly.content() };
        let even = exp.den % 2 == 0;
        if !single && poly.leads_negative() && !even {
            content = -content;
        }
        let outside = self.root_rational(&content, exp)?;
        let inside = poly.scaled(&(RBig::ONE / &content));
        if let [(mono, _)] = inside.0.as_slice() {
            let inner = self.root_mono(&mono.clone(), exp)?;
            return self.mul(&outside, &inner);
        }
        if let Some(whole) = self.denested(&inside, exp)? {
            return self.mul(&outside, &whole);
        }
        let atom = self.atom(Kind::Base(inside))?;
        let inner = Canon::poly(self.term(RBig::ONE, &[(atom, exp)])?);
        self.mul(&outside, &inner)
    }

    /// The real root where there is one; square roots of negative numbers are imaginary.
    fn root_rational(&mut self, value: &RBig, exp: Exp) -> Result<Canon, Stop> {
        let mono = self.prime_powers(value, exp)?;
        let size = Canon::poly(self.term(RBig::ONE, &mono)?);
        if !value.is_negative() {
            return Ok(size);
        }
        let sign = if exp.den % 2 == 1 {
            Canon::int(if exp.num % 2 == 0 { 1 } else { -1 })
        } else if exp.den == 2 {
            let unit = self.of(Kind::Imaginary)?;
            self.pow_int(&unit, exp.num)?
        } else {
            self.opaque("unity", vec![Canon::rational(exp.to_rational())])?
        };
        self.mul(&sign, &size)
    }

    fn root_mono(&mut self, mono: &Mono, exp: Exp) -> Result<Canon, Stop> {
        let mut result = Canon::int(1);
        for &(atom, inner) in mono {
            let power = exp.mul(inner)?;
            let signless = inner.is_int() && inner.num % 2 == 0 && exp.den % 2 == 0;
            let signed = !self.positive(atom);
            let factor = if signless && signed && !(power.is_int() && power.num % 2 == 0) {
                let plain = Canon::atom(atom, Exp::ONE);
                let size = self.abs(&plain)?;
                self.pow(&size, &Canon::rational(power.to_rational()))?
            } else {
                Canon::poly(self.term(RBig::ONE, &[(atom, power)])?)
            };
            result = self.mul(&result, &factor)?;
        }
        Ok(result)
    }

    /// Whether an atom stands for a positive real number.
    fn positive(&self, atom: u32) -> bool {
        match self.kind(atom) {
            Some(Kind::Prime(_) | Kind::Pi | Kind::Euler | Kind::Ln(_)) => true,
            Some(Kind::Fun(name, _)) => *name == "abs",
            Some(Kind::Power(base, _)) => self.positive(*base),
            _ => false,
        }
    }

    /// `sqrt(a + b sqrt(c))` as a sum of two roots, where `a^2 - b^2 c` is a square.
    fn denested(&mut self, poly: &Poly, exp: Exp) -> Result<Option<Canon>, Stop> {
        let [(none, a), (mono, b)] = poly.0.as_slice() else { return Ok(None) };
        let primes = mono.iter().all(|(atom, inner)| {
            inner.den == 2 && matches!(self.kind(*atom), Some(Kind::Prime(_)))
        });
        if exp != (Exp { num: 1, den: 2 }) || !none.is_empty() || !primes || a.is_negative() {
            return Ok(None);
        }
        let (a, b) = (a.clone(), b.clone());
        let surd = Canon::poly(Poly(vec![(mono.clone(), b.clone())]));
        let square = self.mul(&surd, &surd.clone())?.as_rational();
        let Some(rest) = square.map(|square| &a * &a - square) else { return Ok(None) };
        let Some(root) = number::exact_sqrt(&rest) else { return Ok(None) };
        let half = number::small(1, 2);
        let one = self.root_rational(&((&a + &root) * &half), exp)?;
        let two = self.root_rational(&((&a - &root) * &half), exp)?;
        let sum = if b.is_negative() { self.sub(&one, &two)? } else { self.add(&one, &two)? };
        Ok(Some(sum))
    }

    pub(super) fn abs(&mut self, value: &Canon) -> Result<Canon, Stop> {
        if let Some(value) = value.as_rational() {
            return Ok(Canon::rational(if value.is_negative() { -value } else { value }));
        }
        if let Some((approx, error)) = self.approx(value)
            && approx.abs() > error
        {
            return Ok(if approx < 0.0 { negated(value) } else { value.clone() });
        }
        if let [(mono, coef)] = value.num.0.as_slice()
            && value.den.is_one()
            && !(coef.is_one() && mono.len() == 1)
        {
            let (mono, coef) = (mono.clone(), coef.clone());
            let mut result = self.abs(&Canon::rational(coef))?;
            for &(atom, exp) in &mono {
                let plain = Canon::atom(atom, Exp::ONE);
                let even = exp.is_int() && exp.num % 2 == 0;
                let part = if even || self.positive(atom) { plain } else { self.abs(&plain)? };
                let part = self.pow(&part, &Canon::rational(exp.to_rational()))?;
                result = self.mul(&result, &part)?;
            }
            return Ok(result);
        }
        let value = if value.num.leads_negative() { negated(value) } else { value.clone() };
        self.opaque("abs", vec![value])
    }

    /// The natural logarithm: of a number the sum over its primes.
    pub(super) fn ln(&mut self, value: &Canon) -> Result<Canon, Stop> {
        let ([(mono, coef)], true) = (value.num.0.as_slice(), value.den.is_one()) else {
            return self.opaque("ln", vec![value.clone()]);
        };
        let known = mono.iter().all(|(atom, _)| {
            matches!(self.kind(*atom), Some(Kind::Prime(_) | Kind::Euler))
                || matches!(self.kind(*atom), Some(Kind::Power(base, _)) if self.positive(*base))
        });
        if !coef.is_positive() || !known {
            return self.opaque("ln", vec![value.clone()]);
        }
        let (mono, coef) = (mono.clone(), coef.clone());
        let mut factors = self.prime_powers(&coef, Exp::ONE)?;
        factors.extend(mono);
        let mut sum = Canon::int(0);
        for (atom, exp) in factors {
            let part = match self.kind(atom).cloned() {
                Some(Kind::Prime(prime)) => self.of(Kind::Ln(prime))?,
                Some(Kind::Power(base, inner)) => {
                    let base = Canon::atom(base, Exp::ONE);
                    let log = self.ln(&base)?;
                    self.mul(&log, &Canon::poly(Poly(vec![(inner, RBig::ONE)])))?
                }
                _ => Canon::int(1),
            };
            let part = self.mul(&part, &Canon::rational(exp.to_rational()))?;
            sum = self.add(&sum, &part)?;
        }
        Ok(sum)
    }

    /// The logarithm to a base.
    pub(super) fn log(&mut self, base: &Canon, value: &Canon) -> Result<Canon, Stop> {
        let (top, bottom) = (self.ln(value)?, self.ln(base)?);
        self.div(&top, &bottom)
    }

    /// A `\log` whose base nobody named.
    pub(super) fn log_bare(&mut self, value: &Canon) -> Result<Canon, Stop> {
        self.bare_log = true;
        if self.natural_log { self.ln(value) } else { self.log(&Canon::int(10), value) }
    }

    /// Floor and ceiling of numbers; opaque with variables.
    pub(super) fn rounded(&mut self, value: &Canon, up: bool) -> Result<Canon, Stop> {
        let name = if up { "ceil" } else { "floor" };
        if let Some(value) = value.as_rational() {
            let (floor, ceil) = (value.floor(), value.ceil());
            return Ok(Canon::rational(RBig::from(if up { ceil } else { floor })));
        }
        if let Some((approx, error)) = self.approx(value)
            && approx.abs() < 1e9
            && (approx + error).floor() - (approx - error).floor() < 0.5
        {
            #[expect(clippy::cast_possible_truncation, reason = "smaller than 1e9")]
            let whole = approx.floor() as i64;
            return Ok(Canon::int(if up { whole + 1 } else { whole }));
        }
        self.opaque(name, vec![value.clone()])
    }

    /// `n!`, computed where it is small enough.
    pub(super) fn factorial(&mut self, value: &Canon) -> Result<Canon, Stop> {
        if let Some(n) = value.as_rational()
            && let Ok(product) = number::factorial(&n, self.meter)
        {
            return Ok(Canon::rational(product));
        }
        self.opaque("factorial", vec![value.clone()])
    }

    /// `n` choose `k`: a number, a polynomial in `n` for small `k`, or opaque.
    pub(super) fn binomial(&mut self, n: &Canon, k: &Canon) -> Result<Canon, Stop> {
        if let (Some(n), Some(k)) = (n.as_rational(), k.as_rational())
            && let Ok(value) = number::binomial(&n, &k, self.meter)
        {
            return Ok(Canon::rational(value));
        }
        let Some(count) = k.as_rational().and_then(|k| number::whole(&k)) else {
            return self.opaque("binom", vec![n.clone(), k.clone()]);
        };
        if !(0..=12).contains(&count) {
            return self.opaque("binom", vec![n.clone(), k.clone()]);
        }
        let mut value = Canon::int(1);
        for step in 0..count {
            let factor = self.sub(n, &Canon::int(step))?;
            value = self.mul(&value, &factor)?;
            value = self.mul(&value, &Canon::rational(number::small(1, step + 1)))?;
        }
        Ok(value)
    }

    /// The number written as `digits` in `base`, where the digits fit it.
    pub(super) fn based(digits: &str, base: u32) -> Option<RBig> {
        let digits: String = digits.chars().filter(char::is_ascii_alphanumeric).collect();
        if !(2..=36).contains(&base) {
            return None;
        }
        UBig::from_str_radix(&digits, base).ok().map(RBig::from)
    }
}

/// The same with the other sign.
pub(super) fn negated(value: &Canon) -> Canon {
    Canon { num: value.num.neg(), den: value.den.clone() }
}
