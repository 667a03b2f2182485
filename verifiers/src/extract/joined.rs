//! Several formulas that are one answer: "the roots are $2$ and $3$", items below "the solutions
//! are:".

use std::borrow::Cow;

use super::candidate::{Candidate, Provenance};
use super::sentence::{self, FORMULA_SIGNS};
use super::words::{is_one_of, words};
use crate::language::connect;

/// The most formulas that are joined.
const FORMULAS_MAX: usize = 32;

/// Signs of inequalities.
#[rustfmt::skip]
const BOUNDS: [&str; 15] = [
    "<", ">", "≤", "≥", "≠", "\\le", "\\ge", "\\ne", "\\leq", "\\geq", "\\neq", "\\lt", "\\gt", "\\leqslant", "\\geqslant",
];

/// What joins two formulas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
    Comma,
}

/// The list that ends with the formula `last`, where several stand side by side.
pub(super) fn formulas<'a>(
    text: &'a str,
    sentence: usize,
    last: &Candidate<'a>,
) -> Option<Candidate<'a>> {
    let (inner, end) = last.span;
    let mut items = vec![last.text.as_ref()];
    let mut joints = Vec::new();
    let mut start = opening(text.get(..inner)?)?;
    while let Some((head, joint)) = joined(text.get(..start)?)
        && let Some((from, formula)) = formula_at_end(head)
        && items.len() < FORMULAS_MAX
    {
        joints.push(joint);
        items.push(formula);
        start = from;
    }
    // "For $n = 3$, $x = 5$" states one value.
    if joints.first()? == &Joint::Comma && is_subordinate(text.get(sentence..start)?) {
        return None;
    }
    if !is_list(&items) {
        return None;
    }
    items.reverse();
    let joint = if joints.contains(&Joint::Or) { " or " } else { ", " };
    let text = Cow::Owned(items.join(joint));
    Some(Candidate { text, span: (start, end), provenance: Provenance::LastMath })
}

/// Whether formulas are of one kind: values, equations for names or for the same left side, or
/// bounds. "$x^2 = 9$, $x = 3$" is a derivation.
fn is_list(items: &[&str]) -> bool {
    let is_bound = |item: &&&str| {
        let mut signs = BOUNDS.iter().flat_map(|sign| item.match_indices(sign));
        signs.any(|(at, sign)| {
            let next = item.get(at + sign.len()..).and_then(|rest| rest.chars().next());
            !(sign.starts_with('\\') && next.is_some_and(|c| c.is_ascii_alphabetic()))
        })
    };
    let sides: Vec<_> = items.iter().filter_map(|item| item.split_once('=')).collect();
    let bounds = items.iter().filter(|item| is_bound(item)).count();
    if sides.is_empty() || bounds > 0 {
        return bounds == 0 || bounds == items.len();
    }
    let first = sides.first().map(|side| side.0.trim());
    let is_name = |name: &str| name.split('_').next().is_some_and(|head| head.chars().count() == 1);
    sides.len() == items.len()
        && (sides.iter().all(|side| is_name(side.0.trim()))
            || sides.iter().all(|side| Some(side.0.trim()) == first))
}

/// The items that end a text, below a line that ends with a colon.
pub(super) fn items(text: &str) -> Option<Candidate<'_>> {
    let text = text.trim_end();
    let colon = text.rfind(":\n")? + 2;
    let below = text.get(colon..)?;
    let items = sentence::items(below, "")?;
    let text = Cow::Owned(items.iter().map(|item| bare(item)).collect::<Vec<_>>().join(", "));
    let start = colon + below.len() - below.trim_start().len();
    let span = (start, colon + below.len());
    Some(Candidate { text, span, provenance: Provenance::LastMath })
}

/// Where the sign stands that opens the formula whose inside starts at the end of a text.
fn opening(head: &str) -> Option<usize> {
    let head = head.trim_end();
    FORMULA_SIGNS.iter().find_map(|(open, _)| head.strip_suffix(open)).map(str::len)
}

/// The text in front of what joins two formulas.
fn joined(head: &str) -> Option<(&str, Joint)> {
    let lead = head.trim_end();
    for (word, joint) in [("and", Joint::And), ("or", Joint::Or), ("&", Joint::And)] {
        if let Some(before) = lead.strip_suffix(word)
            && before.ends_with(|c: char| c.is_whitespace() || ",$)]".contains(c))
        {
            let before = before.trim_end();
            return Some((before.strip_suffix([',', ';']).unwrap_or(before).trim_end(), joint));
        }
    }
    let is_one_line = !head.get(lead.len()..)?.contains('\n');
    let before = lead.strip_suffix([',', ';']).filter(|_| is_one_line)?;
    Some((before.trim_end(), Joint::Comma))
}

/// The formula that ends a text, and where its sign stands.
fn formula_at_end(text: &str) -> Option<(usize, &str)> {
    FORMULA_SIGNS.iter().find_map(|(open, close)| {
        let inner = text.strip_suffix(close)?;
        let start = inner.rfind(open)?;
        let formula = inner.get(start + open.len()..)?.trim();
        let is_formula = !formula.is_empty() && (*open != "$" || !formula.contains('\n'));
        is_formula.then_some((start, formula))
    })
}

/// A value without the signs of a formula around it.
fn bare(item: &str) -> &str {
    let formula = formula_at_end(item).filter(|(start, _)| *start == 0);
    formula.map_or(item, |(_, formula)| formula)
}

/// Whether the words in front of the first formula make it a condition or an operand: "since ",
/// "dividing by ".
fn is_subordinate(lead: &str) -> bool {
    let mut said = words(lead);
    let last = words(lead).last().unwrap_or_default();
    let is = |word: &str| is_one_of(connect::SUBORDINATING, word);
    lead.rsplit([',', ';']).next().and_then(|clause| words(clause).next()).is_some_and(is)
        || said
            .any(|word| word.len() > 4 && word.ends_with("ing") || is_one_of(connect::GIVEN, word))
        || is(last)
}
