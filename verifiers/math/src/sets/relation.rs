//! Equations and inequalities between expressions, as one expression compared with zero.

use dashu_ratio::RBig;

use crate::algebra::{
    Atom, Canon, Context, Exp, Kind, Mono, Poly, mul_mono, names_in, negated, variables,
};
use crate::stop::Stop;

/// How an expression compares with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Zero,
    NotZero,
    Negative,
    NotPositive,
}

/// An equation or inequality that is neither an assignment nor an interval.
#[derive(Clone, Debug)]
pub struct Relation {
    pub(crate) sign: Sign,
    pub(crate) left: Canon,
}

/// The number to which an equation sets an expression: 5 in `x + y = 5` and `|z| = 5`. An equation
/// in one plain variable is solved instead.
pub(crate) fn stated_value(cx: &Context, relation: &Relation) -> Option<Canon> {
    let left = &relation.left;
    let (varying, constant): (Vec<_>, Vec<_>) =
        left.num.0.iter().cloned().partition(|(mono, _)| cx.mono_varies(mono));
    let names = names_in(cx, left);
    let plain = |(mono, _): &(Mono, RBig)| {
        mono.iter().any(|(atom, _)| matches!(cx.kind(*atom), Some(Kind::Var(_))))
    };
    let several = matches!(names.len(), 2..=3) || !varying.iter().any(plain);
    let states = relation.sign == Sign::Zero && left.den.is_one() && !constant.is_empty();
    (states && several).then(|| negated(&Canon::poly(Poly(constant))))
}

/// A numerator without negative powers of its variables.
pub(crate) fn cleared(cx: &mut Context, poly: &Poly) -> Result<Poly, Stop> {
    let mut factor = Mono::new();
    for (atom, exp) in poly.0.iter().flat_map(|(mono, _)| mono) {
        let variable = matches!(cx.kind(*atom), Some(Kind::Var(_)));
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
        cx.meter.spend(50)?;
        terms.push((mul_mono(mono, &factor)?, coef.clone()));
    }
    Ok(Poly::sorted(terms))
}

pub(crate) fn varying_part(cx: &Context, mono: &Mono) -> Mono {
    mono.iter().filter(|(atom, _)| cx.varies(*atom)).copied().collect()
}

/// The constant beside a product of variables.
pub(crate) fn constant_at(cx: &Context, poly: &Poly, part: &Mono) -> Poly {
    let terms = poly.0.iter().filter(|(mono, _)| varying_part(cx, mono) == *part);
    let constant =
        |mono: &Mono| mono.iter().filter(|(atom, _)| !cx.varies(*atom)).copied().collect();
    Poly::sorted(terms.map(|(mono, coef)| (constant(mono), coef.clone())).collect())
}

/// Solves a form that is linear in an atom for that atom.
pub(crate) fn solved_for(
    cx: &mut Context,
    value: &Canon,
    unknown: Atom,
) -> Result<Option<Canon>, Stop> {
    let Some((slope, rest)) = cleared(cx, &value.num)?.split_linear(unknown) else {
        return Ok(None);
    };
    let (slope, rest) = (Poly::sorted(slope.0), Poly::sorted(rest.0).neg());
    let (slope, rest) = (Canon::poly(slope), Canon::poly(rest));
    let hidden = [&slope, &rest].iter().any(|part| variables(cx, part).contains(&unknown));
    if hidden || slope.is_zero() { Ok(None) } else { cx.div(&rest, &slope).map(Some) }
}
