//! Sample points of large size, for functions that change far from zero: `\min(x, 100)`,
//! `n \bmod 1000`, `|x - 1000|`.

use dashu_base::{Abs as _, Signed as _};
use dashu_ratio::RBig;

use crate::algebra::{Atom, Canon, Context, Kind, Poly};
use crate::number::{bits, small};

/// Functions that are made of pieces, or repeat.
const PIECEWISE: [&str; 9] = ["abs", "min", "max", "mod", "gcd", "lcm", "floor", "ceil", "arg"];
/// Sizes at which every such function is looked at, as powers of two.
const SIZES: [usize; 3] = [10, 40, 120];
/// Constants below this are within reach of the other points.
const CONSTANT_MIN: i64 = 4;
/// The largest size of a constant whose surroundings are looked at, in bits.
const CONSTANT_BITS_MAX: usize = 192;
/// The most constants whose surroundings are looked at.
const CONSTANTS_MAX: usize = 4;

/// Sample points of large size, where a function occurs that may change there; `whole` asks for
/// positive integers.
pub(super) fn points(
    cx: &Context,
    form: &Canon,
    variables: &[Atom],
    whole: bool,
) -> Vec<Vec<(Atom, RBig)>> {
    let changes = |kind: &Kind| match kind {
        Kind::Fun(name, _) => PIECEWISE.contains(name),
        Kind::Base(_) => true,
        _ => false,
    };
    if !cx.atoms.iter().any(changes) {
        return Vec::new();
    }
    let mut values = Vec::new();
    for size in SIZES {
        let power = RBig::from(2).pow(isize::try_from(size).unwrap_or(0));
        let value = power + small(if whole { 3 } else { 5 }, if whole { 1 } else { 7 });
        values.extend([value.clone(), -value]);
    }
    for constant in constants(cx, form) {
        let twice = &constant * small(2, 1) + RBig::ONE;
        let beyond = RBig::from((&constant * small(19, 13)).floor());
        values.extend([constant, beyond, twice.clone(), -twice]);
    }
    values.retain(|value| !whole || !value.is_negative());
    let point = |value: &RBig| {
        let at = variables.iter().enumerate();
        at.map(|(at, atom)| {
            let times = i64::try_from(at).unwrap_or(0) + 1;
            (*atom, value * small(times, 1))
        })
        .collect()
    };
    values.iter().map(point).collect()
}

/// The largest constants of a form and of the functions in it.
fn constants(cx: &Context, form: &Canon) -> Vec<RBig> {
    let mut found = Vec::new();
    let mut add = |poly: &Poly| {
        for (_, coef) in &poly.0 {
            let size = coef.clone().abs();
            if size >= small(CONSTANT_MIN, 1) && bits(&size) <= CONSTANT_BITS_MAX {
                found.push(RBig::from(size.ceil()));
            }
        }
    };
    for part in [&form.num, &form.den] {
        add(part);
    }
    for kind in &cx.atoms {
        match kind {
            Kind::Fun(_, args) => args.iter().for_each(|arg| {
                add(&arg.num);
                add(&arg.den);
            }),
            Kind::Base(base) => add(base),
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    found.reverse();
    found.truncate(CONSTANTS_MAX);
    found
}
