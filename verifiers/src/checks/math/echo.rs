//! An echo of the question is no answer.
//!
//! An answer that equals the reference is refused where it says the question again: it stands in
//! the question in another form than the reference has, it is what the question asks to be worked
//! out, or it is an equation or inequality that was left unsolved. Only answers that would be paid
//! are looked at, so a wrong answer costs nothing here, and a question is read at most once.

use std::cell::OnceCell;

use memchr::memmem;

use super::Stop;
use super::ast::{Id, Node, Rel, Tree};
use super::compare::Rung;
use super::layout::{self, ARTICLE, is_number, is_word};
use super::reading::Reading;
use super::units;
use crate::meter::Meter;

/// Of a longer question the end is looked at, in bytes.
const QUESTION_MAX: usize = 32 * 1024;
/// A longer answer, in symbols, is not looked for by its form.
const ANSWER_MAX: usize = 200;

/// Why an answer that equals the reference is not paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A sum, a product, an integral, a limit or a derivative, which the reference has not.
    NotClosedForm,
    /// An equation or inequality whose solutions the reference gives.
    NotSolved,
    /// Arithmetic that was left to be done.
    NotEvaluated,
    /// The question's own words.
    Echo,
}

impl Refusal {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::NotClosedForm => "not-closed-form",
            Self::NotSolved => "not-solved",
            Self::NotEvaluated => "not-evaluated",
            Self::Echo => "echo-of-question",
        }
    }
}

/// The question of a sample, by its symbols.
pub(super) struct Question<'a> {
    text: &'a str,
    symbols: OnceCell<Vec<&'a str>>,
}

impl<'a> Question<'a> {
    pub(super) fn new(prompt: &'a str) -> Self {
        let mut from = prompt.len().saturating_sub(QUESTION_MAX);
        while !prompt.is_char_boundary(from) {
            from += 1;
        }
        Self { text: prompt.get(from..).unwrap_or_default(), symbols: OnceCell::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn symbols(&self, meter: &mut Meter<'_>) -> Result<&[&'a str], Stop> {
        if self.symbols.get().is_none() {
            meter.spend(4 * self.text.len() as u64)?;
        }
        Ok(self.symbols.get_or_init(|| layout::symbols_of_prose(self.text)))
    }

    /// Whether a letter stands in it.
    pub(super) fn mentions(&self, letter: &str, meter: &mut Meter<'_>) -> Result<bool, Stop> {
        let symbols = self.symbols(meter)?;
        meter.spend(symbols.len() as u64)?;
        Ok(symbols.iter().any(|symbol| {
            *symbol == letter || (symbol.len() == 2 && !is_word(symbol) && symbol.contains(letter))
        }))
    }

    /// Whether it offers values to choose among, or states what is to be shown: then repeating a
    /// part of it is an answer.
    fn offers(&self, symbols: &[&str]) -> bool {
        const ASKED: [&str; 4] = ["which", "choose", "select", "pick"];
        const AMONG: [&str; 10] = [
            "or",
            "following",
            "larger",
            "largest",
            "greater",
            "greatest",
            "smaller",
            "smallest",
            "least",
            "closest",
        ];
        const SHOWN: [&str; 3] = ["show", "prove", "verify"];
        let has = |words: &[&str]| {
            symbols.iter().any(|symbol| words.iter().any(|word| symbol.eq_ignore_ascii_case(word)))
        };
        let labels = |one: &str, two: &str| self.text.contains(one) && self.text.contains(two);
        has(&SHOWN) || (has(&ASKED) && has(&AMONG)) || labels("(A)", "(B)") || labels("A)", "B)")
    }
}

/// An answer that equals the reference, and the reference.
pub(super) struct Pair<'a> {
    pub(super) answer: &'a str,
    pub(super) answer_reading: &'a Reading,
    pub(super) reference: &'a str,
    pub(super) reference_reading: &'a Reading,
    pub(super) rung: Rung,
}

impl Pair<'_> {
    /// Whether the answer is an equation or inequality that is still to be solved, where the
    /// reference is none. Where nothing was `asked`, it may stand for another equation or
    /// inequality, but not for a set or a list of solutions. The value of a function may be what
    /// is asked where the reference is a single `value`.
    pub(super) fn is_unsolved(&self, value: bool, asked: bool) -> bool {
        let any = |reading: &Reading, test: &dyn Fn(&Tree, Id) -> bool| {
            reading.trees.iter().any(|(tree, root)| test(tree, *root))
        };
        let related = |tree: &Tree, root| matches!(tree.get(root), Ok(Node::Chain(..)));
        any(self.answer_reading, &|tree, root| is_unsolved(tree, root, value))
            && !any(self.reference_reading, &|tree, root| is_unsolved(tree, root, false))
            && (asked || !any(self.reference_reading, &related))
    }

