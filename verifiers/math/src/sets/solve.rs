//! Equations and inequalities in one variable, solved to unions of intervals.
//!
//! A quotient of polynomials changes its sign at the roots of numerator and denominator only, so
//! one sample between two adjacent roots decides. Absolute values are split into their two cases.

use dashu_ratio::RBig;

use super::region::{Interval, Region, intersection, union};
use super::relation::{Relation, Sign};
use crate::algebra::{
    Atom, Canon, Context, Exact, Kind, Poly, Uni, exact_roots, middle, negated, only_variable,
    substitute,
};
use crate::number::small;
use crate::stop::Stop;

/// The most absolute values of one relation.
const ABSOLUTES_MAX: u32 = 4;
/// The largest polynomial that is solved, as its degree times the bits of a coefficient.
const SIZE_MAX: usize = 2000;

/// The real numbers for which a relation holds, where it is one in a single variable that can
/// be solved.
pub(crate) fn solution(cx: &mut Context, relation: &Relation) -> Result<Option<Region>, Stop> {
    let Some((name, x)) = only_variable(cx, &relation.left) else { return Ok(None) };
    let region = solution_in(cx, x, &relation.left, relation.sign, ABSOLUTES_MAX)?;
    Ok(region.map(|region| Region { var: Some(name), ..region }))
}

fn solution_in(
    cx: &mut Context,
    x: Atom,
    left: &Canon,
    sign: Sign,
    absolutes: u32,
) -> Result<Option<Region>, Stop> {
    cx.meter.spend(100)?;
    let Some((atom, inner)) = absolute_in(cx, left) else {
        return chart(cx, x, left, sign);
    };
    if absolutes == 0 {
        return Err(Stop::Cap);
    }
    let opposite = negated(&inner);
    let mut whole = Region::empty();
    for (value, condition, holds) in
        [(&inner, &opposite, Sign::NotPositive), (&opposite, &inner, Sign::Negative)]
    {
        let left = match substitute(cx, left, atom, value) {
            Ok(left) => left,
            // The denominator is identically zero: there is no solution in this case.
            Err(Stop::Undefined) => continue,
            Err(stop) => return Err(stop),
        };
        let solved = solution_in(cx, x, &left, sign, absolutes - 1)?;
        let within = solution_in(cx, x, condition, holds, absolutes - 1)?;
        let (Some(solved), Some(within)) = (solved, within) else { return Ok(None) };
        let part = intersection(cx, &solved, &within)?;
        whole = union(cx, whole, part)?;
    }
    Ok(Some(whole))
}

/// An absolute value that varies, and its argument.
fn absolute_in(cx: &Context, value: &Canon) -> Option<(Atom, Canon)> {
    let mut atoms = value.monomials().flatten().map(|(atom, _)| *atom);
    atoms.find_map(|atom| match cx.kind(atom) {
        Some(Kind::Fun("abs", args)) if cx.varies(atom) => Some((atom, args.first()?.clone())),
        _ => None,
    })
}

/// Solves by the sign chart of a quotient of polynomials with rational coefficients.
fn chart(cx: &mut Context, x: Atom, left: &Canon, wanted: Sign) -> Result<Option<Region>, Stop> {
    let Some((top, below)) = quotient_in(cx, x, left)? else { return Ok(None) };
    let product = top.times(&below, &mut cx.meter)?;
    if product.size() > SIZE_MAX {
        return Err(Stop::Cap);
    }
    let poles = below.squarefree(&mut cx.meter)?;
    let zero = product.is_zero();
    let turns = if zero { poles.clone() } else { product.squarefree(&mut cx.meter)? };
    let ends = exact_roots(cx, &turns)?;
    let mut chart = Chart::default();
    let mut before: Option<&Exact> = None;
    for end in &ends {
        let sample = match before {
            Some(before) => middle(&before.place.high, &end.place.low),
            None => &end.place.low - RBig::ONE,
        };
        chart.stretch(holds(wanted, product.sign_at(&sample, &mut cx.meter)?, zero), before);
        let pole = end.place.is_root_of(&poles, &mut cx.meter)?;
        chart.point(!pole && matches!(wanted, Sign::Zero | Sign::NotPositive), end);
        before = Some(end);
    }
    let sample = before.map_or(RBig::ZERO, |last| &last.place.high + RBig::ONE);
    chart.stretch(holds(wanted, product.sign_at(&sample, &mut cx.meter)?, zero), before);
    Ok(Some(chart.region()))
}

/// Numerator and denominator as polynomials in `x`.
fn quotient_in(cx: &mut Context, x: Atom, value: &Canon) -> Result<Option<(Uni, Uni)>, Stop> {
    let lowest = |poly: &Poly| {
        poly.0.iter().flat_map(|(mono, _)| mono).map(|(_, exp)| exp.num).min().unwrap_or(0).min(0)
    };
    let shift = lowest(&value.num).min(lowest(&value.den));
    let top = univariate(cx, x, &value.num, shift)?;
    let below = univariate(cx, x, &value.den, shift)?;
    Ok(top.zip(below))
}

/// A polynomial in `x` alone, after multiplying by a power of it.
fn univariate(cx: &mut Context, x: Atom, poly: &Poly, shift: i64) -> Result<Option<Uni>, Stop> {
    let mut coefs = Vec::new();
    for (mono, coef) in &poly.0 {
        let power = match mono.as_slice() {
            [] => 0,
            [(atom, exp)] if *atom == x && exp.is_int() => exp.num,
            _ => return Ok(None),
        };
        let at =
            power.checked_sub(shift).and_then(|at| usize::try_from(at).ok()).filter(|at| *at < 100);
        let at = at.ok_or(Stop::Cap)?;
        if coefs.len() <= at {
            coefs.resize(at + 1, small(0, 1));
        }
        if let Some(slot) = coefs.get_mut(at) {
            slot.clone_from(coef);
        }
    }
    Uni::new(coefs, &mut cx.meter).map(Some)
}

/// Whether a relation holds on a stretch where the sign does not change.
fn holds(wanted: Sign, sign: i8, zero: bool) -> bool {
    match wanted {
        Sign::Zero => zero,
        Sign::NotZero => !zero,
        Sign::Negative => !zero && sign < 0,
        Sign::NotPositive => zero || sign < 0,
    }
}

/// A sign chart: intervals that are collected from left to right.
#[derive(Default)]
struct Chart {
    parts: Vec<Interval>,
    /// The lower end of the open interval, and whether the end is part of it.
    start: Option<(Option<Canon>, bool)>,
}

impl Chart {
    /// The stretch to the right of `from`.
    fn stretch(&mut self, inside: bool, from: Option<&Exact>) {
        let end = from.map(|end| end.form.clone());
        if inside {
            self.start.get_or_insert((end, false));
        } else {
            self.close(end, true);
        }
    }

    fn point(&mut self, inside: bool, at: &Exact) {
        if inside {
            self.start.get_or_insert((Some(at.form.clone()), true));
        } else {
            self.close(Some(at.form.clone()), false);
        }
    }

    fn close(&mut self, high: Option<Canon>, high_closed: bool) {
        if let Some((low, low_closed)) = self.start.take() {
            self.parts.push(Interval { low, high, low_closed, high_closed });
        }
    }

    fn region(mut self) -> Region {
        self.close(None, false);
        Region { var: None, parts: self.parts }
    }
}
