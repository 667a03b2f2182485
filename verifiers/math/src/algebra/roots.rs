//! The real roots of a polynomial as exact forms: rational numbers, surds, and roots that only
//! their polynomial and a narrow interval describe.

use dashu_int::{IBig, UBig};

use super::isolation::{Root, real_roots, whole_between};
use super::poly::ROOT;
use super::univariate::{Uni, sign};
use crate::algebra::prelude::*;

/// Factors of degree two are looked for among at most this many roots.
const PAIRED_MAX: usize = 8;
/// The intervals of roots without a closed form are this many binary places wide.
const PLACES: usize = 64;

/// A root: its isolating interval, and its canonical form.
pub(crate) struct Exact {
    pub(crate) place: Root,
    pub(crate) form: Canon,
}

/// The real roots of a polynomial without multiple ones, in ascending order.
pub(crate) fn exact_roots(cx: &mut Context, poly: &Uni) -> Result<Vec<Exact>, Stop> {
    let mut places = real_roots(poly, &mut cx.meter)?;
    let mut forms: Vec<Option<Canon>> = vec![None; places.len()];
    let rest = rational_roots(cx, poly, &mut places, &mut forms)?;
    let rest = paired_roots(cx, rest, &mut places, &mut forms)?;
    let open = forms.iter().filter(|form| form.is_none()).count();
    let mut powers = power_roots(cx, &rest, open)?.into_iter();
    let mut exact = Vec::with_capacity(places.len());
    for (mut place, form) in places.into_iter().zip(forms) {
        let form = match form.or_else(|| powers.next()) {
            Some(form) => form,
            None => unnamed_root(cx, &rest, &mut place)?,
        };
        exact.push(Exact { place, form });
    }
    Ok(exact)
}

/// Finds the rational roots and divides them out.
fn rational_roots(
    cx: &mut Context,
    poly: &Uni,
    places: &mut [Root],
    forms: &mut [Option<Canon>],
) -> Result<Uni, Stop> {
    let mut rest = poly.clone();
    for (place, form) in places.iter_mut().zip(forms) {
        let Some(value) = place.rational(&rest, &mut cx.meter)? else { continue };
        let factor = Uni::new(vec![-value.clone(), RBig::ONE], &mut cx.meter)?;
        rest = rest.without(&factor, &mut cx.meter)?.ok_or(Stop::Cap)?;
        (place.low, place.high) = (value.clone(), value.clone());
        *form = Some(Canon::rational(value));
    }
    Ok(rest)
}

/// Finds the roots of factors of degree two, and divides them out: times the leading
/// coefficient, the sum and the product of such a pair are whole.
fn paired_roots(
    cx: &mut Context,
    rest: Uni,
    places: &mut [Root],
    forms: &mut [Option<Canon>],
) -> Result<Uni, Stop> {
    let mut rest = rest;
    let open: Vec<usize> =
        (0..places.len()).filter(|at| matches!(forms.get(*at), Some(None))).collect();
    // Without a rational root, degree three has no factors.
    if open.len() > PAIRED_MAX || rest.degree() == 3 {
        return Ok(rest);
    }
    for (skip, one) in open.iter().enumerate() {
        for two in open.iter().skip(skip + 1) {
            let taken = [one, two].into_iter().any(|at| matches!(forms.get(*at), Some(Some(_))));
            let (Some(mut a), Some(mut b)) = (places.get(*one).cloned(), places.get(*two).cloned())
            else {
                continue;
            };
            if taken {
                continue;
            }
            let Some((factor, sum, product)) = pair(cx, &rest, &mut a, &mut b)? else {
                continue;
            };
            let Some(left) = rest.without(&factor, &mut cx.meter)? else { continue };
            let (low, high) = quadratic(cx, &rest.lead(), &sum, &product)?;
            for (at, form) in [(*one, low), (*two, high)] {
                if let Some(slot) = forms.get_mut(at) {
                    *slot = Some(form);
                }
            }
            rest = left;
        }
    }
    Ok(rest)
}

