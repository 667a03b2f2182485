//! Equations and inequalities: equal up to a factor, or by what they say about one variable.

use std::cmp::Ordering;

use dashu_ratio::RBig;

use super::Stop;
use super::algebra::negated;
use super::compare::{Comparer, Judged, Rung, judged};
use super::number::Exp;
use super::poly::{Atom, Canon, Ctx, Kind, Mono, Poly, mul_mono};
use super::value::{Named, Region, Relation, Scalar, Sign, Value};

impl Comparer<'_, '_, '_> {
    /// Equal up to a constant factor: positive where the sign matters.
    pub(super) fn relations(&mut self, one: &Relation, two: &Relation) -> Result<Judged, Stop> {
        if one.sign != two.sign {
            return Ok(Judged::Unequal);
        }
        // The zeros of a quotient are those of its numerator.
        let free = matches!(one.sign, Sign::Zero | Sign::NotZero);
        let (left, right) = if free {
            (self.ctx.cleared(&one.left.num)?, self.ctx.cleared(&two.left.num)?)
        } else {
            let left = self.ctx.mul_poly(&one.left.num, &two.left.den)?;
            let right = self.ctx.mul_poly(&two.left.num, &one.left.den)?;
            if one.left.den != two.left.den {
                return Ok(judged(left == right, Rung::Polynomial));
            }
            (one.left.num.clone(), two.left.num.clone())
        };
        let Some((lead, _)) = left.0.last() else {
            return Ok(judged(right.is_zero(), Rung::Polynomial));
        };
        let lead = self.ctx.varying_part(lead);
        let factors = (self.ctx.constant_at(&left, &lead), self.ctx.constant_at(&right, &lead));
        let (factor, other) = (Canon::poly(factors.0), Canon::poly(factors.1));
        if !free {
            let signs =
                (self.ctx.order(&factor, &Canon::int(0))?, self.ctx.order(&other, &Canon::int(0))?);
            match signs {
                (Some(one), Some(two)) if one == two && one != Ordering::Equal => {}
                (Some(_), Some(_)) => return Ok(Judged::Unequal),
                _ => return Ok(Judged::Undecided),
            }
        }
        let left = self.ctx.mul(&Canon::poly(left), &other)?;
        let right = self.ctx.mul(&Canon::poly(right), &factor)?;
        Ok(judged(!other.is_zero() && self.ctx.equal(&left, &right)?, Rung::Polynomial))
    }

    /// An equation in one variable against its solutions, or one that defines y against the
    /// expression for it. `None` where it is neither.
    pub(super) fn described(
        &mut self,
        relation: &Relation,
        other: &Value,
    ) -> Result<Option<Judged>, Stop> {
        if relation.sign != Sign::Zero {
            return Ok(None);
        }
        if let Value::Scalar(scalar) = other
            && let Some(judged) = self.defined(relation, scalar)?
        {
            return Ok(Some(judged));
        }
        let Some((name, _)) = self.ctx.only_variable(&relation.left) else { return Ok(None) };
        let Some(points) = self.ctx.solutions_named(other, &name)? else { return Ok(None) };
        match self.ctx.solution(relation)? {
            Some(region) => self.same_region(&region, &points).map(Some),
            None => Ok(Some(Judged::Undecided)),
        }
    }

    /// `xy = 6` against `6/x`.
    fn defined(&mut self, relation: &Relation, scalar: &Scalar) -> Result<Option<Judged>, Stop> {
        let names = self.ctx.names_in(&scalar.canon);
        if names.is_empty() || names.iter().any(|name| name == "y") {
            return Ok(None);
        }
        let y = self.ctx.atom(Kind::Var("y".to_owned()))?;
        match self.ctx.solved_for(&relation.left, y)? {
            Some(value) => self.exact(&value, &scalar.canon).map(Some),
            None => Ok(None),
        }
    }
}

