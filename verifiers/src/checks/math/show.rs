//! Canonical forms as text, for the evidence.

use dashu_ratio::RBig;

use super::poly::{Canon, Ctx, Kind, Mono, Poly};
use super::value::{Rank, Region, Scalar, Sign, Value};

/// Texts are cut here: evidence is a hint, not a copy.
const TEXT_BYTES_MAX: usize = 200;

impl Ctx<'_, '_> {
    /// The form as text, cut where it is long.
    pub(super) fn show(&self, value: &Canon) -> String {
        let mut out = String::new();
        self.canon(&mut out, value, 0);
        out
    }

    fn canon(&self, out: &mut String, value: &Canon, depth: usize) {
        if value.den.is_one() {
            return self.poly(out, &value.num, depth);
        }
        out.push('(');
        self.poly(out, &value.num, depth);
        out.push_str(")/(");
        self.poly(out, &value.den, depth);
        out.push(')');
    }

    fn poly(&self, out: &mut String, poly: &Poly, depth: usize) {
        if poly.is_zero() {
            out.push('0');
        }
        for (at, (mono, coef)) in poly.0.iter().enumerate() {
            if out.len() > TEXT_BYTES_MAX || depth > 4 {
                out.push('…');
                return;
            }
            self.term_text(out, coef, mono, at == 0, depth);
        }
    }

    fn term_text(&self, out: &mut String, coef: &RBig, mono: &Mono, first: bool, depth: usize) {
        let text = if super::number::bits(coef) > 600 { "(big)".into() } else { coef.to_string() };
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
            self.atom_text(out, *atom, depth);
            if exp.den != 1 {
                out.extend(["^(", &exp.num.to_string(), "/", &exp.den.to_string(), ")"]);
            } else if exp.num != 1 {
                out.extend(["^", &exp.num.to_string()]);
            }
        }
    }

    fn atom_text(&self, out: &mut String, atom: u32, depth: usize) {
        let wrapped = |out: &mut String, name: &str, args: &[Canon]| {
            out.push_str(name);
            out.push('(');
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self.canon(out, arg, depth + 1);
            }
            out.push(')');
        };
        match self.kind(atom) {
            Some(Kind::Prime(prime)) => out.push_str(&prime.to_string()),
            Some(Kind::Minus) => out.push_str("(-1)"),
            Some(Kind::Var(name)) => out.push_str(name),
            Some(Kind::Pi) => out.push_str("pi"),
            Some(Kind::Euler) => out.push('e'),
            Some(Kind::Imaginary) => out.push('i'),
            Some(Kind::Ln(prime)) => out.extend(["ln(", &prime.to_string(), ")"]),
            Some(Kind::Sin(angle)) => wrapped(out, "sin", std::slice::from_ref(angle)),
            Some(Kind::Cos(angle)) => wrapped(out, "cos", std::slice::from_ref(angle)),
            Some(Kind::Fun(name @ super::roots::ROOT, args)) => {
                let near = args.first().and_then(Canon::as_rational).unwrap_or(RBig::ZERO);
                let near = format!("{:.6}", near.to_f64_fast());
                out.extend([name, "(", near.as_str(), ")"]);
            }
            Some(Kind::Fun(name, args)) => wrapped(out, name, args),
            Some(Kind::Base(base)) => {
                out.push('(');
                self.poly(out, base, depth + 1);
                out.push(')');
            }
            Some(Kind::Power(base, mono)) => {
                self.atom_text(out, *base, depth + 1);
                out.push_str("^(");
                self.poly(out, &Poly(vec![(mono.clone(), RBig::ONE)]), depth + 1);
                out.push(')');
            }
            None => {}
        }
    }
}

impl Ctx<'_, '_> {
    /// A value as text, cut where it is long.
    pub(super) fn show_value(&self, value: &Value) -> String {
        let mut out = String::new();
        self.value_text(&mut out, value);
        out
    }

    fn value_text(&self, out: &mut String, value: &Value) {
        if out.len() > TEXT_BYTES_MAX {
            return;
        }
        match value {
            Value::Scalar(scalar) => self.scalar_text(out, scalar),
            Value::Infinity { negative } => out.push_str(if *negative { "-oo" } else { "oo" }),
            Value::Tuple { open, close, items } => {
                out.push(*open);
                self.items_text(out, items);
                out.push(*close);
            }
            Value::List(items) => self.items_text(out, items),
            Value::Set(items) => {
                out.push('{');
                self.items_text(out, items);
                out.push('}');
            }
            Value::Region(region) => self.region_text(out, region),
            Value::Matrix(rows) => {
                for row in rows {
                    out.push('[');
                    self.items_text(out, row);
                    out.push(']');
                }
            }
            Value::Ratio(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    out.push_str(if at > 0 { ":" } else { "" });
                    out.push_str(&self.show(part));
                }
            }
            Value::Relation(relation) => {
                out.push_str(&self.show(&relation.left));
                out.push_str(match relation.sign {
                    Sign::Zero => " = 0",
                    Sign::NotZero => " != 0",
                    Sign::Negative => " < 0",
                    Sign::NotPositive => " <= 0",
                });
            }
            Value::Ranks(ranks) => self.ranks_text(out, ranks),
            Value::Named(named) => {
                out.push_str(&named.label);
                out.push_str(" = ");
                self.value_text(out, &named.value);
            }
            Value::Calendar(value) => out.push_str(&super::calendar::show(*value)),
            Value::Family(family) => {
                for term in &family.terms {
                    out.push_str(&self.show(term));
                    out.push_str(", ");
                }
                out.push_str("every ");
                out.push_str(&self.show(&family.period));
            }
            Value::Cases(branches) => {
                for (value, condition) in branches {
                    self.value_text(out, value);
                    if let Some(condition) = condition {
                        out.push_str(" if ");
                        self.value_text(out, condition);
                    }
                    out.push_str("; ");
                }
            }
            Value::Text(text) => out.push_str(text),
        }
    }

    fn ranks_text(&self, out: &mut String, ranks: &[Rank]) {
        for (at, rank) in ranks.iter().enumerate() {
            if at > 0 {
                out.push_str(if rank.strict { " < " } else { " <= " });
            }
            let terms: Vec<String> = rank.terms.iter().map(|term| self.show(term)).collect();
            out.push_str(&terms.join(" = "));
        }
    }

    fn scalar_text(&self, out: &mut String, scalar: &Scalar) {
        out.push_str(&self.show(&scalar.canon));
        if let Some(unit) = &scalar.unit {
            out.push(' ');
            out.push_str(unit);
        }
    }

    fn items_text(&self, out: &mut String, items: &[Value]) {
        for (at, item) in items.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            self.value_text(out, item);
        }
    }

    fn region_text(&self, out: &mut String, region: &Region) {
        if region.parts.is_empty() {
            out.push_str("empty");
        }
        for (at, part) in region.parts.iter().enumerate().take(20) {
            out.push_str(if at > 0 { " u " } else { "" });
            let end = |end: &Option<Canon>, sign: &str| {
                end.as_ref().map_or(format!("{sign}oo"), |end| self.show(end))
            };
            out.push(if part.low_closed { '[' } else { '(' });
            out.push_str(&end(&part.low, "-"));
            out.push_str(", ");
            out.push_str(&end(&part.high, ""));
            out.push(if part.high_closed { ']' } else { ')' });
        }
    }
}
