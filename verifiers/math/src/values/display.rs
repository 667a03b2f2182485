//! Values as text, for the evidence.

use super::value::{Rank, Scalar, Value};
use crate::algebra::{Canon, Context, TEXT_BYTES_MAX, show};
use crate::sets::{Region, Sign};
use crate::syntax::calendar;

/// A value as text, cut where it is long.
pub fn show_value(cx: &Context, value: &Value) -> String {
    let mut out = String::new();
    write_value(cx, &mut out, value);
    out
}

fn write_value(cx: &Context, out: &mut String, value: &Value) {
    if out.len() > TEXT_BYTES_MAX {
        return;
    }
    match value {
        Value::Scalar(scalar) => write_scalar(cx, out, scalar),
        Value::Infinity { negative } => out.push_str(if *negative { "-oo" } else { "oo" }),
        Value::Tuple { open, close, items } => {
            out.push(*open);
            write_items(cx, out, items);
            out.push(*close);
        }
        Value::List(items) => write_items(cx, out, items),
        Value::Set(items) => {
            out.push('{');
            write_items(cx, out, items);
            out.push('}');
        }
        Value::Region(region) => write_region(cx, out, region),
        Value::Matrix(rows) => {
            for row in rows {
                out.push('[');
                write_items(cx, out, row);
                out.push(']');
            }
        }
        Value::Ratio(parts, _) => {
            for (at, part) in parts.iter().enumerate() {
                out.push_str(if at > 0 { ":" } else { "" });
                out.push_str(&show(cx, part));
            }
        }
        Value::Relation(relation) => {
            out.push_str(&show(cx, &relation.left));
            out.push_str(match relation.sign {
                Sign::Zero => " = 0",
                Sign::NotZero => " != 0",
                Sign::Negative => " < 0",
                Sign::NotPositive => " <= 0",
            });
        }
        Value::Ranks(ranks) => write_ranks(cx, out, ranks),
        Value::Named(named) => {
            out.push_str(&named.label);
            out.push_str(" = ");
            write_value(cx, out, &named.value);
        }
        Value::Calendar(value) => out.push_str(&calendar::show(*value)),
        Value::Family(family) => {
            for term in &family.terms {
                out.push_str(&show(cx, term));
                out.push_str(", ");
            }
            out.push_str("every ");
            out.push_str(&show(cx, &family.period));
        }
        Value::Cases(branches) => {
            for (value, condition) in branches {
                write_value(cx, out, value);
                if let Some(condition) = condition {
                    out.push_str(" if ");
                    write_value(cx, out, condition);
                }
                out.push_str("; ");
            }
        }
        Value::Text(text) => out.push_str(text),
    }
}

fn write_ranks(cx: &Context, out: &mut String, ranks: &[Rank]) {
    for (at, rank) in ranks.iter().enumerate() {
        if at > 0 {
            out.push_str(if rank.strict { " < " } else { " <= " });
        }
        let terms: Vec<String> = rank.terms.iter().map(|term| show(cx, term)).collect();
        out.push_str(&terms.join(" = "));
    }
}

fn write_scalar(cx: &Context, out: &mut String, scalar: &Scalar) {
    out.push_str(&show(cx, &scalar.canon));
    if let Some(unit) = &scalar.unit {
        out.push(' ');
        out.push_str(unit);
    }
}

fn write_items(cx: &Context, out: &mut String, items: &[Value]) {
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write_value(cx, out, item);
    }
}

fn write_region(cx: &Context, out: &mut String, region: &Region) {
    if region.parts.is_empty() {
        out.push_str("empty");
    }
    for (at, part) in region.parts.iter().enumerate().take(20) {
        out.push_str(if at > 0 { " u " } else { "" });
        let end = |end: &Option<Canon>, sign: &str| {
            end.as_ref().map_or(format!("{sign}oo"), |end| show(cx, end))
        };
        out.push(if part.low_closed { '[' } else { '(' });
        out.push_str(&end(&part.low, "-"));
        out.push_str(", ");
        out.push_str(&end(&part.high, ""));
        out.push(if part.high_closed { ']' } else { ')' });
    }
}
