//! Equations and inequalities between expressions, as one expression compared with zero.

use dashu_ratio::RBig;

use crate::math::algebra::{
    Atom, Canon, Context, Exp, Kind, Mono, Poly, mul_mono, names_in, negated, variables,
};
use crate::math::stop::Stop;

/// What an expression is, compared with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Zero,
    NotZero,
    Negative,
    NotPositive,
}

/// An equation or inequality that is neither an assignment nor an interval.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) sign: Sign,
    pub(crate) left: Canon,
}

/// The number that an equation states of an expression: 5 in `x + y = 5` and `|z| = 5`. Of one
/// variable it says what that is, and the number is none of its solutions.
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
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Poly(terms))
}

pub(crate) fn varying_part(cx: &Context, mono: &Mono) -> Mono {
    mono.iter().filter(|(atom, _)| cx.varies(*atom)).copied().collect()
}

/// The constant beside a product of variables.
pub(crate) fn constant_at(cx: &Context, poly: &Poly, part: &Mono) -> Poly {
    let terms = poly.0.iter().filter(|(mono, _)| varying_part(cx, mono) == *part);
    let mut terms: Vec<_> = terms
        .map(|(mono, coef)| {
            (
                mono.iter().filter(|(atom, _)| !cx.varies(*atom)).copied().collect::<Mono>(),
                coef.clone(),
            )
        })
        .collect();
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    Poly(terms)
}

/// What an atom is, where a form that is linear in it is zero.
pub(crate) fn solved_for(
    cx: &mut Context,
    value: &Canon,
    unknown: Atom,
) -> Result<Option<Canon>, Stop> {
    let (mut slope, mut rest) = (Poly::default(), Poly::default());
    for (mono, coef) in &cleared(cx, &value.num)?.0 {
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
    let hidden = [&slope, &rest].iter().any(|part| variables(cx, part).contains(&unknown));
    if hidden || slope.is_zero() { Ok(None) } else { cx.div(&rest, &slope).map(Some) }
}
