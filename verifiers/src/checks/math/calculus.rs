//! Derivatives, antiderivatives, limits and sums of canonical forms.
//!
//! What is not found stays opaque: an operator without a value equals only itself.

use dashu_ratio::RBig;

use super::Stop;
use super::algebra::negated;
use super::number::{self, Exp, small};
use super::poly::{Atom, Canon, Ctx, Kind, Mono, Poly};

/// A sum or product of more terms than this is not written out.
const TERMS_MAX: i64 = 2_000;
/// Powers beyond this are not summed in closed form.
const DEGREE_MAX: i64 = 12;
/// How often numerator and denominator are derived before a limit is given up.
const LHOPITAL_MAX: usize = 6;

/// Where a variable tends to.
pub(super) enum Target {
    At(Canon),
    Infinity { negative: bool },
}

fn one_atom(atom: Atom, exp: Exp) -> Canon {
    Canon::poly(Poly(vec![(vec![(atom, exp)], RBig::ONE)]))
}

impl Ctx<'_, '_> {
    /// The form with a value in the place of a variable, inside of functions too.
    pub(super) fn with_value(
        &mut self,
        form: &Canon,
        variable: Atom,
        value: &Canon,
    ) -> Result<Canon, Stop> {
        let num = self.poly_with_value(&form.num, variable, value)?;
        let den = self.poly_with_value(&form.den, variable, value)?;
        self.div(&num, &den)
    }

    fn poly_with_value(
        &mut self,
        poly: &Poly,
        variable: Atom,
        value: &Canon,
    ) -> Result<Canon, Stop> {
        let mut sum = Canon::int(0);
        for (mono, coef) in &poly.0 {
            let term = self.mono_with_value(mono, variable, value)?;
            let term = self.mul(&term, &Canon::rational(coef.clone()))?;
            sum = self.add(&sum, &term)?;
        }
        Ok(sum)
    }

    fn mono_with_value(
        &mut self,
        mono: &Mono,
        variable: Atom,
        value: &Canon,
    ) -> Result<Canon, Stop> {
        let mut product = Canon::int(1);
        for &(atom, exp) in mono {
            let base = self.atom_with_value(atom, variable, value)?;
            let power = self.pow(&base, &Canon::rational(exp.to_rational()))?;
            product = self.mul(&product, &power)?;
        }
        Ok(product)
    }

    fn atom_with_value(
        &mut self,
        atom: Atom,
        variable: Atom,
        value: &Canon,
    ) -> Result<Canon, Stop> {
        self.meter.spend(20)?;
        if atom == variable {
            return Ok(value.clone());
        }
        match self.kind(atom).cloned() {
            Some(Kind::Sin(arg)) => {
                let arg = self.with_value(&arg, variable, value)?;
                self.sin(&arg)
            }
            Some(Kind::Cos(arg)) => {
                let arg = self.with_value(&arg, variable, value)?;
                self.cos(&arg)
            }
            Some(Kind::Base(base)) => self.poly_with_value(&base, variable, value),
            Some(Kind::Power(base, mono)) => {
                let base = self.atom_with_value(base, variable, value)?;
                let exponent = self.mono_with_value(&mono, variable, value)?;
                self.pow(&base, &exponent)
            }
            Some(Kind::Fun(name, args)) => {
                let mut values = Vec::with_capacity(args.len());
                for arg in &args {
                    values.push(self.with_value(arg, variable, value)?);
                }
                match (name, values.as_slice()) {
                    ("pow", [base, exponent]) => self.pow(base, exponent),
                    ("factorial", [n]) => self.factorial(n),
                    _ => self.apply(name, values),
                }
            }
            _ => Ok(one_atom(atom, Exp::ONE)),
        }
    }

    /// The derivative by a variable.
    pub(super) fn derivative(&mut self, form: &Canon, by: Atom) -> Result<Canon, Stop> {
        let top = self.poly_derivative(&form.num, by)?;
        if form.den.is_one() {
            return Ok(top);
        }
        let below = self.poly_derivative(&form.den, by)?;
        let (num, den) = (Canon::poly(form.num.clone()), Canon::poly(form.den.clone()));
        let (left, right) = (self.mul(&top, &den)?, self.mul(&num, &below)?);
        let difference = self.sub(&left, &right)?;
        let square = self.mul(&den, &den.clone())?;
        self.div(&difference, &square)
    }

