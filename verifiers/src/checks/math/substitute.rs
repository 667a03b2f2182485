//! Inequalities in a power or an exponential of the variable: solved for that, and the ends taken
//! back. Both rise with the variable where they are defined, so order is kept.

use super::Stop;
use super::number::{Exp, small};
use super::poly::{Atom, Canon, Ctx, Kind, Mono, Poly};
use super::value::{Interval, Region, Relation, Sign};

/// The greatest root that is undone.
const INDEX_MAX: i64 = 12;

/// What stands for the variable.
enum Through {
    /// The variable, or a sum with it, to one over this.
    Root(i64),
    /// This atom to the power of the variable.
    Exponential(Atom),
}

impl Ctx<'_, '_> {
    /// The solution of a relation in which the variable occurs in one root or one power only.
    pub(super) fn substituted_solution(
        &mut self,
        relation: &Relation,
    ) -> Result<Option<Region>, Stop> {
        let Some((name, x)) = self.only_variable(&relation.left) else { return Ok(None) };
        let Some((inner, through)) = self.root_or_power(&relation.left, x) else { return Ok(None) };
        let u = self.atom(Kind::Var("u substituted".to_owned()))?;
        let scale = if let Through::Root(index) = through { index } else { 1 };
        let num = replaced(&relation.left.num, inner, u, scale)?;
        let den = replaced(&relation.left.den, inner, u, scale)?;
        let left = Canon { num, den };
        let Some(mut region) = self.solution(&Relation { sign: relation.sign, left })? else {
            return Ok(None);
        };
        let bounded = !matches!(through, Through::Root(index) if index % 2 == 1);
        if bounded {
            let closed = matches!(through, Through::Root(_));
            let zero = Some(Canon::int(0));
            let domain = Interval { low: zero, high: None, low_closed: closed, high_closed: false };
            region = self.intersection(&region, &Region { var: None, parts: vec![domain] })?;
        }
        let mut parts = Vec::with_capacity(region.parts.len());
        for part in region.parts {
            let low = self.taken_back(part.low, &through)?;
            let high = self.taken_back(part.high, &through)?;
            parts.push(Interval { low, high, ..part });
        }
        let solved = Region { var: Some(name), parts };
        match self.kind(inner).cloned() {
            Some(Kind::Base(base)) => self.shifted(&solved, x, &base),
            _ => Ok(Some(solved)),
        }
    }

    /// The only atom that varies, where undoing it leaves the variable or a linear sum.
    fn root_or_power(&self, value: &Canon, x: Atom) -> Option<(Atom, Through)> {
        let factors = || value.num.0.iter().chain(&value.den.0).flat_map(|(mono, _)| mono);
        let mut varying = factors().filter(|(atom, _)| self.varies(*atom));
        let (inner, _) = *varying.next()?;
        if varying.any(|(atom, _)| *atom != inner) {
            return None;
        }
        let exps = || factors().filter(|(atom, _)| *atom == inner).map(|(_, exp)| *exp);
        match self.kind(inner)? {
            Kind::Power(base, mono) if mono.as_slice() == [(x, Exp::ONE)] => {
                let rises = matches!(self.kind(*base), Some(Kind::Prime(_) | Kind::Euler));
                (rises && exps().all(Exp::is_int)).then_some((inner, Through::Exponential(*base)))
            }
            Kind::Var(_) | Kind::Base(_) => {
                let index = exps().map(|exp| exp.den).max()?;
                let fits =
                    (2..=INDEX_MAX).contains(&index) && exps().all(|exp| index % exp.den == 0);
                fits.then_some((inner, Through::Root(index)))
            }
            _ => None,
        }
    }

    fn taken_back(&mut self, end: Option<Canon>, through: &Through) -> Result<Option<Canon>, Stop> {
        let Some(end) = end else { return Ok(None) };
        match through {
            Through::Root(index) => self.pow_int(&end, *index).map(Some),
            // An exponential comes near zero at minus infinity.
            Through::Exponential(_) if end.is_zero() => Ok(None),
            Through::Exponential(base) => {
                let base = Canon::poly(Poly(vec![(vec![(*base, Exp::ONE)], small(1, 1))]));
                self.log(&base, &end).map(Some)
            }
        }
    }

    /// The region of the variable, from that of a linear sum with it.
    fn shifted(&mut self, region: &Region, x: Atom, base: &Poly) -> Result<Option<Region>, Stop> {
        let mut whole = Region { var: region.var.clone(), ..Region::everything() };
        if region.parts.len() > 1 {
            return Ok(None);
        }
        let Some(part) = region.parts.first() else {
            return Ok(Some(Region { parts: Vec::new(), ..region.clone() }));
        };
        let linear =
            base.0.iter().all(|(mono, _)| mono.is_empty() || mono.as_slice() == [(x, Exp::ONE)]);
        if !linear {
            return Ok(None);
        }
        let inner = Canon::poly(base.clone());
        let ends = [(&part.low, part.low_closed, true), (&part.high, part.high_closed, false)];
        for (end, closed, low) in ends {
            let Some(end) = end else { continue };
            let left = if low { self.sub(end, &inner)? } else { self.sub(&inner, end)? };
            let sign = if closed { Sign::NotPositive } else { Sign::Negative };
            let super::value::Value::Region(half) = self.solved(Relation { sign, left })? else {
                return Ok(None);
            };
            whole = self.intersection(&whole, &half)?;
        }
        Ok(Some(whole))
    }
}

/// A polynomial with another atom in the place of one, whose exponents are multiplied.
fn replaced(poly: &Poly, old: Atom, new: Atom, scale: i64) -> Result<Poly, Stop> {
    let mut terms = Vec::with_capacity(poly.0.len());
    for (mono, coef) in &poly.0 {
        let mut out = Mono::with_capacity(mono.len());
        for &(atom, exp) in mono {
            out.push(if atom == old { (new, exp.mul(Exp::int(scale))?) } else { (atom, exp) });
        }
        out.sort_unstable_by_key(|(atom, _)| *atom);
        terms.push((out, coef.clone()));
    }
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Poly(terms))
}
