//! Sums and products over integers: written out, geometric, of powers.

use super::approx::order;
use super::derivative::derivative;
use super::functions::binomial;
use super::poly::cofactor;
use super::power::abs;
use super::radical::pow_int;
use super::substitution::substitute;
use crate::algebra::prelude::*;

/// A sum or product of more terms than this is not written out.
const TERMS_MAX: i64 = 2_000;
/// Powers beyond this are not summed in closed form.
const DEGREE_MAX: i64 = 12;

/// The sum (or the product) of a form over integers from `from` to `to`; `None` for `to`
/// is infinity.
pub(crate) fn series(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    from: &Canon,
    to: Option<&Canon>,
    product: bool,
) -> Result<Canon, Stop> {
    if let (Some(first), Some(last)) = (from.as_integer(), to.and_then(Canon::as_integer)) {
        return written_out(cx, form, variable, (first, last), product);
    }
    if product {
        return Err(Stop::Cap);
    }
    if let Some(sum) = geometric(cx, form, variable, from, to)? {
        return Ok(sum);
    }
    match to {
        Some(to) => power_sums(cx, form, variable, from, to),
        None => zeta(cx, form, variable, from),
    }
}

fn written_out(
    cx: &mut Context,
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
        let term = substitute(cx, form, variable, &Canon::int(at))?;
        whole = if product { cx.mul(&whole, &term)? } else { cx.add(&whole, &term)? };
    }
    Ok(whole)
}

/// A sum whose terms have a fixed ratio.
fn geometric(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    from: &Canon,
    to: Option<&Canon>,
) -> Result<Option<Canon>, Stop> {
    let next = cx.add(&Canon::atom(variable, Exp::ONE), &Canon::int(1))?;
    let next = substitute(cx, form, variable, &next)?;
    let ratio = cx.div(&next, form)?;
    let slope = derivative(cx, &ratio, variable)?;
    if !slope.is_zero() || cx.equal(&ratio, &Canon::int(1))? {
        return Ok(None);
    }
    let first = substitute(cx, form, variable, from)?;
    let rest = cx.sub(&Canon::int(1), &ratio)?;
    let Some(to) = to else {
        let size = abs(cx, &ratio)?;
        let shrinks = order(cx, &size, &Canon::int(1))? == Some(std::cmp::Ordering::Less);
        return if shrinks { cx.div(&first, &rest).map(Some) } else { Err(Stop::Undefined) };
    };
    let count = cx.sub(to, from)?;
    let count = cx.add(&count, &Canon::int(1))?;
    let last = pow(cx, &ratio, &count)?;
    let part = cx.sub(&Canon::int(1), &last)?;
    let part = cx.mul(&first, &part)?;
    cx.div(&part, &rest).map(Some)
}

/// The sum of a polynomial, by the sums of powers.
fn power_sums(
    cx: &mut Context,
    form: &Canon,
    variable: Atom,
    from: &Canon,
    to: &Canon,
) -> Result<Canon, Stop> {
    let before = cx.sub(from, &Canon::int(1))?;
    let mut sum = Canon::int(0);
    for (mono, coef) in &form.num.0.clone() {
        let degree =
            mono.iter().find(|(atom, _)| *atom == variable).map_or(Exp::int(0), |(_, exp)| *exp);
        if !degree.is_int() || !(0..=DEGREE_MAX).contains(&degree.num) {
            return Err(Stop::Cap);
        }
        let rest = Canon::poly(Poly(vec![(cofactor(mono, variable), coef.clone())]));
        let (upper, lower) = (power_sum(cx, degree.num, to)?, power_sum(cx, degree.num, &before)?);
        let part = cx.sub(&upper, &lower)?;
        let part = cx.mul(&part, &rest)?;
        sum = cx.add(&sum, &part)?;
    }
    let den = Canon::poly(form.den.clone());
    let fixed = derivative(cx, &den, variable)?.is_zero();
    if fixed { cx.div(&sum, &den) } else { Err(Stop::Cap) }
}

/// `1^m + 2^m + ... + n^m` as a polynomial in `n`.
fn power_sum(cx: &mut Context, m: i64, n: &Canon) -> Result<Canon, Stop> {
    let up = cx.add(n, &Canon::int(1))?;
    let mut sums: Vec<Canon> = Vec::new();
    for power in 0..=m {
        let mut rest = pow_int(cx, &up, power + 1)?;
        rest = cx.sub(&rest, &Canon::int(1))?;
        for (j, sum) in (0i64..).zip(sums.clone()) {
            let choose = binomial(cx, &Canon::int(power + 1), &Canon::int(j))?;
            let part = cx.mul(&choose, &sum)?;
            rest = cx.sub(&rest, &part)?;
        }
        sums.push(cx.mul(&rest, &Canon::rational(small(1, power + 1)))?);
    }
    sums.pop().ok_or(Stop::Cap)
}

/// `1 + 1/2^m + 1/3^m + ...` for even `m`.
fn zeta(cx: &mut Context, form: &Canon, variable: Atom, from: &Canon) -> Result<Canon, Stop> {
    const VALUES: [(i64, i64); 4] = [(2, 6), (4, 90), (6, 945), (8, 9450)];
    let ([(mono, coef)], true, Some(1)) =
        (form.num.0.as_slice(), form.den.is_one(), from.as_integer())
    else {
        return Err(Stop::Cap);
    };
    let [(atom, exp)] = mono.as_slice() else { return Err(Stop::Cap) };
    let value = VALUES.iter().find(|(m, _)| *exp == Exp::int(-m) && *atom == variable);
    let (m, below) = value.copied().ok_or(Stop::Cap)?;
    let pi = cx.of(Kind::Pi)?;
    let power = pow_int(cx, &pi, m)?;
    cx.mul(&power, &Canon::rational(coef * small(1, below)))
}