    fn poly_derivative(&mut self, poly: &Poly, by: Atom) -> Result<Canon, Stop> {
        let mut sum = Canon::int(0);
        for (mono, coef) in &poly.0 {
            let term = self.mono_derivative(mono, by)?;
            let term = self.mul(&term, &Canon::rational(coef.clone()))?;
            sum = self.add(&sum, &term)?;
        }
        Ok(sum)
    }

    fn mono_derivative(&mut self, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
        let mut sum = Canon::int(0);
        for (at, &(atom, exp)) in mono.iter().enumerate() {
            let inner = self.atom_derivative(atom, by)?;
            if inner.is_zero() {
                continue;
            }
            let rest: Mono = mono
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, part)| *part)
                .collect();
            let lower = exp.add(Exp::int(-1))?;
            let mut term = Canon::poly(self.term(exp.to_rational(), &rest)?);
            if !lower.is_zero() {
                let power =
                    self.pow(&one_atom(atom, Exp::ONE), &Canon::rational(lower.to_rational()))?;
                term = self.mul(&term, &power)?;
            }
            term = self.mul(&term, &inner)?;
            sum = self.add(&sum, &term)?;
        }
        Ok(sum)
    }

    fn atom_derivative(&mut self, atom: Atom, by: Atom) -> Result<Canon, Stop> {
        self.meter.spend(50)?;
        if atom == by {
            return Ok(Canon::int(1));
        }
        if !self.varies(atom) {
            return Ok(Canon::int(0));
        }
        match self.kind(atom).cloned() {
            Some(Kind::Var(_)) => Ok(Canon::int(0)),
            Some(Kind::Sin(arg)) => {
                let (outer, inner) = (self.cos(&arg)?, self.derivative(&arg, by)?);
                self.mul(&outer, &inner)
            }
            Some(Kind::Cos(arg)) => {
                let (outer, inner) = (self.sin(&arg)?, self.derivative(&arg, by)?);
                Ok(negated(&self.mul(&outer, &inner)?))
            }
            Some(Kind::Base(base)) => self.poly_derivative(&base, by),
            Some(Kind::Power(base, mono)) => {
                let exponent = Canon::poly(self.term(RBig::ONE, &mono)?);
                let base = one_atom(base, Exp::ONE);
                self.power_derivative(&base, &exponent, &one_atom(atom, Exp::ONE), by)
            }
            Some(Kind::Fun("pow", args)) => {
                let [base, exponent] = args.as_slice() else { return Err(Stop::Cap) };
                self.power_derivative(base, exponent, &one_atom(atom, Exp::ONE), by)
            }
            Some(Kind::Fun(name, args)) => {
                let [arg] = args.as_slice() else { return Err(Stop::Cap) };
                let inner = self.derivative(arg, by)?;
                if inner.is_zero() {
                    return Ok(inner);
                }
                let outer = self.outer_derivative(name, arg)?;
                self.mul(&outer, &inner)
            }
            _ => Ok(Canon::int(0)),
        }
    }

    /// The derivative of a base to an exponent: the power times that of its logarithm.
    fn power_derivative(
        &mut self,
        base: &Canon,
        exponent: &Canon,
        power: &Canon,
        by: Atom,
    ) -> Result<Canon, Stop> {
        let (slope, rise) = (self.derivative(exponent, by)?, self.derivative(base, by)?);
        let mut sum = Canon::int(0);
        if !slope.is_zero() {
            let log = self.ln(base)?;
            sum = self.mul(&slope, &log)?;
        }
        if !rise.is_zero() {
            let part = self.mul(exponent, &rise)?;
            let part = self.div(&part, base)?;
            sum = self.add(&sum, &part)?;
        }
        self.mul(&sum, power)
    }

    fn outer_derivative(&mut self, name: &str, arg: &Canon) -> Result<Canon, Stop> {
        let square = self.mul(arg, &arg.clone())?;
        let one = Canon::int(1);
        let half = Canon::rational(small(-1, 2));
        match name {
            "ln" => self.div(&one, arg),
            "arctan" | "arccot" => {
                let sum = self.add(&one, &square)?;
                self.div(&Canon::int(if name == "arctan" { 1 } else { -1 }), &sum)
            }
            "arcsin" | "arccos" => {
                let rest = self.sub(&one, &square)?;
                let slope = self.pow(&rest, &half)?;
                Ok(if name == "arcsin" { slope } else { negated(&slope) })
            }
            "sinh" => self.apply("cosh", vec![arg.clone()]),
            "cosh" => self.apply("sinh", vec![arg.clone()]),
            "tanh" => {
                let wave = self.apply("cosh", vec![arg.clone()])?;
                self.pow_int(&wave, -2)
            }
            _ => Err(Stop::Cap),
        }
    }

    /// The limit as a variable tends to a point: by its value there, or by l'Hospital's rule.
    pub(super) fn limit(
        &mut self,
        form: &Canon,
        variable: Atom,
        target: &Target,
    ) -> Result<Canon, Stop> {
        match target {
            Target::At(point) => self.limit_at(form, variable, point),
            Target::Infinity { negative } => {
                // x = 1/t, and t tends to zero.
                let inverse = one_atom(variable, Exp::int(-1));
                let inverse = if *negative { negated(&inverse) } else { inverse };
                let near_zero = self.with_value(form, variable, &inverse)?;
                self.limit_at(&near_zero, variable, &Canon::int(0))
            }
        }
    }

    fn limit_at(&mut self, form: &Canon, variable: Atom, point: &Canon) -> Result<Canon, Stop> {
        if let Some(limit) = self.limit_of_power(form, variable, point)? {
            return Ok(limit);
        }
        let (mut top, mut below) = self.cleared(form, variable)?;
        for _ in 0..LHOPITAL_MAX {
            let bottom = self.with_value(&below, variable, point)?;
            let value = self.with_value(&top, variable, point)?;
            if !bottom.is_zero() {
                return self.div(&value, &bottom);
            }
            if !value.is_zero() {
                return Err(Stop::Undefined);
            }
            (top, below) = (self.derivative(&top, variable)?, self.derivative(&below, variable)?);
            let quotient = self.div(&top, &below)?;
            (top, below) = self.cleared(&quotient, variable)?;
        }
        Err(Stop::Cap)
    }

    /// Numerator and denominator without negative powers of the variable.
    fn cleared(&mut self, form: &Canon, variable: Atom) -> Result<(Canon, Canon), Stop> {
        let lowest = |poly: &Poly| {
            let exps = poly
                .0
                .iter()
                .flat_map(|(mono, _)| mono.iter().filter(|(atom, _)| *atom == variable));
            exps.map(|(_, exp)| exp.floor()).min().unwrap_or(0).min(0)
        };
        let shift = lowest(&form.num).min(lowest(&form.den));
        let factor = one_atom(variable, Exp::int(shift.checked_neg().ok_or(Stop::Cap)?));
        let (num, den) = (Canon::poly(form.num.clone()), Canon::poly(form.den.clone()));
        if shift == 0 {
            return Ok((num, den));
        }
        Ok((self.mul(&num, &factor)?, self.mul(&den, &factor)?))
    }

    /// A single power of varying base and exponent: e to the limit of exponent times logarithm.
    fn limit_of_power(
        &mut self,
        form: &Canon,
        variable: Atom,
        point: &Canon,
    ) -> Result<Option<Canon>, Stop> {
        let ([(mono, coef)], true) = (form.num.0.as_slice(), form.den.is_one()) else {
            return Ok(None);
        };
        let [(atom, exp)] = mono.as_slice() else { return Ok(None) };
        let (base, exponent) = match self.kind(*atom).cloned() {
            Some(Kind::Power(base, inner)) if self.varies(base) => {
                (one_atom(base, Exp::ONE), Canon::poly(self.term(RBig::ONE, &inner)?))
            }
            Some(Kind::Fun("pow", args)) => match args.as_slice() {
                [base, exponent] => (base.clone(), exponent.clone()),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let log = self.ln(&base)?;
        let product = self.mul(&log, &exponent)?;
        let product = self.mul(&product, &Canon::rational(exp.to_rational()))?;
        let limit = self.limit_at(&product, variable, point)?;
        let euler = self.of(Kind::Euler)?;
        let power = self.pow(&euler, &limit)?;
        self.mul(&power, &Canon::rational(coef.clone())).map(Some)
    }

    /// The sum (or the product) of a form over whole numbers from `from` to `to`; `None` for `to`
    /// is infinity.
    pub(super) fn series(
        &mut self,
        form: &Canon,
        variable: Atom,
        from: &Canon,
        to: Option<&Canon>,
        product: bool,
    ) -> Result<Canon, Stop> {
        let whole = |value: &Canon| value.as_rational().and_then(|value| number::whole(&value));
        if let (Some(first), Some(last)) = (whole(from), to.and_then(whole)) {
            return self.written_out(form, variable, (first, last), product);
        }
        if product {
            return Err(Stop::Cap);
        }
        if let Some(sum) = self.geometric(form, variable, from, to)? {
            return Ok(sum);
        }
        match to {
            Some(to) => self.power_sums(form, variable, from, to),
            None => self.zeta(form, variable, from),
        }
    }

    fn written_out(
        &mut self,
        form: &Canon,
        variable: Atom,
        (first, last): (i64, i64),
        product: bool,
    ) -> Result<Canon, Stop> {
        if last.checked_sub(first).is_none_or(|terms| terms >= TERMS_MAX) {
            return Err(Stop::Cap);
        }
        let mut whole = Canon::int(i64::from(product));
        for at in first..=last {
            let term = self.with_value(form, variable, &Canon::int(at))?;
            whole = if product { self.mul(&whole, &term)? } else { self.add(&whole, &term)? };
        }
        Ok(whole)
    }

    /// A sum whose terms have a fixed ratio.
    fn geometric(
        &mut self,
        form: &Canon,
        variable: Atom,
        from: &Canon,
        to: Option<&Canon>,
    ) -> Result<Option<Canon>, Stop> {
        let next = self.add(&one_atom(variable, Exp::ONE), &Canon::int(1))?;
        let next = self.with_value(form, variable, &next)?;
        let ratio = self.div(&next, form)?;
        let slope = self.derivative(&ratio, variable)?;
        if !slope.is_zero() || self.equal(&ratio, &Canon::int(1))? {
            return Ok(None);
        }
        let first = self.with_value(form, variable, from)?;
        let rest = self.sub(&Canon::int(1), &ratio)?;
        let Some(to) = to else {
            let size = self.abs(&ratio)?;
            let shrinks = self.order(&size, &Canon::int(1))? == Some(std::cmp::Ordering::Less);
            return if shrinks { self.div(&first, &rest).map(Some) } else { Err(Stop::Undefined) };
        };
        let count = self.sub(to, from)?;
        let count = self.add(&count, &Canon::int(1))?;
        let last = self.pow(&ratio, &count)?;
        let part = self.sub(&Canon::int(1), &last)?;
        let part = self.mul(&first, &part)?;
        self.div(&part, &rest).map(Some)
    }

    /// The sum of a polynomial, by the sums of powers.
    fn power_sums(
        &mut self,
        form: &Canon,
        variable: Atom,
        from: &Canon,
        to: &Canon,
    ) -> Result<Canon, Stop> {
        let before = self.sub(from, &Canon::int(1))?;
        let mut sum = Canon::int(0);
        for (mono, coef) in &form.num.0.clone() {
            let degree = mono
                .iter()
                .find(|(atom, _)| *atom == variable)
                .map_or(Exp::int(0), |(_, exp)| *exp);
            if !degree.is_int() || !(0..=DEGREE_MAX).contains(&degree.num) {
                return Err(Stop::Cap);
            }
            let rest: Mono = mono.iter().filter(|(atom, _)| *atom != variable).copied().collect();
            let rest = Canon::poly(Poly(vec![(rest, coef.clone())]));
            let (upper, lower) =
                (self.power_sum(degree.num, to)?, self.power_sum(degree.num, &before)?);
            let part = self.sub(&upper, &lower)?;
            let part = self.mul(&part, &rest)?;
            sum = self.add(&sum, &part)?;
        }
        let den = Canon::poly(form.den.clone());
        let fixed = self.derivative(&den, variable)?.is_zero();
        if fixed { self.div(&sum, &den) } else { Err(Stop::Cap) }
    }

    /// `1^m + 2^m + ... + n^m` as a polynomial in `n`.
    fn power_sum(&mut self, m: i64, n: &Canon) -> Result<Canon, Stop> {
        let up = self.add(n, &Canon::int(1))?;
        let mut sums: Vec<Canon> = Vec::new();
        for power in 0..=m {
            let mut rest = self.pow_int(&up, power + 1)?;
            rest = self.sub(&rest, &Canon::int(1))?;
            for (j, sum) in (0i64..).zip(sums.clone()) {
                let choose = self.binomial(&Canon::int(power + 1), &Canon::int(j))?;
                let part = self.mul(&choose, &sum)?;
                rest = self.sub(&rest, &part)?;
            }
            sums.push(self.mul(&rest, &Canon::rational(small(1, power + 1)))?);
        }
        sums.pop().ok_or(Stop::Cap)
    }

    /// `1 + 1/2^m + 1/3^m + ...` for even `m`.
    fn zeta(&mut self, form: &Canon, variable: Atom, from: &Canon) -> Result<Canon, Stop> {
        const VALUES: [(i64, i64); 4] = [(2, 6), (4, 90), (6, 945), (8, 9450)];
        let first = from.as_rational().and_then(|value| number::whole(&value));
        let ([(mono, coef)], true, Some(1)) = (form.num.0.as_slice(), form.den.is_one(), first)
        else {
            return Err(Stop::Cap);
        };
        let [(atom, exp)] = mono.as_slice() else { return Err(Stop::Cap) };
        let value = VALUES.iter().find(|(m, _)| *exp == Exp::int(-m) && *atom == variable);
        let (m, below) = value.copied().ok_or(Stop::Cap)?;
        let pi = self.of(Kind::Pi)?;
        let power = self.pow_int(&pi, m)?;
        self.mul(&power, &Canon::rational(coef * small(1, below)))
    }

    /// An antiderivative, term by term.
    pub(super) fn antiderivative(&mut self, form: &Canon, by: Atom) -> Result<Canon, Stop> {
        let den = Canon::poly(form.den.clone());
        if !self.derivative(&den, by)?.is_zero() {
            return Err(Stop::Cap);
        }
        let mut sum = Canon::int(0);
        for (mono, coef) in &form.num.0.clone() {
            let mut rest = Mono::new();
            let mut varying = Mono::new();
            for &part in mono {
                let fixed = self.atom_derivative(part.0, by)?.is_zero();
                if fixed { rest.push(part) } else { varying.push(part) }
            }
            let inner = self.antiderivative_of(&varying, by)?;
            let rest = Canon::poly(Poly(vec![(rest, coef.clone())]));
            let part = self.mul(&inner, &rest)?;
            sum = self.add(&sum, &part)?;
        }
        self.div(&sum, &den)
    }

    fn antiderivative_of(&mut self, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
        match mono.as_slice() {
            [] => Ok(one_atom(by, Exp::ONE)),
            [(atom, exp)] if *atom == by => {
                if *exp == Exp::int(-1) {
                    let size = self.opaque("abs", vec![one_atom(by, Exp::ONE)])?;
                    return self.ln(&size);
                }
                let next = exp.add(Exp::ONE)?.to_rational();
                let power = self.pow(&one_atom(by, Exp::ONE), &Canon::rational(next.clone()))?;
                self.mul(&power, &Canon::rational(RBig::ONE / next))
            }
            [(atom, exp)] => match self.kind(*atom).cloned() {
                Some(Kind::Cos(angle)) if exp.is_int() && exp.num > 0 => {
                    self.cosine_powers(&angle, exp.num, by)
                }
                Some(Kind::Sin(angle)) if *exp == Exp::ONE => {
                    let (wave, slope) = (self.cos(&angle)?, self.fixed_slope(&angle, by)?);
                    Ok(negated(&self.div(&wave, &slope)?))
                }
                Some(Kind::Power(base, inner)) if !self.varies(base) => {
                    let exponent = Canon::poly(self.term(exp.to_rational(), &inner)?);
                    let slope = self.fixed_slope(&exponent, by)?;
                    let log = self.ln(&one_atom(base, Exp::ONE))?;
                    let slope = self.mul(&slope, &log)?;
                    self.div(&one_atom(*atom, *exp), &slope)
                }
                _ => Err(Stop::Cap),
            },
            // sin x cos^n x.
            [(one, first), (two, second)] => {
                let waves = match (self.kind(*one).cloned(), self.kind(*two).cloned()) {
                    (Some(Kind::Sin(a)), Some(Kind::Cos(b))) if a == b && *first == Exp::ONE => {
                        Some((a, *second))
                    }
                    (Some(Kind::Cos(a)), Some(Kind::Sin(b))) if a == b && *second == Exp::ONE => {
                        Some((a, *first))
                    }
                    _ => None,
                };
                let (angle, exp) =
                    waves.filter(|(_, exp)| exp.is_int() && exp.num > 0).ok_or(Stop::Cap)?;
                let wave = self.cos(&angle)?;
                let power = self.pow_int(&wave, exp.num + 1)?;
                let slope = self.fixed_slope(&angle, by)?;
                let slope = self.mul(&slope, &Canon::int(-(exp.num + 1)))?;
                self.div(&power, &slope)
            }
            _ => Err(Stop::Cap),
        }
    }

    /// The integral of a power of a cosine, two powers lower each time.
    fn cosine_powers(&mut self, angle: &Canon, n: i64, by: Atom) -> Result<Canon, Stop> {
        if n > DEGREE_MAX {
            return Err(Stop::Cap);
        }
        let slope = self.fixed_slope(angle, by)?;
        let (sine, cosine) = (self.sin(angle)?, self.cos(angle)?);
        let mut sum = if n % 2 == 1 { self.div(&sine, &slope)? } else { one_atom(by, Exp::ONE) };
        let mut power = if n % 2 == 1 { 3 } else { 2 };
        while power <= n {
            let lower = self.pow_int(&cosine, power - 1)?;
            let edge = self.mul(&lower, &sine)?;
            let edge = self.div(&edge, &slope)?;
            let edge = self.mul(&edge, &Canon::rational(small(1, power)))?;
            let rest = self.mul(&sum, &Canon::rational(small(power - 1, power)))?;
            sum = self.add(&edge, &rest)?;
            power += 2;
        }
        Ok(sum)
    }

    /// The slope of a form that is linear in the variable.
    fn fixed_slope(&mut self, form: &Canon, by: Atom) -> Result<Canon, Stop> {
        let slope = self.derivative(form, by)?;
        let fixed = !slope.is_zero() && self.derivative(&slope, by)?.is_zero();
        if fixed { Ok(slope) } else { Err(Stop::Cap) }
    }

    /// The integral of a form between two bounds.
    pub(super) fn integral(
        &mut self,
        form: &Canon,
        by: Atom,
        from: &Target,
        to: &Target,
    ) -> Result<Canon, Stop> {
        let whole = self.antiderivative(form, by)?;
        let mut ends = Vec::with_capacity(2);
        for end in [to, from] {
            ends.push(match end {
                Target::At(point) => self.with_value(&whole, by, point)?,
                Target::Infinity { .. } => self.limit(&whole, by, end)?,
            });
        }
        let [upper, lower] = ends.as_slice() else { return Err(Stop::Cap) };
        self.sub(upper, lower)
    }
}