    /// Whether the answer stands in the question in another form than that of the reference, or is
    /// what comes of putting a number for a letter of it.
    pub(super) fn echoes(
        &self,
        question: &Question<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop> {
        meter.spend(4 * (self.answer.len() + self.reference.len()) as u64)?;
        let (answer, reference) = (layout::symbols(self.answer), layout::symbols(self.reference));
        let (answer, reference) = (unwrapped(&answer), unwrapped(&reference));
        let rounded = self.rung == Rung::Decimal;
        let quantity = matches!(answer, [number, unit] if is_number(number) && is_word(unit));
        if answer.len() > ANSWER_MAX
            || self.reference_reading.is_choice()
            || !(rounded || quantity || changes_form(answer, reference))
            || (!rounded && has_form(answer, reference))
        {
            return Ok(false);
        }
        // Every word and number of an echo is in the question: most answers end here.
        let longest = answer.iter().filter(|symbol| is_number(symbol) || is_word(symbol));
        let foldable = self.answer_reading.trees.iter().any(|(tree, _)| has_arithmetic(tree));
        if let Some(longest) = longest.max_by_key(|symbol| symbol.len())
            && !(foldable || quantity)
            && memmem::find(question.text.as_bytes(), longest.as_bytes()).is_none()
        {
            return Ok(false);
        }
        let symbols = question.symbols(meter)?;
        meter.spend(4 * symbols.len() as u64)?;
        let found = stands(symbols, answer, foldable) || (quantity && stands_once(symbols, answer));
        Ok(found && !question.offers(symbols))
    }

    /// Whether the answer leaves arithmetic to be done that the reference has done: what is never
    /// a result, or sums and products of numbers that the question gives.
    pub(super) fn is_unevaluated(
        &self,
        question: &Question<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop> {
        let (answer, reference) = (self.answer_reading, self.reference_reading);
        if answer.is_calendar() {
            return Ok(false);
        }
        let any = |reading: &Reading, test: fn(&Tree) -> bool| {
            reading.trees.iter().any(|(tree, _)| test(tree))
        };
        let left = |test: fn(&Tree) -> bool| any(answer, test) && !any(reference, test);
        if left(has_unfinished) || left(is_polar) {
            return Ok(true);
        }
        if !left(has_arithmetic) {
            return Ok(false);
        }
        let given = question.symbols(meter)?;
        let symbols = layout::symbols(self.answer);
        meter.spend((symbols.len() * (20 + given.len())) as u64)?;
        let mut before = "";
        for symbol in symbols {
            let power = before == "^" && matches!(symbol, "2" | "3");
            if is_number(symbol) && !power && !gives(given, symbol) {
                return Ok(false);
            }
            before = symbol;
        }
        Ok(true)
    }
}

/// Whether a number is among the symbols of a question, in digits or as a word.
fn gives(question: &[&str], number: &str) -> bool {
    const WORDS: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let word = number.parse::<usize>().ok().and_then(|value| WORDS.get(value.wrapping_sub(1)));
    question.iter().any(|symbol| {
        *symbol == number || word.is_some_and(|word| symbol.eq_ignore_ascii_case(word))
    })
}

/// The symbols without a final sign of punctuation.
fn unwrapped<'s, 'a>(symbols: &'s [&'a str]) -> &'s [&'a str] {
    let mut symbols = symbols;
    while let [rest @ .., "." | "," | ";"] = symbols {
        symbols = rest;
    }
    symbols
}

/// Whether an answer could be another form of the reference: it has several symbols, or it is one
/// number and the reference is not.
fn changes_form(answer: &[&str], reference: &[&str]) -> bool {
    let mut signs = answer.iter().filter(|symbol| !is_word(symbol));
    match (signs.next(), signs.next()) {
        (Some(_), Some(_)) => true,
        (Some(only), None) if is_number(only) => {
            let plain = essence(reference).iter().all(|symbol| is_number(symbol));
            !reference.contains(only) && (!plain || reference.contains(&"%"))
        }
        (Some(only), None) => *only == "pi",
        _ => false,
    }
}

