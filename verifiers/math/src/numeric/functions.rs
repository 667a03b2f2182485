//! Real functions by name.

use dashu_base::Sign;

use super::ball::{Arith, Ball};
use super::complex::Complex;
use crate::number;

/// The value of a function at a point; `None` where it has none.
pub(super) fn real(arith: &mut Arith, name: &str, at: &Ball) -> Option<Ball> {
    match name {
        "ln" => arith.ln(at),
        "arcsin" => arith.asin(at),
        "arccos" => arith.acos(at),
        "arctan" => arith.atan(at),
        "arccot" => {
            let pi = arith.pi();
            let right = arith.mul(&pi, &arith.rational(&number::small(1, 2))?)?;
            let angle = arith.atan(at)?;
            arith.sub(&right, &angle)
        }
        "sinh" | "cosh" | "tanh" => hyperbolic(arith, name, at),
        _ => None,
    }
}

fn hyperbolic(arith: &mut Arith, name: &str, at: &Ball) -> Option<Ball> {
    let half = arith.rational(&number::small(1, 2))?;
    let up = arith.exp(at)?;
    let down = arith.div(&Ball::int(1), &up)?;
    let (sum, rest) = (arith.add(&up, &down)?, arith.sub(&up, &down)?);
    match name {
        "sinh" => arith.mul(&rest, &half),
        "cosh" => arith.mul(&sum, &half),
        _ => arith.div(&rest, &sum),
    }
}

/// The least or the greatest of real numbers.
pub(super) fn extreme(
    arith: &Arith,
    name: &str,
    first: &Complex,
    rest: &[Complex],
) -> Option<Complex> {
    let mut best = first.clone();
    for next in rest {
        if best.im.is_some() || next.im.is_some() {
            return None;
        }
        let less = arith.sub(&next.re, &best.re)?.sign()? == Sign::Negative;
        if less == (name == "min") {
            best = next.clone();
        }
    }
    Some(best)
}
