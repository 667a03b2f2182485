//! What a text says about its letters: "where k is an integer", `k \in \mathbb{Z}`; and families
//! in words: "congruent to 2 or 3 modulo 4", `n \equiv 2 \pmod 4`.

use std::borrow::Cow;

use dashu_ratio::RBig;

use super::families::{self, Parameter, Range};
use super::number::small;
use super::value::Family;

/// Longer texts are not searched.
const TEXT_MAX: usize = 400;
/// The most parameters of one text.
const PARAMETERS_MAX: usize = 4;
/// The largest modulus, in digits.
const DIGITS_MAX: usize = 9;

/// A piece of a text: a word, a command, a number, or one other character.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

impl Piece<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }
}

/// The text without what it says about its whole numbers, and which letters those are.
pub(super) fn qualified(text: &str) -> (Cow<'_, str>, Vec<Parameter>) {
    let mut rest = Cow::Borrowed(text);
    // Most answers say nothing of the kind.
    if !["\\in", "∈", " in ", "nteger", "number"].iter().any(|mark| text.contains(mark)) {
        return (rest, Vec::new());
    }
    let mut parameters = Vec::new();
    while parameters.len() < PARAMETERS_MAX && rest.len() <= TEXT_MAX {
        let pieces = pieces(&rest);
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
    let mut out = text.get(..start).unwrap_or_default().to_owned();
    let (mut closing, mut opening) = (0usize, 0usize);
    for brace in text.get(start..end).unwrap_or_default().bytes() {
        match brace {
            b'{' => opening += 1,
            b'}' if opening > 0 => opening -= 1,
            b'}' => closing += 1,
            _ => {}
        }
    }
    let mut rest = text.get(end..).unwrap_or_default();
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

/// The pieces that carry meaning.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    const MARKUP: &[&str] = &[
        "{", "}", "$", "\\", "\\text", "\\mathrm", "\\textrm", "\\textit", "\\mbox", "\\left",
        "\\right", "\\quad", "\\qquad", "\\mathbb", "\\mathbf", "\\,", "\\;", "\\ ", "\\:", "\\!",
        "~",
    ];
    let mut pieces = pieces_with_marks(text);
    pieces.retain(|piece| !MARKUP.contains(&piece.text));
    pieces
}

fn pieces_with_marks(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let run = |skip: usize, of: fn(char) -> bool| {
            let tail = rest.get(skip..).unwrap_or_default();
            skip + tail.find(|c: char| !of(c)).unwrap_or(tail.len())
        };
        let length = match first {
            '\\' => {
                let command = run(1, |c| c.is_ascii_alphabetic());
                let next =
                    rest.get(1..).and_then(|tail| tail.chars().next()).map_or(0, char::len_utf8);
                command.max(1 + next)
            }
            '0'..='9' => run(0, |c| c.is_ascii_digit()),
            c if c.is_ascii_alphabetic() => run(0, |c| c.is_ascii_alphabetic()),
            c => c.len_utf8(),
        };
        let piece = rest.get(..length).unwrap_or_default();
        if !first.is_whitespace() {
            out.push(Piece { text: piece, start: at });
        }
        at += length.max(1);
    }
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

/// `, c \in \mathbb{R}` behind a function or a point: its letter is any real number.
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
        before.iter().take_while(|piece| piece.is(KIND)).any(|piece| piece.is(words))
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
    let kinds = before.iter().take_while(|piece| piece.is(KIND)).count();
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
const KIND: &[&str] = &[
    "a",
    "an",
    "any",
    "all",
    "every",
    "each",
    "some",
    "arbitrary",
    "positive",
    "nonnegative",
    "non",
    "-",
    "negative",
    "odd",
    "even",
    "the",
];

fn letter(piece: &Piece<'_>) -> Option<String> {
    let single = piece.text.len() == 1 && piece.text.starts_with(|c: char| c.is_ascii_alphabetic());
    single.then(|| piece.text.to_owned())
}

/// The first piece of a qualification whose subject stands at `at`: with the comma, the bracket or
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

/// Along with the bracket that closes the one it opened with.
fn closed(pieces: &[Piece<'_>], from: usize, to: usize) -> usize {
    let opened =
        pieces.get(from..to).is_some_and(|inside| inside.iter().any(|piece| piece.text == "("));
    let closes = pieces.get(to + 1).is_some_and(|piece| piece.text == ")");
    if opened && closes { to + 1 } else { to }
}

/// `n \equiv 2, 3 \pmod 4`, "congruent to 2 or 3 modulo 4".
pub(super) fn congruence(text: &str) -> Option<Family> {
    // Other words before it, such as "not", change what it says.
    const SAID: &[&str] =
        &["those", "all", "integers", "numbers", "that", "are", "is", "which", "the", "any"];
    if text.len() > TEXT_MAX || !text.contains("mod") {
        return None;
    }
    let pieces = pieces(text);
    let at = pieces
        .iter()
        .position(|piece| piece.is(&["\\pmod", "\\mod", "\\bmod", "mod", "modulo"]))?;
    let (modulus, behind) = number(&pieces, at + 1)?;
    if !pieces.get(behind..)?.iter().all(|piece| piece.is(&[")", "."])) {
        return None;
    }
    let head = pieces.get(..at)?;
    let sign = head.iter().rposition(|piece| piece.is(&["\\equiv", "≡", "congruent"]))?;
    let (names, words): (Vec<&Piece<'_>>, Vec<&Piece<'_>>) =
        head.get(..sign)?.iter().partition(|piece| letter(piece).is_some());
    if names.len() > 1 || !words.iter().all(|word| word.is(SAID)) {
        return None;
    }
    let var = names.first().and_then(|name| letter(name));
    let mut remainders = Vec::new();
    let mut next = sign + 1;
    while next < head.len() {
        let piece = head.get(next)?;
        if piece.is(&["to", "or", "and", ",", "either", "("]) {
            next += 1;
            continue;
        }
        let (value, after) = number(head, next)?;
        remainders.push(value);
        next = after;
    }
    if remainders.is_empty() { None } else { families::residues(var, &modulus, remainders) }
}

/// A whole number, perhaps negative, and the piece behind it.
fn number(pieces: &[Piece<'_>], at: usize) -> Option<(RBig, usize)> {
    let negative = pieces.get(at)?.is(&["-", "−"]);
    let at = at + usize::from(negative);
    let digits = pieces.get(at).filter(|piece| piece.text.len() <= DIGITS_MAX)?;
    let value: i64 = digits.text.parse().ok()?;
    Some((small(if negative { -value } else { value }, 1), at + 1))
}
