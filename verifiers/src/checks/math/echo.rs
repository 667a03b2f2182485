//! An echo of the question is no answer.
//!
//! An answer that equals the reference is refused where it says the question again: it stands in
//! the question in another form than the reference has, it is what the question asks to be worked
//! out, or it is an equation or inequality that was left unsolved. Only answers that would be paid
//! are looked at, so a wrong answer costs nothing here, and a question is read at most once.

use std::cell::OnceCell;

use memchr::memmem;

use super::Stop;
use super::ast::{Id, Node, Tree};
use super::compare::Rung;
use super::layout::{self, is_number, is_word};
use super::reading::Reading;
use super::unfinished::{has_arithmetic, has_unfinished, is_polar, is_unsolved};
use super::wording::{changes_form, has_form, is_same_number, stands, stands_once, unwrapped};
use crate::meter::Meter;

/// Of a longer question the end is looked at, in bytes.
const QUESTION_MAX: usize = 32 * 1024;
/// How far behind "which" the choice is, in symbols.
const CHOICE_MAX: usize = 30;
/// Words that say what there is to choose among.
#[rustfmt::skip]
const AMONG: &[&str] = &[
    "or", "following", "larger", "largest", "greater", "greatest", "smaller", "smallest", "least",
    "closest",
];
/// A longer answer, in symbols, is not looked for by its form.
const ANSWER_MAX: usize = 64;

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

    /// Whether a letter stands in it, alone or beside another one.
    pub(super) fn mentions(&self, letter: &str, meter: &mut Meter<'_>) -> Result<bool, Stop> {
        #[rustfmt::skip]
        const WORDS: &[&str] = &[
            "of", "is", "in", "to", "if", "on", "at", "by", "it", "as", "be", "we", "or", "an", "so",
            "no", "do", "he", "up", "us", "me", "my", "am", "go",
        ];
        let symbols = self.symbols(meter)?;
        meter.spend(2 * symbols.len() as u64)?;
        Ok(symbols
            .iter()
            .any(|symbol| symbol.len() <= 2 && symbol.contains(letter) && !WORDS.contains(symbol)))
    }

    /// Whether it offers values to choose among, or states what is to be shown: then repeating a
    /// part of it is an answer.
    fn offers(&self, symbols: &[&str]) -> bool {
        let is = |symbol: &str, words: &[&str]| {
            words.iter().any(|word| symbol.eq_ignore_ascii_case(word))
        };
        let shown = symbols
            .windows(2)
            .any(|pair| matches!(pair, [verb, "that"] if is(verb, &["show", "prove", "verify"])));
        let asked = symbols.iter().enumerate().any(|(at, symbol)| {
            let sentence = symbols.iter().skip(at).take(CHOICE_MAX);
            // "42, which is ..." and "in which" ask nothing.
            let before = at.checked_sub(1).and_then(|at| symbols.get(at));
            let relative = before.is_some_and(|word| is(word, &[",", "in", "for", "of", "by"]));
            !relative
                && is(symbol, &["which", "choose", "select", "pick"])
                && sentence.take_while(|symbol| **symbol != "?").any(|symbol| is(symbol, AMONG))
        });
        // "(A) 12" is an option, P(A) is none.
        let label = |name: &str| {
            self.text.match_indices(name).any(|(at, _)| {
                let head = self.text.get(..at).unwrap_or_default();
                !head.strip_suffix('(').unwrap_or(head).ends_with(char::is_alphanumeric)
            })
        };
        shown || asked || (label("A)") && label("B)"))
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
        // Every word of an echo is in the question: many answers end here.
        let words = answer.iter().filter(|symbol| is_word(symbol));
        if let Some(longest) = words.max_by_key(|symbol| symbol.len())
            && !quantity
            && memmem::find(question.text.as_bytes(), longest.as_bytes()).is_none()
        {
            return Ok(false);
        }
        let trees = &self.answer_reading.trees;
        let foldable = trees.iter().any(|(tree, root)| has_arithmetic(tree, *root));
        let symbols = question.symbols(meter)?;
        meter.spend(8 * symbols.len() as u64)?;
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
        let any = |reading: &Reading, test: fn(&Tree, Id) -> bool| {
            reading.trees.iter().any(|(tree, root)| test(tree, *root))
        };
        let left = |test: fn(&Tree, Id) -> bool| any(answer, test) && !any(reference, test);
        if left(has_unfinished) || left(is_polar) {
            return Ok(true);
        }
        if !left(has_arithmetic) {
            return Ok(false);
        }
        let asked = question.symbols(meter)?;
        let symbols = layout::symbols(self.answer);
        meter.spend((symbols.len() * (20 + asked.len())) as u64)?;
        let mut before = "";
        for symbol in symbols {
            let power = before == "^" && matches!(symbol, "2" | "3");
            let is_given = || asked.iter().any(|have| is_same_number(have, symbol));
            if is_number(symbol) && !power && !is_given() {
                return Ok(false);
            }
            before = symbol;
        }
        Ok(true)
    }
}
