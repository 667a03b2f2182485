//! Derivatives and integrals of canonical forms.
//!
//! What is not found stays opaque: an operator without a value equals only itself.

use dashu_ratio::RBig;

use super::Stop;
use super::algebra::negated;
use super::limits::Target;
use super::number::{Exp, small};
use super::poly::{Atom, Canon, Ctx, Kind, Mono, Poly};

/// Powers of waves beyond this are not integrated.
const DEGREE_MAX: i64 = 12;
impl Ctx<'_, '_> {
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
                    self.pow(&Canon::atom(atom, Exp::ONE), &Canon::rational(lower.to_rational()))?;
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
                let base = Canon::atom(base, Exp::ONE);
                self.power_derivative(&base, &exponent, &Canon::atom(atom, Exp::ONE), by)
            }
            Some(Kind::Fun("pow", args)) => {
                let [base, exponent] = args.as_slice() else { return Err(Stop::Cap) };
                self.power_derivative(base, exponent, &Canon::atom(atom, Exp::ONE), by)
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

    /// An antiderivative, term by term.
    pub(super) fn antiderivative(&mut self, form: &Canon, by: Atom) -> Result<Canon, Stop> {
        let den = Canon::poly(form.den.clone());
        if !self.derivative(&den, by)?.is_zero() {
            return self.antiderivative_of_quotient(form, by);
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

    /// A constant over what is linear, or over a quadratic without real zeros.
    fn antiderivative_of_quotient(&mut self, form: &Canon, by: Atom) -> Result<Canon, Stop> {
        let (num, den) = (Canon::poly(form.num.clone()), Canon::poly(form.den.clone()));
        if !self.derivative(&num, by)?.is_zero() {
            return Err(Stop::Cap);
        }
        let slope = self.derivative(&den, by)?;
        let bend = self.derivative(&slope, by)?;
        if bend.is_zero() {
            let size = self.abs(&den)?;
            let log = self.ln(&size)?;
            let log = self.mul(&num, &log)?;
            return self.div(&log, &slope);
        }
        if !self.derivative(&bend, by)?.is_zero() {
            return Err(Stop::Cap);
        }
        // With d = 4ac - b^2 it is 2/sqrt(d) arctan((2ax + b)/sqrt(d)), and d = 2 den den'' - den'^2.
        let (twice, square) = (self.mul(&den, &bend)?, self.mul(&slope, &slope.clone())?);
        let twice = self.mul(&twice, &Canon::int(2))?;
        let rest = self.sub(&twice, &square)?;
        if self.order(&rest, &Canon::int(0))? != Some(std::cmp::Ordering::Greater) {
            return Err(Stop::Cap);
        }
        let root = self.pow(&rest, &Canon::rational(small(1, 2)))?;
        let inside = self.div(&slope, &root)?;
        let angle = self.apply("arctan", vec![inside])?;
        let angle = self.mul(&angle, &num)?;
        let angle = self.mul(&angle, &Canon::int(2))?;
        self.div(&angle, &root)
    }

    /// A power of the variable times what has an antiderivative: by parts, a power lower each time.
    fn by_parts(&mut self, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
        let power =
            mono.iter().find(|(atom, _)| *atom == by).map(|(_, exp)| *exp).ok_or(Stop::Cap)?;
        if !power.is_int() || !(1..=DEGREE_MAX).contains(&power.num) {
            return Err(Stop::Cap);
        }
        let rest: Mono = mono.iter().filter(|(atom, _)| *atom != by).copied().collect();
        let inner = self.antiderivative_of(&rest, by)?;
        let edge = self.mul(&Canon::atom(by, power), &inner)?;
        let below = power.add(Exp::int(-1))?;
        let lower = if below.is_zero() { Canon::int(1) } else { Canon::atom(by, below) };
        let lower = self.mul(&lower, &Canon::rational(power.to_rational()))?;
        let left = self.mul(&lower, &inner)?;
        let left = self.antiderivative(&left, by)?;
        self.sub(&edge, &left)
    }

    fn antiderivative_of(&mut self, mono: &Mono, by: Atom) -> Result<Canon, Stop> {
        if mono.len() > 1 && mono.iter().any(|(atom, _)| *atom == by) {
            return self.by_parts(mono, by);
        }
        match mono.as_slice() {
            [] => Ok(Canon::atom(by, Exp::ONE)),
            [(atom, exp)] if *atom == by => {
                if *exp == Exp::int(-1) {
                    let size = self.opaque("abs", vec![Canon::atom(by, Exp::ONE)])?;
                    return self.ln(&size);
                }
                let next = exp.add(Exp::ONE)?.to_rational();
                let power = self.pow(&Canon::atom(by, Exp::ONE), &Canon::rational(next.clone()))?;
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
                    let log = self.ln(&Canon::atom(base, Exp::ONE))?;
                    let slope = self.mul(&slope, &log)?;
                    self.div(&Canon::atom(*atom, *exp), &slope)
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
        let mut sum = if n % 2 == 1 { self.div(&sine, &slope)? } else { Canon::atom(by, Exp::ONE) };
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
                Target::At(point) => self.replaced(&whole, by, point)?,
                Target::Infinity { .. } => self.limit(&whole, by, end)?,
            });
        }
        let [upper, lower] = ends.as_slice() else { return Err(Stop::Cap) };
        self.sub(upper, lower)
    }
}