/// Whether an answer has the form of the reference, or of a side of it.
fn has_form(answer: &[&str], reference: &[&str]) -> bool {
    let form = essence(answer);
    let sides = reference.split(|symbol| matches!(*symbol, "=" | "\\approx" | "≈"));
    form == essence(reference) || sides.into_iter().any(|side| form == essence(side))
}

/// The symbols without the unit that ends them: `5 km/h`, `25 cm^2`.
fn without_unit<'s, 'a>(symbols: &'s [&'a str]) -> &'s [&'a str] {
    let unit = |symbol: &str| is_word(symbol) || units::known(symbol);
    let mut rest = symbols;
    loop {
        rest = match rest {
            [_, .., "^", "2" | "3"] if rest.iter().nth_back(2).is_some_and(|name| unit(name)) => {
                rest.get(..rest.len() - 3).unwrap_or_default()
            }
            [before @ .., name] if !before.is_empty() && unit(name) => before,
            [before @ .., "/"] if rest.len() < symbols.len() => before,
            _ => return rest,
        };
    }
}

/// What a form is made of, in no order: without its unit, labels, words, brackets and marks that
/// may be left out.
fn essence<'a>(symbols: &[&'a str]) -> Vec<&'a str> {
    let symbols = without_unit(symbols);
    let mut kept: Vec<&str> = Vec::with_capacity(symbols.len());
    let mut since = 0;
    for symbol in symbols {
        match *symbol {
            // A name before an equals sign.
            "=" if kept.len() == since + 1 => kept.truncate(since),
            "," | ";" => since = kept.len(),
            "%" | "°" | "(" | ")" | "[" | "]" | "{" | "}" | "." => {}
            ">" => kept.push("<"),
            "≥" => kept.push("≤"),
            word if is_word(word) => {}
            other => kept.push(other),
        }
    }
    kept.sort_unstable();
    kept
}

/// Whether a formula stands in a question as a whole. With `replaced`, a letter of the question may
/// stand for a number of the formula.
fn stands(question: &[&str], formula: &[&str], replaced: bool) -> bool {
    (0..question.len()).any(|from| {
        let before = from.checked_sub(1).and_then(|at| question.get(at));
        ends(before)
            && length_at(question.get(from..).unwrap_or_default(), formula, replaced)
                .is_some_and(|length| ends(question.get(from + length)))
    })
}

/// "How many seconds are in a day?": one unit of what is to be converted.
fn stands_once(question: &[&str], quantity: &[&str]) -> bool {
    let ["1", unit] = quantity else { return false };
    question.windows(2).any(|pair| {
        let [count, noun] = pair else { return false };
        noun == unit && [ARTICLE, "an", "one", "each", "every", "per"].contains(count)
    })
}

/// How many symbols of the question a formula covers, where it starts there.
fn length_at(question: &[&str], formula: &[&str], replaced: bool) -> Option<usize> {
    let mut letters: Vec<(&str, &[&str])> = Vec::new();
    let (mut at, mut next) = (0, 0);
    while let Some(symbol) = formula.get(next) {
        let have = *question.get(at)?;
        let (mut length, mut same) = (1, have == *symbol);
        if replaced && !same && is_letter(have) {
            let value = value_at(formula.get(next..)?)?;
            length = value.len();
            match letters.iter().find(|(letter, _)| *letter == have) {
                Some((_, known)) => same = *known == value,
                None => {
                    letters.push((have, value));
                    same = true;
                }
            }
        }
        if !same {
            return None;
        }
        (at, next) = (at + 1, next + length);
    }
    Some(at)
}

fn is_letter(symbol: &str) -> bool {
    matches!(symbol.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

/// The number at the start of a formula, perhaps negative in brackets.
fn value_at<'s, 'a>(formula: &'s [&'a str]) -> Option<&'s [&'a str]> {
    match formula {
        ["(", "-", number, ")", ..] if is_number(number) => formula.get(..4),
        [number, ..] if is_number(number) => formula.get(..1),
        _ => None,
    }
}

/// Whether a formula may begin or end beside this symbol.
fn ends(symbol: Option<&&str>) -> bool {
    symbol.is_none_or(|symbol| {
        matches!(*symbol, "." | "," | ";" | ":" | "?" | "!" | "=") || is_word(symbol)
    })
}

