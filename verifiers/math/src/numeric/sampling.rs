//! The numeric rungs: constants to 512 bits, expressions with variables at fixed sample points.
//!
//! A ball without zero proves a difference. The other way round nothing is proved: where only zero
//! fits, the verdict says `numeric-equal`.

use dashu_ratio::RBig;

use super::evaluate;
use super::evaluate::Near;
use super::far;
use crate::algebra::{Atom, Canon, Context, Kind, variables};
use crate::number::{bits, small};
use crate::stop::Stop;

/// Precisions at which a constant is looked at.
const BITS: [usize; 2] = [64, 512];
/// Precision at a sampled point.
const POINT_BITS: usize = 64;
/// Precision at a sampled point where that does not decide.
const FINE_BITS: usize = 256;
/// The number of points at which both sides must agree.
const POINTS_WANTED: usize = 4;
/// Coordinates on both sides of 0, 1 and -1, away from the zeros of common functions. Their
/// denominators are large primes: no period with a short name divides them.
const COORDINATES: [(i64, i64); 12] = [
    (1_400_004, 1_000_003),
    (272_736, 1_000_033),
    (3_250_120, 1_000_037),
    (-714_314, 1_000_039),
    (4_833_725, 1_000_081),
    (111_122, 1_000_099),
    (-5_667_330, 1_000_117),
    (826_187, 1_000_121),
    (-153_867, 1_000_133),
    (4_300_649, 1_000_151),
    (294_164, 1_000_159),
    (-2_583_775, 1_000_171),
];
/// More variables than this are not sampled.
const VARIABLES_MAX: usize = 12;

/// Compares a difference with zero numerically.
pub(crate) fn near_zero(cx: &mut Context, difference: &Canon) -> Result<Near, Stop> {
    let variables = variables::variables(cx, difference);
    if variables.is_empty() {
        return constant_near_zero(cx, difference);
    }
    if variables.len() > VARIABLES_MAX {
        return Ok(Near::Open);
    }
    let whole = needs_integers(cx);
    let mut agreed = 0;
    for point in 0..COORDINATES.len() {
        let at = coordinates(&variables, point, whole);
        let mut near = evaluate::near(cx, difference, &at, POINT_BITS)?;
        if near == Some(Near::Open) {
            near = evaluate::near(cx, difference, &at, FINE_BITS)?;
        }
        match near {
            Some(Near::Apart) => return Ok(Near::Apart),
            Some(Near::Zero) => agreed += 1,
            Some(Near::Open) | None => {}
        }
        if agreed == POINTS_WANTED {
            break;
        }
    }
    if agreed < POINTS_WANTED {
        return Ok(Near::Open);
    }
    for at in far::points(cx, difference, &variables, whole) {
        let bits = at.iter().map(|(_, value)| bits(value)).max().unwrap_or(0);
        let bits = (bits / POINT_BITS + 2) * POINT_BITS;
        if evaluate::near(cx, difference, &at, bits)? == Some(Near::Apart) {
            return Ok(Near::Apart);
        }
    }
    Ok(Near::Zero)
}

fn constant_near_zero(cx: &mut Context, difference: &Canon) -> Result<Near, Stop> {
    let mut near = Near::Open;
    for bits in BITS {
        near = match evaluate::near(cx, difference, &[], bits)? {
            None => return Ok(Near::Open),
            Some(Near::Apart) => return Ok(Near::Apart),
            Some(near) => near,
        };
    }
    Ok(near)
}

/// Whether a function occurs that is defined for integers alone.
fn needs_integers(cx: &Context) -> bool {
    let counts =
        |name: &str| matches!(name, "factorial" | "binom" | "mod" | "gcd" | "lcm" | "sum" | "prod");
    cx.atoms.iter().any(|kind| match kind {
        Kind::Fun(name, _) => counts(name),
        Kind::Power(base, _) => matches!(cx.kind(*base), Some(Kind::Minus)),
        _ => false,
    })
}

/// The coordinates of a sample point: different for all variables, and for all points.
#[expect(clippy::indexing_slicing, reason = "a remainder is below the length")]
fn coordinates(variables: &[Atom], point: usize, whole: bool) -> Vec<(Atom, RBig)> {
    let number = |at: usize| i64::try_from(at).unwrap_or(0);
    let coordinate = |at: usize| {
        if whole {
            return small(number(4 + point + 5 * at % 7), 1);
        }
        let (top, below) = COORDINATES[(point + 5 * at) % COORDINATES.len()];
        small(top, below) + small(number(at / COORDINATES.len()), 1)
    };
    variables.iter().enumerate().map(|(at, atom)| (*atom, coordinate(at))).collect()
}
