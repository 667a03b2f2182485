//! Quantifiers: declarations of letters such as "where k is an integer", `k \in \mathbb{Z}`.

use std::borrow::Cow;

use super::pieces;
use super::pieces::{Piece, letter};
use crate::sets::{Parameter, Range};

/// Longer texts are not searched.
pub(crate) const TEXT_MAX: usize = 400;
/// The most parameters of one text.
const PARAMETERS_MAX: usize = 4;

/// The text without its declarations of integers, and the letters that they declare.
pub(crate) fn qualified(text: &str) -> (Cow<'_, str>, Vec<Parameter>) {
    let mut rest = Cow::Borrowed(text);
    // Most answers have no declaration.
    if !["\\in", "∈", " in ", "nteger", "number"].iter().any(|mark| text.contains(mark)) {
        return (rest, Vec::new());
    }
    let mut parameters = Vec::new();
    while parameters.len() < PARAMETERS_MAX && rest.len() <= TEXT_MAX {
        let pieces = pieces::pieces(&rest);
        let found = (0..pieces.len()).find_map(|at| {
            let whole = membership(&pieces, at).or_else(|| description(&pieces, at));
            whole
                .map(|(parameter, from, to)| (Some(parameter), from, to))
                .or_else(|| constant(&pieces, at).map(|(from, to)| (None, from, to)))
        });
        let Some((parameter, from, to)) = found else { break };
        let (Some(first), Some(last)) = (pieces.get(from), pieces.get(to)) else { break };
        let (start, end) = (first.start, last.end());
        rest = Cow::Owned(cut(&rest, start, end));
        parameters.extend(parameter);
    }
    (rest, parameters)
}

/// The text without a stretch of it; braces stay balanced.
fn cut(text: &str, start: usize, end: usize) -> String {
    let mut out = text[..start].to_owned();
    let (mut closing, mut opening) = (0usize, 0usize);
    for brace in text[start..end].bytes() {
        match brace {
            b'{' => opening += 1,
            b'}' if opening > 0 => opening -= 1,
            b'}' => closing += 1,
            _ => {}
        }
    }
    let mut rest = &text[end..];
    while let Some(tail) = rest.trim_start().strip_prefix('}')
        && opening > 0
    {
        (opening, rest) = (opening - 1, tail);
    }
    out.push_str(&"}".repeat(closing));
    out.push(' ');
    out.push_str(&"{".repeat(opening));
    out.push_str(rest);
    out
}