/// The polynomial that two roots would share, with their sum and product times its lead.
fn pair(
    cx: &mut Context,
    rest: &Uni,
    a: &mut Root,
    b: &mut Root,
) -> Result<Option<(Uni, IBig, IBig)>, Stop> {
    let lead = rest.lead();
    let reach =
        [&a.low, &a.high, &b.low, &b.high].into_iter().map(|end| &(end * end) + RBig::ONE).max();
    let width = RBig::ONE / (&lead * reach.unwrap_or(RBig::ONE) * small(8, 1));
    a.narrow(rest, &width, &mut cx.meter)?;
    b.narrow(rest, &width, &mut cx.meter)?;
    let sum = whole_between(&(&lead * (&a.low + &b.low)), &(&lead * (&a.high + &b.high)));
    let products = [&a.low * &b.low, &a.low * &b.high, &a.high * &b.low, &a.high * &b.high];
    let least = products.iter().min().map(|product| &lead * product);
    let greatest = products.iter().max().map(|product| &lead * product);
    let (Some(sum), Some(least), Some(greatest)) = (sum, least, greatest) else {
        return Ok(None);
    };
    let Some(product) = whole_between(&least, &greatest) else { return Ok(None) };
    let coefs = vec![RBig::from(product.clone()), -RBig::from(sum.clone()), lead];
    Ok(Some((Uni::new(coefs, &mut cx.meter)?, sum, product)))
}

/// The two roots of `lead x^2 - sum x + product`, the lower first.
fn quadratic(
    cx: &mut Context,
    lead: &RBig,
    sum: &IBig,
    product: &IBig,
) -> Result<(Canon, Canon), Stop> {
    let (sum, product) = (RBig::from(sum.clone()), RBig::from(product.clone()));
    let inside = &sum * &sum - small(4, 1) * lead * product;
    let root = pow(cx, &Canon::rational(inside), &Canon::rational(small(1, 2)))?;
    let scale = Canon::rational(RBig::ONE / (lead * small(2, 1)));
    let sum = Canon::rational(sum);
    let (low, high) = (cx.sub(&sum, &root)?, cx.add(&sum, &root)?);
    Ok((cx.mul(&low, &scale)?, cx.mul(&high, &scale)?))
}

/// The roots of a polynomial in a power of its variable, where there are `count` of them.
fn power_roots(cx: &mut Context, poly: &Uni, count: usize) -> Result<Vec<Canon>, Stop> {
    let terms = poly.coefs().iter().enumerate().filter(|(_, coef)| !coef.is_zero());
    let step = terms.fold(0, |step, (power, _)| gcd(step, power));
    if step < 2 || count == 0 {
        return Ok(Vec::new());
    }
    let inner = Uni::new(poly.coefs().iter().step_by(step).cloned().collect(), &mut cx.meter)?;
    let exponent = Canon::rational(small(1, i64::try_from(step).map_err(|_| Stop::Cap)?));
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for Exact { place, form } in exact_roots(cx, &inner)? {
        let negative = sign(&place.low) < 0;
        if negative && step % 2 == 0 {
            continue;
        }
        let size = if negative { negated(&form) } else { form };
        let root = pow(cx, &size, &exponent)?;
        if negative || step % 2 == 0 {
            below.push(negated(&root));
        }
        if !negative {
            above.push(root);
        }
    }
    if step % 2 == 0 {
        below.reverse();
    }
    below.extend(above);
    if below.len() == count { Ok(below) } else { Err(Stop::Cap) }
}

/// A root without a closed form. Two polynomials that share it make the same atom.
fn unnamed_root(cx: &mut Context, poly: &Uni, place: &mut Root) -> Result<Canon, Stop> {
    let scale = RBig::from(UBig::ONE << PLACES);
    place.narrow(poly, &(RBig::ONE / &scale), &mut cx.meter)?;
    let cell = |end: &RBig| (end * &scale).floor();
    while cell(&place.low) != cell(&place.high) {
        place.refine(poly, &mut cx.meter)?;
    }
    let low = cell(&place.low);
    let (low, high) = (RBig::from(low.clone()) / &scale, RBig::from(low + IBig::ONE) / &scale);
    let place = Root { low: low.clone(), high: high.clone() };
    let ends = [low, high].map(Canon::rational);
    for at in 0..cx.atoms.len() {
        let known = match cx.atoms.get(at) {
            Some(Kind::Fun(ROOT, args)) if args.starts_with(&ends) => args.clone(),
            _ => continue,
        };
        let coefs = known.iter().skip(2).filter_map(Canon::as_rational).collect();
        let known_poly = Uni::new(coefs, &mut cx.meter)?;
        let shared = known_poly.gcd(poly, &mut cx.meter)?;
        if place.is_root_of(&shared, &mut cx.meter)? {
            return cx.of(Kind::Fun(ROOT, known));
        }
    }
    let coefs = poly.coefs().iter().cloned().map(Canon::rational);
    cx.of(Kind::Fun(ROOT, ends.into_iter().chain(coefs).collect()))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
