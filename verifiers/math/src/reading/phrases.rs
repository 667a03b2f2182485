//! Sets of numbers in words: "no solution", "all real numbers except 2", "at least 5".

use dashu_ratio::RBig;

use crate::algebra::Context;
use crate::sets::{Interval, Region, complement, family};
use crate::stop::Stop;
use crate::syntax::units;
use crate::values::{Value, region_of};

/// A phrase that a value completes to a set.
#[derive(Clone, Copy)]
pub(crate) enum Phrase {
    Except,
    Multiples,
    Above { closed: bool },
    Below { closed: bool },
}

/// The set that a text names as a whole.
pub(crate) fn set_of(text: &str) -> Option<Value> {
    const EMPTY: &[&str] = &[
        "no solution",
        "no solutions",
        "no real solution",
        "no real solutions",
        "no real roots",
        "no roots",
        "empty set",
        "no such x",
        "there is no solution",
        "there are no solutions",
        "there are no real solutions",
        "no values",
        "无解",
        "没有解",
        "方程无解",
        "无实数解",
        "無解",
        "нет решений",
    ];
    const ALL: &[&str] = &[
        "all real numbers",
        "all reals",
        "all real x",
        "all real values",
        "all real values of x",
        "any real number",
        "every real number",
        "all x",
        "x is any real number",
        "set of all real numbers",
        "set of real numbers",
        "all real number",
        "real numbers",
    ];
    const NATURAL: &[&str] = &[
        "positive integers",
        "all positive integers",
        "natural numbers",
        "all natural numbers",
        "set of positive integers",
        "set of natural numbers",
        "any positive integer",
        "every positive integer",
    ];
    const WHOLE: &[&str] =
        &["all integers", "any integer", "every integer", "set of all integers", "set of integers"];
    if EMPTY.contains(&text) {
        return Some(Value::Region(Region::empty()));
    }
    if WHOLE.contains(&text) {
        return Some(Value::Family(family::whole_numbers()));
    }
    if NATURAL.contains(&text) {
        return Some(Value::Family(family::natural_numbers()));
    }
    ALL.contains(&text).then(|| Value::Region(Region::everything()))
}

/// A phrase at the start of a text, and the text after it.
pub(crate) fn begins(text: &str) -> Option<(Phrase, &str)> {
    const PHRASES: &[(&str, Phrase)] = &[
        ("all real numbers except", Phrase::Except),
        ("all reals except", Phrase::Except),
        ("multiples of", Phrase::Multiples),
        ("all multiples of", Phrase::Multiples),
        ("at least", Phrase::Above { closed: true }),
        ("no less than", Phrase::Above { closed: true }),
        ("greater than or equal to", Phrase::Above { closed: true }),
        ("greater than", Phrase::Above { closed: false }),
        ("more than", Phrase::Above { closed: false }),
        ("at most", Phrase::Below { closed: true }),
        ("no more than", Phrase::Below { closed: true }),
        ("less than or equal to", Phrase::Below { closed: true }),
        ("less than", Phrase::Below { closed: false }),
    ];
    let inner = text.strip_prefix("\\text{").unwrap_or(text).trim_start();
    let found = PHRASES.iter().find_map(|(words, phrase)| {
        let head = inner.get(..words.len()).filter(|head| head.eq_ignore_ascii_case(words))?;
        Some((*phrase, inner.get(head.len()..)?))
    });
    let (phrase, rest) = found?;
    let rest = rest.trim_start_matches([' ', '}', ':', '~', '$']);
    let rest = rest.strip_prefix("for ").unwrap_or(rest);
    // The brace that closed the words around the number.
    let unbalanced = rest.matches('}').count() > rest.matches('{').count();
    Some((phrase, if unbalanced { rest.strip_suffix('}').unwrap_or(rest) } else { rest }))
}

/// The set that a phrase and the value behind it name.
pub(crate) fn set_of_phrase(
    cx: &mut Context,
    phrase: Phrase,
    value: &Value,
) -> Result<Value, Stop> {
    let part = match (phrase, value) {
        (Phrase::Except, _) => {
            let points = match value {
                Value::List(items) => region_of(cx, &Value::Set(items.clone()))?,
                Value::Scalar(_) => region_of(cx, &Value::Set(vec![value.clone()]))?,
                _ => region_of(cx, value)?,
            };
            return complement(cx, &points.ok_or(Stop::Unreadable)?).map(Value::Region);
        }
        (Phrase::Multiples, Value::Scalar(scalar)) => {
            let modulus = scalar.canon.as_rational().ok_or(Stop::Unreadable)?;
            let family = family::residues(None, &modulus, vec![RBig::ZERO]);
            return family.map(Value::Family).ok_or(Stop::Unreadable);
        }
        (_, Value::Scalar(scalar)) if scalar.unit.as_deref().is_none_or(units::is_money) => {
            let end = scalar.canon.clone();
            if let Phrase::Above { closed } = phrase {
                Interval::above(end, closed)
            } else {
                Interval::below(end, matches!(phrase, Phrase::Below { closed: true }))
            }
        }
        _ => return Err(Stop::Unreadable),
    };
    Ok(Value::Region(part.into()))
}
