//! Sine and cosine on canonical forms: exact values, multiples and sums of angles.

use dashu_base::Signed as _;

use super::radical::root_rational;
use crate::algebra::prelude::*;
use crate::number;

/// Sums of more angles are not expanded.
const TERMS_MAX: usize = 4;
/// Higher multiples of an angle are not expanded.
const MULTIPLE_MAX: i64 = 8;

#[derive(Clone, Copy, PartialEq)]
enum Wave {
    Sin,
    Cos,
}

pub(crate) fn sin(cx: &mut Context, angle: &Canon) -> Result<Canon, Stop> {
    wave(cx, Wave::Sin, angle)
}

pub(crate) fn cos(cx: &mut Context, angle: &Canon) -> Result<Canon, Stop> {
    wave(cx, Wave::Cos, angle)
}

fn wave(cx: &mut Context, wave: Wave, angle: &Canon) -> Result<Canon, Stop> {
    if angle.is_zero() {
        return Ok(Canon::int(i64::from(wave == Wave::Cos)));
    }
    if !angle.den.is_one() {
        return wave_atom(cx, wave, angle);
    }
    if let Some(turns) = half_turns(cx, &angle.num) {
        // sin(q pi) = cos(pi/2 - q pi), so that one family of atoms is enough.
        let turns = if wave == Wave::Sin { small(1, 2) - turns } else { turns };
        return cos_half_turns(cx, &turns);
    }
    match angle.num.0.as_slice() {
        [(mono, coef)] => wave_multiple(cx, wave, &mono.clone(), &coef.clone()),
        terms if terms.len() <= TERMS_MAX => {
            let (first, rest) = split(&angle.num);
            wave_sum(cx, wave, &first, &rest)
        }
        _ => wave_atom(cx, wave, angle),
    }
}

/// sin(a + b) and cos(a + b).
fn wave_sum(cx: &mut Context, wave: Wave, a: &Canon, b: &Canon) -> Result<Canon, Stop> {
    let (sin_a, cos_a) = (sin(cx, a)?, cos(cx, a)?);
    let (sin_b, cos_b) = (sin(cx, b)?, cos(cx, b)?);
    if wave == Wave::Sin {
        let (one, two) = (cx.mul(&sin_a, &cos_b)?, cx.mul(&cos_a, &sin_b)?);
        cx.add(&one, &two)
    } else {
        let (one, two) = (cx.mul(&cos_a, &cos_b)?, cx.mul(&sin_a, &sin_b)?);
        cx.sub(&one, &two)
    }
}

/// sin(n x) and cos(n x), by adding x again and again.
fn wave_multiple(cx: &mut Context, wave: Wave, mono: &Mono, coef: &RBig) -> Result<Canon, Stop> {
    let negative = coef.is_negative();
    let size = if negative { -coef } else { coef.clone() };
    let times = i64::try_from(size.numerator().clone()).unwrap_or(i64::MAX);
    let times = if times > MULTIPLE_MAX { 1 } else { times };
    let unit = Canon::poly(Poly(vec![(mono.clone(), size / small(times, 1))]));
    let height = wave_atom(cx, Wave::Sin, &unit)?;
    let width = wave_atom(cx, Wave::Cos, &unit)?;
    let (mut up, mut across) = (height.clone(), width.clone());
    for _ in 1..times {
        let (one, two) = (cx.mul(&up, &width)?, cx.mul(&across, &height)?);
        let (three, four) = (cx.mul(&across, &width)?, cx.mul(&up, &height)?);
        up = cx.add(&one, &two)?;
        across = cx.sub(&three, &four)?;
    }
    Ok(match wave {
        Wave::Cos => across,
        Wave::Sin if negative => negated(&up),
        Wave::Sin => up,
    })
}

fn wave_atom(cx: &mut Context, wave: Wave, angle: &Canon) -> Result<Canon, Stop> {
    let negative = angle.num.leads_negative();
    let angle = if negative { negated(angle) } else { angle.clone() };
    match wave {
        Wave::Cos => cx.of(Kind::Cos(angle)),
        Wave::Sin => {
            let sine = cx.of(Kind::Sin(angle))?;
            Ok(if negative { negated(&sine) } else { sine })
        }
    }
}

/// The angle as a multiple of pi, where it is one.
fn half_turns(cx: &Context, angle: &Poly) -> Option<RBig> {
    let [(mono, coef)] = angle.0.as_slice() else { return None };
    let [(atom, exp)] = mono.as_slice() else { return None };
    (cx.kind(*atom) == Some(&Kind::Pi) && *exp == Exp::ONE).then(|| coef.clone())
}

/// cos(q pi), brought into the first quadrant.
fn cos_half_turns(cx: &mut Context, turns: &RBig) -> Result<Canon, Stop> {
    let turns = turns - RBig::from((turns / small(2, 1)).floor()) * small(2, 1);
    let turns = if turns > small(1, 1) { small(2, 1) - turns } else { turns };
    if turns > small(1, 2) {
        let mirrored = cos_first(cx, &(small(1, 1) - turns))?;
        return Ok(negated(&mirrored));
    }
    cos_first(cx, &turns)
}

fn cos_first(cx: &mut Context, turns: &RBig) -> Result<Canon, Stop> {
    let whole = |by: i64| number::whole(&(turns * small(by, 1)));
    // (a + b sqrt(c)) / 4, or a sum of two roots over 4.
    let (first, second): ((i64, i64), (i64, i64)) = match (whole(12), whole(5)) {
        (Some(0), _) => ((4, 1), (0, 1)),
        (Some(1), _) => ((1, 6), (1, 2)),
        (Some(2), _) => ((2, 3), (0, 1)),
        (Some(3), _) => ((2, 2), (0, 1)),
        (Some(4), _) => ((2, 1), (0, 1)),
        (Some(5), _) => ((1, 6), (-1, 2)),
        (Some(6), _) => return Ok(Canon::int(0)),
        (_, Some(1)) => ((1, 5), (1, 1)),
        (_, Some(2)) => ((1, 5), (-1, 1)),
        _ => {
            let pi = cx.of(Kind::Pi)?;
            let angle = cx.mul(&pi, &Canon::rational(turns.clone()))?;
            return cx.of(Kind::Cos(angle));
        }
    };
    let one = surd(cx, first)?;
    let two = surd(cx, second)?;
    let sum = cx.add(&one, &two)?;
    cx.mul(&sum, &Canon::rational(small(1, 4)))
}

fn surd(cx: &mut Context, (times, radicand): (i64, i64)) -> Result<Canon, Stop> {
    let root = root_rational(cx, &small(radicand, 1), Exp { num: 1, den: 2 })?;
    cx.mul(&root, &Canon::int(times))
}

fn split(poly: &Poly) -> (Canon, Canon) {
    let mut terms = poly.0.clone();
    let rest = terms.split_off(1.min(terms.len()));
    (Canon::poly(Poly(terms)), Canon::poly(Poly(rest)))
}
