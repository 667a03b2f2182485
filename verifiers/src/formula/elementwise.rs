//! Functions of one place, along slices.

use super::functions::Function;
use super::tree::{MISSING, is_missing};

/// An argument along the places of a result.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    One(f64),
    Many(&'a [f64]),
}

/// The most factors of a binomial coefficient.
const CHOOSE_MAX: f64 = 10_000.0;

/// Of numbers.
pub(super) fn scalar(function: Function, args: &[f64]) -> f64 {
    let operands: Vec<Operand<'_>> = args.iter().copied().map(Operand::One).collect();
    let mut out = [0.0];
    fill(function, &operands, &mut out);
    out[0]
}

/// Writes the function of the operands to `out`.
pub(super) fn fill(function: Function, operands: &[Operand<'_>], out: &mut [f64]) {
    match *operands {
        [x] => one(function, x, out),
        [x, y] => two(function, x, y, out),
        [x, y, z] => three(function, [x, y, z], out),
        _ => out.fill(f64::NAN),
    }
}

fn one(function: Function, x: Operand<'_>, out: &mut [f64]) {
    match function {
        Function::Spread => each(x, out, |x| x),
        Function::Negate => each(x, out, |x| -x),
        Function::Not => each(x, out, |x| truth(x == 0.0)),
        Function::Abs => each(x, out, f64::abs),
        Function::Sqrt => each(x, out, f64::sqrt),
        Function::Exp => each(x, out, f64::exp),
        Function::Log => each(x, out, f64::ln),
        Function::Log2 => each(x, out, f64::log2),
        Function::Sigmoid => each(x, out, |x| 1.0 / (1.0 + (-x).exp())),
        Function::Tanh => each(x, out, f64::tanh),
        Function::Cos => each(x, out, f64::cos),
        Function::Floor => each(x, out, f64::floor),
        Function::Ceiling => each(x, out, f64::ceil),
        Function::Round => each(x, out, f64::round_ties_even),
        Function::Sign => each(x, out, |x| truth(x > 0.0) - truth(x < 0.0)),
        Function::IsMissing => raw(x, x, out, |x, _| truth(is_missing(x))),
        _ => out.fill(f64::NAN),
    }
}

fn two(function: Function, x: Operand<'_>, y: Operand<'_>, out: &mut [f64]) {
    match function {
        Function::Add => both(x, y, out, |x, y| x + y),
        Function::Subtract => both(x, y, out, |x, y| x - y),
        Function::Multiply => both(x, y, out, |x, y| x * y),
        Function::Divide => both(x, y, out, |x, y| x / y),
        Function::Remainder => both(x, y, out, |x, y| x % y),
        Function::Power => both(x, y, out, power),
        Function::Less => both(x, y, out, |x, y| truth(x < y)),
        Function::LessOrEqual => both(x, y, out, |x, y| truth(x <= y)),
        Function::Greater => both(x, y, out, |x, y| truth(x > y)),
        Function::GreaterOrEqual => both(x, y, out, |x, y| truth(x >= y)),
        #[expect(clippy::float_cmp, reason = "a formula asks for equality")]
        Function::Equal => both(x, y, out, |x, y| truth(x == y)),
        #[expect(clippy::float_cmp, reason = "a formula asks for equality")]
        Function::NotEqual => both(x, y, out, |x, y| truth(x != y)),
        Function::Smaller => both(x, y, out, f64::min),
        Function::Larger => both(x, y, out, f64::max),
        Function::Choose => both(x, y, out, choose),
        Function::And => raw(x, y, out, and),
        Function::Or => raw(x, y, out, or),
        Function::Default => raw(x, y, out, |x, y| if is_missing(x) { y } else { x }),
        Function::Only => raw(x, y, out, |x, y| if is_true(y) { x } else { MISSING }),
        _ => out.fill(f64::NAN),
    }
}

fn three(function: Function, operands: [Operand<'_>; 3], out: &mut [f64]) {
    let of: fn([f64; 3]) -> f64 = match function {
        Function::Clip => |all| poison(all).unwrap_or_else(|| all[0].max(all[1]).min(all[2])),
        Function::Where => |[when, yes, no]| match poison([when]) {
            Some(bad) => bad,
            None if when == 0.0 => no,
            None => yes,
        },
        _ => |_| f64::NAN,
    };
    for (at, out) in out.iter_mut().enumerate() {
        *out = of(operands.map(|operand| operand.at(at)));
    }
}

impl Operand<'_> {
    fn at(self, at: usize) -> f64 {
        match self {
            Self::One(number) => number,
            #[expect(clippy::indexing_slicing, reason = "operands are as long as the result")]
            Self::Many(numbers) => numbers[at],
        }
    }
}

/// Of a number; what is missing or NaN stays so.
fn each(x: Operand<'_>, out: &mut [f64], of: impl Fn(f64) -> f64) {
    raw(x, x, out, |x, _| if x.is_nan() { x } else { of(x) });
}

/// Of two numbers, neither of which is missing or NaN.
fn both(x: Operand<'_>, y: Operand<'_>, out: &mut [f64], of: impl Fn(f64, f64) -> f64) {
    raw(x, y, out, |x, y| {
        // A sum has a NaN of its own wherever an operand has one: one test for both.
        if (x + y).is_nan() { poison([x, y]).unwrap_or_else(|| of(x, y)) } else { of(x, y) }
    });
}

/// Of any two numbers.
fn raw(x: Operand<'_>, y: Operand<'_>, out: &mut [f64], of: impl Fn(f64, f64) -> f64) {
    match (x, y) {
        (Operand::Many(x), Operand::Many(y)) => {
            for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                *out = of(*x, *y);
            }
        }
        (Operand::Many(x), Operand::One(y)) => {
            for (out, x) in out.iter_mut().zip(x) {
                *out = of(*x, y);
            }
        }
        (Operand::One(x), Operand::Many(y)) => {
            for (out, y) in out.iter_mut().zip(y) {
                *out = of(x, *y);
            }
        }
        (Operand::One(x), Operand::One(y)) => out.fill(of(x, y)),
    }
}

/// What is made of numbers of which one is missing or NaN; `None` where none is.
fn poison<const N: usize>(numbers: [f64; N]) -> Option<f64> {
    if numbers.into_iter().any(is_missing) {
        return Some(MISSING);
    }
    numbers.into_iter().any(f64::is_nan).then_some(f64::NAN)
}

fn is_true(number: f64) -> bool {
    number != 0.0 && !number.is_nan()
}

pub(super) fn truth(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

fn and(x: f64, y: f64) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { poison([x, y]).unwrap_or(1.0) }
}

fn or(x: f64, y: f64) -> f64 {
    if is_true(x) || is_true(y) { 1.0 } else { poison([x, y]).unwrap_or(0.0) }
}

fn power(base: f64, exponent: f64) -> f64 {
    base.powf(exponent)
}

fn choose(all: f64, some: f64) -> f64 {
    if some < 0.0 || all < some {
        return 0.0;
    }
    let some = some.min(all - some);
    if some > CHOOSE_MAX {
        return f64::NAN;
    }
    let (mut chosen, mut factor) = (1.0, 1.0);
    while factor <= some {
        chosen = chosen * (all - some + factor) / factor;
        factor += 1.0;
    }
    chosen
}
