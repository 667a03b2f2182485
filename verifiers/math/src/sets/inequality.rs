//! Inequalities solved to unions of intervals: linear ones, and those in a root or a power of the
//! variable. Roots and exponentials rise with the variable, so the order of the ends is kept.

use std::cmp::Ordering;

use super::region::{Interval, Region, intersection};
use super::relation::{Relation, Sign};
use super::solve;
use crate::algebra::{
    Atom, Canon, Context, Exp, Kind, Mono, Poly, log, negated, only_variable, order, pow_int,
};
use crate::number::small;
use crate::stop::Stop;

/// The solution of an inequality in one variable. `None` for what is not solved.
pub(crate) fn solve_inequality(
    cx: &mut Context,
    relation: &Relation,
) -> Result<Option<Region>, Stop> {
    let Some((name, slope, rest)) = linear(cx, &relation.left) else {
        let solution = match solve::solution(cx, relation) {
            Ok(None) => substituted_solution(cx, relation),
            solution => solution,
        };
        return if let Err(Stop::Cap) = solution { Ok(None) } else { solution };
    };
    let root = cx.div(&negated(&rest), &slope)?;
    let falling = match order(cx, &slope, &Canon::int(0))? {
        Some(Ordering::Less) => true,
        Some(_) => false,
        None => return Ok(None),
    };
    let closed = relation.sign == Sign::NotPositive;
    let (below, above) = (Interval::below(root.clone(), closed), Interval::above(root, closed));
    let parts = match relation.sign {
        Sign::Zero => return Ok(None),
        Sign::NotZero => vec![below, above],
        _ if falling => vec![above],
        _ => vec![below],
    };
    Ok(Some(Region { var: Some(name), parts }))
}

/// The variable, its factor and the rest, where a form is linear in its only variable. Bounds
/// may hold other letters when the variable stands alone: `a < x`.
fn linear(cx: &Context, value: &Canon) -> Option<(String, Canon, Canon)> {
    if !value.den.is_one() {
        return None;
    }
    let mut atoms = value.num.0.iter().flat_map(|(mono, _)| mono).map(|(atom, _)| *atom);
    let atom = atoms.find(|atom| cx.varies(*atom))?;
    let (slope, rest) = value.num.split_linear(atom)?;
    if slope.0.iter().chain(&rest.0).any(|(mono, _)| cx.mono_varies(mono)) {
        return None;
    }
    let name = match cx.kind(atom) {
        Some(Kind::Var(name)) => name.clone(),
        // 0 < f(x) < 1.
        Some(Kind::Fun(name, _)) if name.len() == 1 => (*name).to_owned(),
        _ => return None,
    };
    Some((name, Canon::poly(slope), Canon::poly(rest)))
}

/// The highest index of a root that is substituted.
const INDEX_MAX: i64 = 12;

/// The function of the variable that is substituted.
enum Through {
    /// The variable, or a sum with it, to one over this.
    Root(i64),
    /// This atom to the power of the variable.
    Exponential(Atom),
}

/// The solution of a relation in which the variable occurs in one root or one power only.
fn substituted_solution(cx: &mut Context, relation: &Relation) -> Result<Option<Region>, Stop> {
    let Some((name, x)) = only_variable(cx, &relation.left) else { return Ok(None) };
    let Some((inner, through)) = root_or_power(cx, &relation.left, x) else { return Ok(None) };
    let u = cx.atom(Kind::Var("u substituted".to_owned()))?;
    let scale = if let Through::Root(index) = through { index } else { 1 };
    let num = with_atom(&relation.left.num, inner, u, scale)?;
    let den = with_atom(&relation.left.den, inner, u, scale)?;
    let left = Canon { num, den };
    let Some(mut region) = solve::solution(cx, &Relation { sign: relation.sign, left })? else {
        return Ok(None);
    };
    let bounded = !matches!(through, Through::Root(index) if index % 2 == 1);
    if bounded {
        let closed = matches!(through, Through::Root(_));
        let domain = Interval::above(Canon::int(0), closed);
        region = intersection(cx, &region, &domain.into())?;
    }
    let mut parts = Vec::with_capacity(region.parts.len());
    for part in region.parts {
        let low = taken_back(cx, part.low, &through)?;
        let high = taken_back(cx, part.high, &through)?;
        parts.push(Interval { low, high, ..part });
    }
    let solved = Region { var: Some(name), parts };
    match cx.kind(inner).cloned() {
        Some(Kind::Base(base)) => shifted(cx, &solved, x, &base),
        _ => Ok(Some(solved)),
    }
}

/// The only varying atom, where its inverse is the variable or a linear sum.
fn root_or_power(cx: &Context, value: &Canon, x: Atom) -> Option<(Atom, Through)> {
    let factors = || value.monomials().flatten();
    let mut varying = factors().filter(|(atom, _)| cx.varies(*atom));
    let (inner, _) = *varying.next()?;
    if varying.any(|(atom, _)| *atom != inner) {
        return None;
    }
    let exps = || factors().filter(|(atom, _)| *atom == inner).map(|(_, exp)| *exp);
    match cx.kind(inner)? {
        Kind::Power(base, mono) if mono.as_slice() == [(x, Exp::ONE)] => {
            let rises = matches!(cx.kind(*base), Some(Kind::Prime(_) | Kind::Euler));
            (rises && exps().all(Exp::is_int)).then_some((inner, Through::Exponential(*base)))
        }
        Kind::Var(_) | Kind::Base(_) => {
            let index = exps().map(|exp| exp.den).max()?;
            let fits = (2..=INDEX_MAX).contains(&index) && exps().all(|exp| index % exp.den == 0);
            fits.then_some((inner, Through::Root(index)))
        }
        _ => None,
    }
}

fn taken_back(
    cx: &mut Context,
    end: Option<Canon>,
    through: &Through,
) -> Result<Option<Canon>, Stop> {
    let Some(end) = end else { return Ok(None) };
    match through {
        Through::Root(index) => pow_int(cx, &end, *index).map(Some),
        // An exponential comes near zero at minus infinity.
        Through::Exponential(_) if end.is_zero() => Ok(None),
        Through::Exponential(base) => {
            let base = Canon::poly(Poly(vec![(vec![(*base, Exp::ONE)], small(1, 1))]));
            log(cx, &base, &end).map(Some)
        }
    }
}

/// The region of the variable, from that of a linear sum with it.
fn shifted(
    cx: &mut Context,
    region: &Region,
    x: Atom,
    base: &Poly,
) -> Result<Option<Region>, Stop> {
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
        let left = if low { cx.sub(end, &inner)? } else { cx.sub(&inner, end)? };
        let sign = if closed { Sign::NotPositive } else { Sign::Negative };
        let Some(half) = solve_inequality(cx, &Relation { sign, left })? else { return Ok(None) };
        whole = intersection(cx, &whole, &half)?;
    }
    Ok(Some(whole))
}

/// A polynomial with another atom in the place of one, whose exponents are multiplied.
fn with_atom(poly: &Poly, old: Atom, new: Atom, scale: i64) -> Result<Poly, Stop> {
    let mut terms = Vec::with_capacity(poly.0.len());
    for (mono, coef) in &poly.0 {
        let mut out = Mono::with_capacity(mono.len());
        for &(atom, exp) in mono {
            out.push(if atom == old { (new, exp.mul(Exp::int(scale))?) } else { (atom, exp) });
        }
        out.sort_unstable_by_key(|(atom, _)| *atom);
        terms.push((out, coef.clone()));
    }
    Ok(Poly::sorted(terms))
}
