//! Whole numbers that a script of rhai divides: as far as its words and the rows tell.

use std::collections::{BTreeMap, BTreeSet};

use assay::verifiers::Sample;
use serde_json::Value;

use crate::validate::paths::{self, Path, Words};
use crate::validate::sources::Role;
use crate::validate::words::Word;

/// How deep variables and brackets are followed.
const DEPTH_MAX: usize = 12;
/// Functions that take a place in a text or a list.
const PLACES: [&str; 13] = [
    "sub_string",
    "crop",
    "truncate",
    "get",
    "extract",
    "pad",
    "remove",
    "insert",
    "splice",
    "range",
    "drain",
    "split",
    "to_int",
];
const KEYWORDS: [&str; 7] = ["if", "while", "return", "in", "else", "switch", "until"];

/// What an expression comes to in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// A whole number, where it is known which.
    Whole(Option<i64>),
    /// The row does not have it.
    Absent,
    /// Anything else.
    Other,
}

/// A division of whole numbers, by the places of its words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    pub(super) start: usize,
    pub(super) slash: usize,
    pub(super) end: usize,
    pub(super) left: Amount,
    pub(super) right: Amount,
}

/// Where an expression is looked at.
#[derive(Clone, Copy)]
struct View<'a> {
    sample: Option<&'a Sample>,
    depth: usize,
}

