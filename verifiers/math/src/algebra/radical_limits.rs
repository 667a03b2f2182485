//! Limits of differences of square roots that grow alike, by the conjugate: `sqrt(x^2 + x) - x`.

use dashu_base::Signed as _;

use super::substitution::substitute;
use crate::algebra::prelude::*;

/// The growth of a form: twice the exponent of the variable, and the coefficient.
type Growth = (i64, Canon);

/// The limit at infinity of a sum of two parts, at least one with a square root of the
/// variable, whose leading terms cancel. `None` for all else.
pub(crate) fn limit_of_roots(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    negative: bool,
) -> Result<Option<Canon>, Stop> {
    if !form.den.is_one() {
        return Ok(None);
    }
    let turned = if negative {
        let opposite = negated(&Canon::atom(variable, Exp::ONE));
        substitute(cx, form, variable, &opposite)?
    } else {
        form.clone()
    };
    if !turned.den.is_one() {
        return Ok(None);
    }
    let Some((one, two)) = two_parts(cx, &turned.num, variable) else { return Ok(None) };
    let (Some(first), Some(second)) = (growth(cx, &one, variable)?, growth(cx, &two, variable)?)
    else {
        return Ok(None);
    };
    if first.0 != second.0 || !cx.add(&first.1, &second.1)?.is_zero() {
        return Ok(None);
    }
    // (a + b) = (a^2 - b^2) / (a - b), and below both terms grow alike.
    let (one, two) = (Canon::poly(one), Canon::poly(two));
    let (one, two) = (cx.mul(&one, &one)?, cx.mul(&two, &two)?);
    let above = cx.sub(&one, &two)?;
    if above.is_zero() {
        return Ok(Some(Canon::int(0)));
    }
    let Some(above) = growth(cx, &above.num, variable)?.filter(|_| above.den.is_one()) else {
        return Ok(None);
    };
    match above.0.cmp(&first.0) {
        std::cmp::Ordering::Less => Ok(Some(Canon::int(0))),
        std::cmp::Ordering::Equal => {
            let below = cx.add(&first.1, &first.1)?;
            cx.div(&above.1, &below).map(Some)
        }
        std::cmp::Ordering::Greater => Ok(None),
    }
}

/// The terms in two groups, each with one square root or none.
fn two_parts(cx: &Context, poly: &Poly, variable: Atom) -> Option<(Poly, Poly)> {
    let mut groups: Vec<(Option<Atom>, Poly)> = Vec::new();
    for (mono, coef) in &poly.0 {
        let root = root_of(cx, mono, variable).ok()?;
        match groups.iter_mut().find(|(have, _)| *have == root) {
            Some((_, group)) => group.0.push((mono.clone(), coef.clone())),
            None => groups.push((root, Poly(vec![(mono.clone(), coef.clone())]))),
        }
    }
    let [(one, first), (two, second)] = groups.as_slice() else { return None };
    (one.is_some() || two.is_some()).then(|| (first.clone(), second.clone()))
}

/// The atom under the square root of a term, if any; a term of another kind is not read.
fn root_of(cx: &Context, mono: &Mono, variable: Atom) -> Result<Option<Atom>, Stop> {
    let mut root = None;
    for &(atom, exp) in mono {
        if is_parameter(cx, atom, variable) {
            continue;
        }
        let radicand = atom == variable || matches!(cx.kind(atom), Some(Kind::Base(_)));
        match (radicand, exp.den) {
            (true, 1) if atom == variable && exp.num > 0 => {}
            (true, 2) if root.is_none() && exp.num > 0 => root = Some(atom),
            _ => return Err(Stop::Unreadable),
        }
    }
    Ok(root)
}

/// The growth of a part with the variable. `None` where it has several leading terms.
fn growth(cx: &mut Context, part: &Poly, variable: Atom) -> Result<Option<Growth>, Stop> {
    let mut best: Option<Growth> = None;
    for (mono, coef) in &part.0 {
        cx.meter.spend(20)?;
        let Some(term) = growth_of_term(cx, mono, coef, variable)? else { return Ok(None) };
        best = Some(match best {
            Some(have) if have.0 > term.0 => have,
            Some(have) if have.0 == term.0 => (have.0, cx.add(&have.1, &term.1)?),
            _ => term,
        });
    }
    Ok(best.filter(|(_, coef)| !coef.is_zero()))
}

fn growth_of_term(
    cx: &mut Context,
    mono: &Mono,
    coef: &RBig,
    variable: Atom,
) -> Result<Option<Growth>, Stop> {
    let (mut twice, mut whole) = (0i64, Canon::rational(coef.clone()));
    for &(atom, exp) in mono {
        let twice_exp = Exp::int(2).mul(exp)?;
        if !twice_exp.is_int() {
            return Ok(None);
        }
        if atom == variable {
            twice = twice.checked_add(twice_exp.num).ok_or(Stop::Cap)?;
            continue;
        }
        let factor = match cx.kind(atom).cloned() {
            Some(Kind::Base(base)) if cx.varies(atom) => {
                let Some((degree, lead)) = leading(cx, &base, variable) else {
                    return Ok(None);
                };
                let grown = degree.checked_mul(twice_exp.num).ok_or(Stop::Cap)?;
                twice = twice.checked_add(grown).ok_or(Stop::Cap)?;
                pow(cx, &Canon::rational(lead), &Canon::rational(exp.to_rational()))?
            }
            _ if !is_parameter(cx, atom, variable) => return Ok(None),
            _ => Canon::poly(cx.term(RBig::ONE, &[(atom, exp)])?),
        };
        whole = cx.mul(&whole, &factor)?;
    }
    Ok(Some((twice, whole)))
}

/// The degree and the leading coefficient of a polynomial in the variable, where that is a
/// positive number; other coefficients may hold other variables.
fn leading(cx: &Context, base: &Poly, variable: Atom) -> Option<(i64, RBig)> {
    let mut best: Option<(i64, Option<RBig>)> = None;
    for (mono, coef) in &base.0 {
        let (mut degree, mut number) = (0, true);
        for &(atom, exp) in mono {
            if atom == variable && exp.is_int() && exp.num > 0 {
                degree = exp.num;
            } else if is_parameter(cx, atom, variable) {
                number = false;
            } else {
                return None;
            }
        }
        let lead = number.then(|| coef.clone());
        best = match best {
            Some(have) if have.0 > degree => Some(have),
            Some(have) if have.0 == degree => Some((degree, None)),
            _ => Some((degree, lead)),
        };
    }
    let (degree, lead) = best?;
    Some((degree, lead.filter(RBig::is_positive)?))
}

/// Whether an atom is another variable, or none at all.
fn is_parameter(cx: &Context, atom: Atom, variable: Atom) -> bool {
    atom != variable && (!cx.varies(atom) || matches!(cx.kind(atom), Some(Kind::Var(_))))
}
