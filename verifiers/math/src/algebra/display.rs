//! Canonical forms as text, for the evidence.

use super::poly::ROOT;
use crate::algebra::prelude::*;
use crate::number::bits;

/// The longest text, in bytes: evidence is a hint and not a copy.
pub(crate) const TEXT_BYTES_MAX: usize = 200;

/// The form as text, cut where it is long.
pub(crate) fn show(cx: &Context, value: &Canon) -> String {
    let mut out = String::new();
    write_canon(cx, &mut out, value, 0);
    out
}

fn write_canon(cx: &Context, out: &mut String, value: &Canon, depth: usize) {
    if value.den.is_one() {
        return write_poly(cx, out, &value.num, depth);
    }
    out.push('(');
    write_poly(cx, out, &value.num, depth);
    out.push_str(")/(");
    write_poly(cx, out, &value.den, depth);
    out.push(')');
}

fn write_poly(cx: &Context, out: &mut String, poly: &Poly, depth: usize) {
    if poly.is_zero() {
        out.push('0');
    }
    for (at, (mono, coef)) in poly.0.iter().enumerate() {
        if out.len() > TEXT_BYTES_MAX || depth > 4 {
            out.push('…');
            return;
        }
        write_term(cx, out, coef, mono, at == 0, depth);
    }
}

fn write_term(cx: &Context, out: &mut String, coef: &RBig, mono: &Mono, first: bool, depth: usize) {
    let text = if bits(coef) > 600 { "(big)".into() } else { coef.to_string() };
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => ("-", size),
        None => (if first { "" } else { "+" }, text.as_str()),
    };
    out.push_str(sign);
    let bare = size == "1" && !mono.is_empty();
    if !bare {
        out.push_str(size);
    }
    for (at, (atom, exp)) in mono.iter().enumerate() {
        if at > 0 || !bare {
            out.push('*');
        }
        write_atom(cx, out, *atom, depth);
        if exp.den != 1 {
            out.extend(["^(", &exp.num.to_string(), "/", &exp.den.to_string(), ")"]);
        } else if exp.num != 1 {
            out.extend(["^", &exp.num.to_string()]);
        }
    }
}

fn write_atom(cx: &Context, out: &mut String, atom: u32, depth: usize) {
    let wrapped = |out: &mut String, name: &str, args: &[Canon]| {
        out.push_str(name);
        out.push('(');
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            write_canon(cx, out, arg, depth + 1);
        }
        out.push(')');
    };
    match cx.kind(atom) {
        Some(Kind::Prime(prime)) => out.push_str(&prime.to_string()),
        Some(Kind::Minus) => out.push_str("(-1)"),
        Some(Kind::Var(name)) => out.push_str(name),
        Some(Kind::Pi) => out.push_str("pi"),
        Some(Kind::Euler) => out.push('e'),
        Some(Kind::Imaginary) => out.push('i'),
        Some(Kind::Ln(prime)) => out.extend(["ln(", &prime.to_string(), ")"]),
        Some(Kind::Sin(angle)) => wrapped(out, "sin", std::slice::from_ref(angle)),
        Some(Kind::Cos(angle)) => wrapped(out, "cos", std::slice::from_ref(angle)),
        Some(Kind::Fun(name @ ROOT, args)) => {
            let near = args.first().and_then(Canon::as_rational).unwrap_or(RBig::ZERO);
            let near = format!("{:.6}", near.to_f64_fast());
            out.extend([name, "(", near.as_str(), ")"]);
        }
        Some(Kind::Fun(name, args)) => wrapped(out, name, args),
        Some(Kind::Base(base)) => {
            out.push('(');
            write_poly(cx, out, base, depth + 1);
            out.push(')');
        }
        Some(Kind::Power(base, mono)) => {
            write_atom(cx, out, *base, depth + 1);
            out.push_str("^(");
            write_poly(cx, out, &Poly(vec![(mono.clone(), RBig::ONE)]), depth + 1);
            out.push(')');
        }
        None => {}
    }
}