/// `, k \in \mathbb{Z}`: the parameter and its first and last piece.
fn membership(pieces: &[Piece<'_>], at: usize) -> Option<(Parameter, usize, usize)> {
    let name = letter(pieces.get(at)?)?;
    let mut to = at + 2;
    if !pieces.get(at + 1)?.is(&["\\in", "∈", "in"]) {
        return None;
    }
    let mut range = match pieces.get(to)?.text {
        "Z" | "ℤ" | "\\Z" => Range::Whole,
        "N" | "ℕ" | "\\N" => Range::From(1),
        _ => return None,
    };
    // N_0, Z^+, Z_{>0}, N^*
    while pieces.get(to + 1).is_some_and(|mark| mark.is(&["_", "^"])) {
        let mut last = to + 2;
        let tail = pieces.get(last)?;
        range = match tail.text {
            "0" => Range::From(0),
            "+" | "*" => Range::From(1),
            ">" | "\\ge" | "\\geq" | "\\geqslant" | "≥" => {
                let first = pieces.get(last + 1).filter(|number| number.is(&["0", "1"]))?;
                last += 1;
                Range::From(i64::from(first.text == "1" || tail.text == ">"))
            }
            _ => return None,
        };
        to = last;
    }
    let from = lead(pieces, at)?;
    Some((Parameter { name, range }, from, closed(pieces, from, to)))
}

/// `, c \in \mathbb{R}` after a function or a point: its letter is any real number.
fn constant(pieces: &[Piece<'_>], at: usize) -> Option<(usize, usize)> {
    letter(pieces.get(at)?)?;
    let real = pieces.get(at + 2)?.is(&["R", "ℝ", "\\R"]);
    let plain = !pieces.get(at + 3).is_some_and(|mark| mark.is(&["_", "^", "\\setminus"]));
    if !real || !plain || !pieces.get(at + 1)?.is(&["\\in", "∈"]) {
        return None;
    }
    let from = lead(pieces, at)?;
    let ends = |piece: &Piece<'_>| piece.text == "=" || piece.text == ")";
    let defined = pieces.get(..from).is_some_and(|head| head.iter().any(ends));
    defined.then(|| (from, closed(pieces, from, at + 2)))
}

/// "where k is an integer", "for any integer k".
fn description(pieces: &[Piece<'_>], at: usize) -> Option<(Parameter, usize, usize)> {
    let number = pieces.get(at)?;
    let mut to = at;
    if number.is(&["natural", "whole"]) {
        to += 1;
        pieces.get(to).filter(|noun| noun.is(&["number", "numbers"]))?;
    } else if !number.is(&["integer", "integers"]) {
        return None;
    }
    let before: Vec<&Piece<'_>> = pieces.get(..at)?.iter().rev().take(8).collect();
    let said = |words: &[&str]| {
        before.iter().take_while(|piece| piece.is(&KIND)).any(|piece| piece.is(words))
    };
    let range = if said(&["nonnegative", "non"]) || (number.is(&["whole"])) {
        Range::From(0)
    } else if said(&["positive"]) || number.is(&["natural"]) {
        Range::From(1)
    } else if said(&["negative", "odd", "even"]) {
        return None;
    } else {
        Range::Whole
    };
    let kinds = before.iter().take_while(|piece| piece.is(&KIND)).count();
    let start = at - kinds;
    // "for all integer values of k"
    if pieces.get(to + 1).is_some_and(|piece| piece.is(&["values", "value"])) {
        to += 2;
    }
    if let Some(name) = pieces.get(to + 1).and_then(letter) {
        let from = lead(pieces, start)?;
        return Some((Parameter { name, range }, from, closed(pieces, from, to + 1)));
    }
    let mut subject = start.checked_sub(1)?;
    if pieces.get(subject).is_some_and(|piece| piece.is(&["is", "be", "are", "denotes"])) {
        subject = subject.checked_sub(1)?;
    } else if kinds == 0 {
        return None;
    }
    let name = letter(pieces.get(subject)?)?;
    let from = lead(pieces, subject)?;
    Some((Parameter { name, range }, from, closed(pieces, from, to)))
}

/// Words between a quantifier and its noun.
const KIND: [&str; 16] = crate::words::list(
    "a an any all every each some arbitrary positive nonnegative non - negative odd even the",
);

/// The first piece of a qualification whose subject is at `at`: with the comma, the bracket or
/// the word that introduces it. `None` where nothing does.
fn lead(pieces: &[Piece<'_>], at: usize) -> Option<usize> {
    let words = [
        "where", "for", "with", "all", "any", "every", "each", "some", "and", "when", "as", "if",
        ",", ";", "(",
    ];
    let mut from = at;
    while let Some(before) = from.checked_sub(1)
        && pieces.get(before).is_some_and(|piece| piece.is(&words))
        && before > 0
    {
        from = before;
    }
    (from < at).then_some(from)
}

/// Includes the closing bracket of a declaration in brackets.
fn closed(pieces: &[Piece<'_>], from: usize, to: usize) -> usize {
    let opened =
        pieces.get(from..to).is_some_and(|inside| inside.iter().any(|piece| piece.text == "("));
    let closes = pieces.get(to + 1).is_some_and(|piece| piece.text == ")");
    if opened && closes { to + 1 } else { to }
}