/// The numbers of a script.
pub(super) struct Numbers<'a> {
    words: &'a Words<'a>,
    /// Whether `step` is there.
    has_step: bool,
    /// Variables that stand for a path.
    starts: BTreeMap<String, Path>,
    bound: BTreeSet<String>,
    /// Where variables are given a value, and whether that is all of it.
    given: BTreeMap<&'a str, Vec<(usize, bool)>>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(words: &'a Words<'a>, role: Role) -> Self {
        let roots: &[&str] = if role == Role::Combine { &[] } else { &["meta", "reference"] };
        let mut given: BTreeMap<&'a str, Vec<(usize, bool)>> = BTreeMap::new();
        let is_member = |at: usize| words.is_sign(at.wrapping_sub(1), '.');
        for at in (0..words.tokens.len()).filter(|at| !is_member(*at)) {
            let Some(name) = words.name(at) else { continue };
            let is_equals = |at: usize| words.is_sign(at, '=') && !words.is_sign(at + 1, '=');
            let changes = ['+', '-', '*', '/', '%'].iter().any(|sign| words.is_sign(at + 1, *sign));
            if is_equals(at + 1) {
                given.entry(name).or_default().push((at + 2, true));
            } else if changes && is_equals(at + 2) {
                given.entry(name).or_default().push((at + 3, false));
            }
        }
        Self {
            words,
            has_step: !matches!(role, Role::Reward(_)),
            starts: words.starts(roots, ""),
            bound: words.bound(""),
            given,
        }
    }

    /// The divisions that drop something, on the rows or without any.
    pub(super) fn divisions(&self, samples: &[&Sample]) -> Vec<Division> {
        let starts = (0..self.words.tokens.len()).filter(|at| self.is_start(*at));
        starts.filter_map(|at| self.division(at, samples)).collect()
    }

    /// Whether factors may begin here.
    fn is_start(&self, at: usize) -> bool {
        let is_part = matches!(
            self.words.before(at),
            Some(Word::Sign('*' | '/' | '%' | '.')) if !self.is_range(at)
        );
        let is_call = match self.words.before(at) {
            Some(Word::Name(name)) => !KEYWORDS.contains(&name.as_str()),
            Some(Word::Sign(')' | ']')) => true,
            _ => false,
        };
        let is_operand = match self.words.word(at) {
            Some(Word::Name(_) | Word::Number(_)) => true,
            Some(Word::Sign('(')) => !is_call,
            _ => false,
        };
        is_operand && !is_part
    }

    /// Whether two points stand before a place.
    fn is_range(&self, at: usize) -> bool {
        at >= 2 && self.words.is_sign(at - 1, '.') && self.words.is_sign(at - 2, '.')
    }

    /// The first division of the factors that begin here which drops something.
    fn division(&self, at: usize, samples: &[&Sample]) -> Option<Division> {
        let seen = |sample: Option<&Sample>| {
            let mut divisions = Vec::new();
            self.factors(at, View { sample, depth: 0 }, &mut divisions);
            divisions
        };
        let first = seen(samples.first().copied());
        for (place, own) in first.iter().enumerate() {
            if self.is_meant(own) {
                return None;
            }
            let mut all = vec![*own];
            let others = samples.iter().skip(1);
            all.extend(others.filter_map(|sample| seen(Some(sample)).get(place).copied()));
            let sides = || all.iter().map(|own| (own.left, own.right));
            if sides().any(|(left, right)| left == Amount::Other || right == Amount::Other) {
                return None;
            }
            let drops = |own: &&Division| match (own.left, own.right) {
                (Amount::Whole(Some(one)), Amount::Whole(Some(other))) => {
                    one.checked_rem(other).is_some_and(|left| left != 0)
                }
                (_, Amount::Whole(Some(1))) => false,
                (Amount::Whole(_), Amount::Whole(_)) => true,
                _ => false,
            };
            if let Some(told) = all.iter().find(drops) {
                return Some(*told);
            }
        }
        None
    }

    /// Whether the whole number is what was meant: a place, a remainder, a comparison that comes out the same.
    fn is_meant(&self, own: &Division) -> bool {
        let is_sign = |at: usize, sign: char| self.words.is_sign(at, sign);
        let is_range =
            self.is_range(own.start) || is_sign(own.end, '.') && is_sign(own.end + 1, '.');
        let (first, second) = (own.end, own.end + 1);
        let compares = match self.words.word(first) {
            Some(Word::Sign('=' | '!' | '>')) if is_sign(second, '=') => Some(first + 2),
            Some(Word::Sign('<')) if !is_sign(second, '=') => Some(second),
            _ => None,
        };
        let is_whole = compares.is_some_and(|at| {
            let is_number =
                matches!(self.words.word(at), Some(Word::Number(own)) if literal(own) != Amount::Other);
            let goes_on = ['+', '-', '*', '/', '%', '.'].iter().any(|sign| is_sign(at + 1, *sign));
            is_number && !goes_on
        });
        is_range || is_whole || is_sign(first, '%') || self.is_place(own.slash)
    }

    /// Whether a place is within an index, or within what a function takes as one.
    fn is_place(&self, at: usize) -> bool {
        let mut depth = 0_usize;
        for place in (0..at).rev() {
            match self.words.word(place) {
                Some(Word::Sign(')' | ']' | '}')) => depth += 1,
                Some(Word::Sign('(' | '[' | '{')) if depth > 0 => depth -= 1,
                Some(Word::Sign('{' | ';')) if depth == 0 => return false,
                Some(Word::Sign('[')) => {
                    return matches!(
                        self.words.before(place),
                        Some(Word::Name(_) | Word::Sign(')' | ']'))
                    );
                }
                Some(Word::Sign('(')) => {
                    let called = place.checked_sub(1).and_then(|before| self.words.name(before));
                    if called.is_some_and(|name| PLACES.contains(&name)) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Factors and where they end; their divisions are noted.
    fn factors(&self, at: usize, view: View<'_>, divisions: &mut Vec<Division>) -> (Amount, usize) {
        let (mut left, mut end) = self.operand(at, view);
        loop {
            let sign = ['*', '/', '%'].into_iter().find(|sign| self.words.is_sign(end, *sign));
            let Some(sign) = sign.filter(|_| end > at && !self.words.is_sign(end + 1, '=')) else {
                return (left, end);
            };
            let (right, next) = self.operand(end + 1, view);
            if next <= end + 1 {
                return (Amount::Other, end);
            }
            if sign == '/' {
                divisions.push(Division { start: at, slash: end, end: next, left, right });
            }
            left = both(left, right, |one, other| match sign {
                '*' => one.checked_mul(other),
                '/' => one.checked_div(other),
                _ => one.checked_rem(other),
            });
            end = next;
        }
    }

    /// A sum up to where it ends.
    fn sum(&self, at: usize, view: View<'_>) -> (Amount, usize) {
        let (mut left, mut end) = self.factors(at, view, &mut Vec::new());
        loop {
            let is_plus = self.words.is_sign(end, '+');
            if end == at || !(is_plus || self.words.is_sign(end, '-')) {
                return (left, end);
            }
            let (right, next) = self.factors(end + 1, view, &mut Vec::new());
            if next <= end + 1 {
                return (Amount::Other, end);
            }
            left = both(left, right, |one, other| {
                if is_plus { one.checked_add(other) } else { one.checked_sub(other) }
            });
            end = next;
        }
    }

    /// A whole expression, and where it ends.
    fn expression(&self, at: usize, view: View<'_>) -> (Amount, usize) {
        if view.depth > DEPTH_MAX {
            return (Amount::Other, at);
        }
        let view = View { depth: view.depth + 1, ..view };
        let (mut amount, mut end) = self.sum(at, view);
        while self.words.is_sign(end, '?') && self.words.is_sign(end + 1, '?') {
            let (other, next) = self.sum(end + 2, view);
            amount = if amount == Amount::Absent { other } else { amount };
            end = next;
        }
        let is_end =
            matches!(self.words.word(end), None | Some(Word::Sign(';' | ')' | ',' | '}' | ']')));
        (if is_end { amount } else { Amount::Other }, end)
    }

    /// One number, with what is called on it.
    fn operand(&self, at: usize, view: View<'_>) -> (Amount, usize) {
        let words = self.words;
        let (mut amount, mut end) = match words.word(at) {
            Some(Word::Sign('-' | '+')) => {
                let (amount, end) = self.operand(at + 1, view);
                let is_minus = words.is_sign(at, '-');
                let signed = |own: i64| if is_minus { own.checked_neg() } else { Some(own) };
                return match amount {
                    Amount::Whole(own) => (Amount::Whole(own.and_then(signed)), end),
                    other => (other, end),
                };
            }
            Some(Word::Number(text)) => (literal(text), at + 1),
            Some(Word::Sign('(')) => {
                let Some(close) = words.closing(at) else { return (Amount::Other, at) };
                let (amount, end) = self.expression(at + 1, view);
                (if end + 1 == close { amount } else { Amount::Other }, close)
            }
            Some(Word::Sign('[')) => (Amount::Other, words.closing(at).unwrap_or(at + 1)),
            Some(Word::Text(_)) => (Amount::Other, at + 1),
            Some(Word::Name(name)) if words.is_sign(at + 1, '(') => {
                let Some(close) = words.closing(at + 1) else { return (Amount::Other, at) };
                (self.called(name, at + 1, close, view), close)
            }
            Some(Word::Name(name)) => self.named(name, at, view),
            _ => return (Amount::Other, at),
        };
        loop {
            let point = if words.is_sign(end, '?') { end + 1 } else { end };
            if words.is_sign(end, '[') {
                amount = Amount::Other;
                end = words.closing(end).unwrap_or(end + 1);
            } else if let Some(name) = words.name(point + 1).filter(|_| words.is_sign(point, '.')) {
                let close = words.closing(point + 2).filter(|_| words.is_sign(point + 2, '('));
                amount = match (name, close) {
                    ("len", _) | ("index_of" | "to_int", Some(_)) => Amount::Whole(None),
                    ("abs" | "max" | "min", Some(close)) => {
                        both(amount, self.called(name, point + 2, close, view), |_, _| None)
                    }
                    _ => Amount::Other,
                };
                end = close.unwrap_or(point + 2);
            } else if words.is_sign(end, '*') && words.is_sign(end + 1, '*') {
                let (power, next) = self.operand(end + 2, view);
                amount = both(amount, power, |_, _| None);
                end = next.max(end + 2);
            } else {
                return (amount, end);
            }
        }
    }

    /// What a function gives, by the brackets around what it is given.
    fn called(&self, name: &str, open: usize, close: usize, view: View<'_>) -> Amount {
        match name {
            "parse_int" | "to_int" | "len" => Amount::Whole(None),
            "abs" | "min" | "max" => {
                let (mut all, mut at) = (Vec::new(), open + 1);
                while at + 1 < close {
                    let (amount, end) = self.expression(at, view);
                    all.push(amount);
                    at = end + 1;
                }
                let of = |one: i64, other: i64| match name {
                    "min" => Some(one.min(other)),
                    "max" => Some(one.max(other)),
                    _ => None,
                };
                let first = all.first().copied().unwrap_or(Amount::Whole(None));
                all.into_iter().skip(1).fold(first, |one, other| both(one, other, of))
            }
            _ => Amount::Other,
        }
    }

    /// What a variable or a column holds, and where its name ends.
    fn named(&self, name: &str, at: usize, view: View<'_>) -> (Amount, usize) {
        if self.bound.contains(name) {
            return (Amount::Other, at + 1);
        }
        if let Some((path, end)) = self.words.path(at, &self.starts) {
            return (column(&path, view.sample), end);
        }
        let Some(given) = self.given.get(name) else {
            let is_step = name == "step" && self.has_step;
            return (if is_step { Amount::Whole(None) } else { Amount::Other }, at + 1);
        };
        if view.depth > DEPTH_MAX {
            return (Amount::Other, at + 1);
        }
        let view = View { depth: view.depth + 1, ..view };
        let amounts: Vec<Amount> =
            given.iter().map(|(value, _)| self.expression(*value, view).0).collect();
        let amount = match (amounts.as_slice(), given.as_slice()) {
            ([only], [(_, true)]) => *only,
            ([first, others @ ..], _) => {
                others.iter().fold(both(*first, *first, |_, _| None), |one, other| {
                    both(one, *other, |_, _| None)
                })
            }
            ([], _) => Amount::Other,
        };
        (amount, at + 1)
    }
}

/// What two amounts come to.
fn both(one: Amount, other: Amount, with: impl Fn(i64, i64) -> Option<i64>) -> Amount {
    match (one, other) {
        (Amount::Other, _) | (_, Amount::Other) => Amount::Other,
        (Amount::Absent, _) | (_, Amount::Absent) => Amount::Absent,
        (Amount::Whole(one), Amount::Whole(other)) => {
            Amount::Whole(one.zip(other).and_then(|(one, other)| with(one, other)))
        }
    }
}

/// A number as it is written.
fn literal(text: &str) -> Amount {
    let plain = text.replace('_', "");
    if ["0x", "0b", "0o"].iter().any(|prefix| plain.starts_with(prefix)) {
        return Amount::Whole(None);
    }
    plain.parse().map_or(Amount::Other, |own| Amount::Whole(Some(own)))
}

/// What a row has at a path of `meta` or of `reference`.
fn column(path: &Path, sample: Option<&Sample>) -> Amount {
    let Some(sample) = sample else { return Amount::Absent };
    let Some((mut value, rest)) = paths::column(path, sample) else { return Amount::Other };
    for step in rest {
        // A list or a text has its length.
        if step.name == "len" && value.is_some_and(|value| !value.is_object()) {
            return Amount::Whole(None);
        }
        value = value.and_then(|value| value.get(&step.name));
    }
    match value {
        None | Some(Value::Null) => Amount::Absent,
        Some(value) => value.as_i64().map_or(Amount::Other, |own| Amount::Whole(Some(own))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::validate::words::{Language, words};

    fn divided(source: &str, role: Role) -> Vec<String> {
        let row = |passed: i64| {
            let meta = json!({"passed": passed, "total": 4, "share": 0.5, "text": "a"});
            let builder = Sample::builder("a b").reference(json!(passed));
            builder.meta(meta.as_object().unwrap().clone()).build()
        };
        let samples = [row(4), row(3)];
        let samples: Vec<&Sample> = samples.iter().collect();
        let mut tokens = words(source, Language::Rhai);
        tokens.retain(|token| token.word != Word::Line);
        let words = Words { tokens: &tokens, language: Language::Rhai };
        let found = Numbers::of(&words, role).divisions(&samples);
        let text = |own: &Division| {
            let (first, last) = (tokens.get(own.start)?, tokens.get(own.end - 1)?);
            Some(source.get(first.at.start..last.at.end)?.to_owned())
        };
        found.iter().filter_map(text).collect()
    }

    #[test]
    fn whole_numbers_that_are_divided_are_found() {
        for (source, expected) in [
            ("meta.passed / meta.total", "meta.passed / meta.total"),
            ("1.0 - (meta.passed / meta.total)", "meta.passed / meta.total"),
            ("meta.passed / max(meta.total, 1)", "meta.passed / max(meta.total, 1)"),
            ("(meta.passed ?? 0) / (meta.total ?? 1)", "(meta.passed ?? 0) / (meta.total ?? 1)"),
            ("let n = 0; for w in completion.split() { n += 1 }\nn / 10", "n / 10"),
            ("completion.len() / 100", "completion.len() / 100"),
            ("if meta.passed / meta.total > 0.5 { 1 } else { 0 }", "meta.passed / meta.total"),
            ("10 * meta.passed / meta.total", "10 * meta.passed / meta.total"),
            ("reference / 2", "reference / 2"),
            ("let p = meta.passed; let t = meta.total; p / t", "p / t"),
            ("1 / 2 * meta.share", "1 / 2"),
            ("(1 + meta.passed) / meta.total", "(1 + meta.passed) / meta.total"),
        ] {
            assert_eq!(divided(source, Role::Reward(0)), [expected], "{source}");
        }
        assert_eq!(divided("step / 1000", Role::Combine), ["step / 1000"]);
        assert_eq!(divided("correct + 1/2 * fmt", Role::Combine), ["1/2"]);
    }

    #[test]
    fn other_divisions_are_as_they_should_be() {
        for source in [
            "1.0 * meta.passed / meta.total",
            "meta.passed.to_float() / meta.total",
            "meta.passed / 4.0",
            "meta.share / 2",
            "meta.passed % meta.total",
            "4 / 2",
            "meta.total / 2",
            "meta.text / 2",
            "let n = 1.0; n += 2; n / 4",
            "step / 10",
            "completion[completion.len() / 2]",
            "completion.sub_string(0, completion.len() / 2)",
            "meta.passed / meta.total == 1",
            "meta.passed / 3 % 2",
            "for i in 0..completion.len() / 2 { }",
            "meta.passed / meta.nothing",
            "[1].map(|x| x / 2)",
            "// meta.passed / meta.total",
        ] {
            assert!(divided(source, Role::Reward(0)).is_empty(), "{source}");
        }
        for source in ["correct / 2", "correct * step / 1000", "step % 7", "1.0 * step / 1000"] {
            assert!(divided(source, Role::Combine).is_empty(), "{source}");
        }
    }
}