/// Whether an equation or inequality in one variable is not solved for it. Where the reference is a
/// single value, `value`, what a function comes to may be what is asked.
fn is_unsolved(tree: &Tree, id: Id, value: bool) -> bool {
    let Ok(node) = tree.get(id) else { return false };
    match node {
        Node::Chain(sides, signs) => {
            let related = !signs.iter().any(|sign| matches!(sign, Rel::In | Rel::To));
            related && !is_solved(tree, sides, value && signs.as_slice() == [Rel::Equal])
        }
        Node::Builder(parts) => parts.last().is_some_and(|last| is_unsolved(tree, *last, value)),
        Node::Seq(items, _) | Node::Set(items) | Node::Group { items, .. } => {
            items.iter().any(|item| is_unsolved(tree, *item, value))
        }
        Node::Union(left, right) | Node::Intersection(left, right) | Node::Without(left, right) => {
            [left, right].into_iter().any(|side| is_unsolved(tree, *side, value))
        }
        Node::Labelled(_, inner) => is_unsolved(tree, *inner, value),
        _ => false,
    }
}

fn is_solved(tree: &Tree, sides: &[Id], value: bool) -> bool {
    let mut names: Vec<(usize, &str)> = Vec::new();
    for (at, side) in sides.iter().enumerate() {
        tree.visit(*side, &mut |node| match node {
            Node::Var(name) if !matches!(name.as_str(), "e" | "i") => names.push((at, name)),
            _ => {}
        });
    }
    let Some((_, name)) = names.first() else { return true };
    if names.iter().any(|(_, other)| other != name) {
        return true;
    }
    let lone = |at: usize, side: Id| match tree.get(side) {
        Ok(Node::Var(_)) => names.iter().all(|(place, _)| *place == at),
        Ok(Node::Call(..) | Node::Words(_)) => true,
        Ok(Node::Fun(..) | Node::Operator(_)) => value,
        _ => false,
    };
    sides.iter().enumerate().any(|(at, side)| lone(at, *side))
}

fn is_plain_number(tree: &Tree, id: Id) -> bool {
    match tree.get(id) {
        Ok(Node::Num(..)) => true,
        Ok(Node::Neg(inner) | Node::Percent(inner)) => is_plain_number(tree, *inner),
        _ => false,
    }
}

/// Whether two numbers are added or multiplied, or one is squared or cubed, and no equals sign says
/// what it comes to.
fn has_arithmetic(tree: &Tree) -> bool {
    let two = |ids: &[Id]| ids.iter().filter(|id| is_plain_number(tree, **id)).nth(1).is_some();
    let is = |id: Id, values: &[i64]| {
        matches!(tree.get(id), Ok(Node::Num(have, _))
            if values.iter().any(|value| *have == super::number::small(*value, 1)))
    };
    let mut found = false;
    for node in tree.nodes() {
        found |= match node {
            Node::Chain(..) => return false,
            Node::Add(terms) => two(terms),
            Node::Mul(factors) => two(factors),
            Node::Pow(base, exponent) => {
                is_plain_number(tree, *base) && !is(*base, &[10]) && is(*exponent, &[2, 3])
            }
            _ => false,
        };
    }
    found
}

/// Whether there is what is never a result: a greatest divisor, a remainder, a rounding of
/// numbers, a determinant, arithmetic of matrices.
fn has_unfinished(tree: &Tree) -> bool {
    let matrix = |id: &Id| matches!(tree.get(*id), Ok(Node::Matrix(_)));
    tree.nodes().any(|node| match node {
        Node::Fun("det", _) => true,
        Node::Fun("gcd" | "lcm" | "mod" | "floor" | "ceil" | "min" | "max", args) => {
            args.iter().all(|arg| is_plain_number(tree, *arg))
        }
        Node::Pow(base, _) => matrix(base),
        Node::Add(parts) | Node::Mul(parts) => parts.iter().filter(|part| matrix(part)).count() > 1,
        _ => false,
    })
}

/// Whether there is a complex number by its angle.
fn is_polar(tree: &Tree) -> bool {
    let imaginary = tree.nodes().any(|node| matches!(node, Node::Var(name) if name == "i"));
    let turned = tree.nodes().any(|node| match node {
        Node::Fun("sin" | "cos", _) => true,
        Node::Pow(base, _) => matches!(tree.get(*base), Ok(Node::Var(name)) if name == "e"),
        _ => false,
    });
    imaginary && turned
}