impl Ctx<'_, '_> {
    /// The number that an equation states of an expression: 5 in `x + y = 5` and `|z| = 5`. Of one
    /// variable it says what that is, and the number is none of its solutions.
    pub(super) fn stated(&self, relation: &Relation) -> Option<Canon> {
        let left = &relation.left;
        let (varying, constant): (Vec<_>, Vec<_>) =
            left.num.0.iter().cloned().partition(|(mono, _)| self.mono_varies(mono));
        let names = self.names_in(left);
        let plain = |(mono, _): &(Mono, RBig)| {
            mono.iter().any(|(atom, _)| matches!(self.kind(*atom), Some(Kind::Var(_))))
        };
        let several = matches!(names.len(), 2..=3) || !varying.iter().any(plain);
        let states = relation.sign == Sign::Zero && left.den.is_one() && !constant.is_empty();
        (states && several).then(|| negated(&Canon::poly(Poly(constant))))
    }

    /// A numerator without negative powers of its variables.
    fn cleared(&mut self, poly: &Poly) -> Result<Poly, Stop> {
        let mut factor = Mono::new();
        for (atom, exp) in poly.0.iter().flat_map(|(mono, _)| mono) {
            let variable = matches!(self.kind(*atom), Some(Kind::Var(_)));
            if !variable || exp.num >= 0 || !exp.is_int() {
                continue;
            }
            match factor.iter_mut().find(|(have, _)| have == atom) {
                Some((_, least)) => *least = Exp::int(least.num.max(-exp.num)),
                None => factor.push((*atom, exp.neg()?)),
            }
        }
        if factor.is_empty() {
            return Ok(poly.clone());
        }
        factor.sort_unstable_by_key(|(atom, _)| *atom);
        let mut terms = Vec::with_capacity(poly.0.len());
        for (mono, coef) in &poly.0 {
            self.meter.spend(50)?;
            terms.push((mul_mono(mono, &factor)?, coef.clone()));
        }
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Poly(terms))
    }

    fn varying_part(&self, mono: &Mono) -> Mono {
        mono.iter().filter(|(atom, _)| self.varies(*atom)).copied().collect()
    }

    /// The constant beside a product of variables.
    fn constant_at(&self, poly: &Poly, part: &Mono) -> Poly {
        let terms = poly.0.iter().filter(|(mono, _)| self.varying_part(mono) == *part);
        let mut terms: Vec<_> = terms
            .map(|(mono, coef)| {
                (
                    mono.iter().filter(|(atom, _)| !self.varies(*atom)).copied().collect::<Mono>(),
                    coef.clone(),
                )
            })
            .collect();
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        Poly(terms)
    }

    /// What an atom is, where a form that is linear in it is zero.
    fn solved_for(&mut self, value: &Canon, unknown: Atom) -> Result<Option<Canon>, Stop> {
        let (mut slope, mut rest) = (Poly::default(), Poly::default());
        for (mono, coef) in &self.cleared(&value.num)?.0 {
            let others: Mono = mono.iter().filter(|(atom, _)| *atom != unknown).copied().collect();
            match mono.iter().find(|(atom, _)| *atom == unknown) {
                None => rest.0.push((others, -coef)),
                Some((_, Exp::ONE)) => slope.0.push((others, coef.clone())),
                Some(_) => return Ok(None),
            }
        }
        for part in [&mut slope, &mut rest] {
            part.0.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let (slope, rest) = (Canon::poly(slope), Canon::poly(rest));
        let hidden = [&slope, &rest].iter().any(|part| self.variables(part).contains(&unknown));
        if hidden || slope.is_zero() { Ok(None) } else { self.div(&rest, &slope).map(Some) }
    }

    /// A set or a list of values of one variable as points.
    fn solutions_named(&mut self, value: &Value, name: &str) -> Result<Option<Region>, Stop> {
        let label = |named: &Named| named.label == name && named.parameter.is_none();
        Ok(match value {
            Value::Scalar(_) => self.region(&Value::Set(vec![value.clone()]))?,
            Value::Named(named) if label(named) => self.solutions_named(&named.value, name)?,
            Value::Set(items) | Value::List(items) => {
                let mut whole = Region::empty();
                for item in items {
                    let Some(points) = self.solutions_named(item, name)? else { return Ok(None) };
                    whole = self.union(whole, points)?;
                }
                Some(whole)
            }
            _ => None,
        })
    }
}
