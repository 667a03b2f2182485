//! Refusal of an answer that equals the reference but restates the question.
//!
//! Such an answer occurs in the question in another form than that of the reference, is the
//! expression that is to be evaluated, or is an equation or inequality that was left unsolved. Only
//! answers that would be accepted are examined, and the question is read at most once.

pub(crate) mod unfinished;

use memchr::memmem;

use crate::compare::judged::Rung;
use crate::meter::Meter;
use crate::question::forms::{
    changes_form, has_form, is_given, plain_number, stands, stands_once, unwrapped,
};
use crate::question::symbols::{is_number, is_word};
use crate::question::{Question, symbols};
use crate::reading::Reading;
use crate::refusal::unfinished::{Stated, has_arithmetic, has_unfinished, is_polar, is_unsolved};
use crate::stop::Stop;
use crate::syntax::{Id, Node, Tree};

/// The longest answer that is searched for in the question, in symbols.
const ANSWER_MAX: usize = 64;

/// Why an answer that equals the reference is not paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A sum, a product, an integral, a limit or a derivative, which the reference has not.
    NotClosedForm,
    /// An equation or inequality whose solutions the reference gives.
    NotSolved,
    /// Arithmetic that was not evaluated.
    NotEvaluated,
    /// A part of the question.
    Echo,
}

impl Refusal {
    /// The reason of a verdict that refuses.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotClosedForm => "not-closed-form",
            Self::NotSolved => "not-solved",
            Self::NotEvaluated => "not-evaluated",
            Self::Echo => "echo-of-question",
        }
    }
}

/// An answer that equals the reference, and the reference.
pub struct Pair<'a> {
    /// The text of the answer.
    pub answer: &'a str,
    /// What the answer may mean.
    pub answer_reading: &'a Reading,
    /// The text of the reference.
    pub reference: &'a str,
    /// What the reference may mean.
    pub reference_reading: &'a Reading,
    /// The rung on which they are equal.
    pub rung: Rung,
}

impl Pair<'_> {
    /// Whether the answer is an equation or inequality that is still to be solved, where the
    /// reference is none. Where there is no question, it may stand for another equation or
    /// inequality, but not for a set or a list of solutions. The value of a function may be what
    /// is asked where the reference is a single `value`.
    pub fn is_unsolved(
        &self,
        value: bool,
        question: &Question<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop> {
        let any = |reading: &Reading, test: &dyn Fn(&Tree, Id) -> bool| {
            reading.trees.iter().any(|(tree, root)| test(tree, *root))
        };
        let unsolved = |reading: &Reading, stated: Stated| {
            any(reading, &|tree, root| is_unsolved(tree, root, stated))
        };
        let related = |tree: &Tree, root| matches!(tree.get(root), Ok(Node::Chain(..)));
        let stated = if value { Stated::Unasked } else { Stated::Nothing };
        if !unsolved(self.answer_reading, stated)
            || unsolved(self.reference_reading, Stated::Nothing)
            || (question.is_empty() && any(self.reference_reading, &related))
        {
            return Ok(false);
        }
        let asked = value && self.is_asked_for(question, meter)?;
        Ok(!asked || unsolved(self.answer_reading, Stated::Anything))
    }

    /// Whether a side of the answer is in the question, and not as a side of an equation there.
    fn is_asked_for(&self, question: &Question<'_>, meter: &mut Meter<'_>) -> Result<bool, Stop> {
        let asked = question.symbols(meter)?;
        meter.spend(8 * asked.len() as u64)?;
        Ok(self.answer.split('=').take(2).any(|side| {
            let side = symbols::symbols(side);
            let named = side.iter().any(|symbol| symbol.starts_with(|c: char| c.is_alphabetic()));
            let found = |(at, run): (usize, &[&str])| {
                run == side.as_slice()
                    && !asked.get(at + side.len()).is_some_and(|next| is_relation(next))
            };
            named && side.len() > 1 && asked.windows(side.len()).enumerate().any(found)
        }))
    }

    /// Whether the answer is in the question in another form than that of the reference, or is
    /// what comes of putting a number for a letter of it.
    pub fn echoes(&self, question: &Question<'_>, meter: &mut Meter<'_>) -> Result<bool, Stop> {
        meter.spend(4 * (self.answer.len() + self.reference.len()) as u64)?;
        let (answer, reference) = (symbols::symbols(self.answer), symbols::symbols(self.reference));
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
        // Every word of a restatement occurs in the question: most answers fail this test.
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

    /// Whether the answer leaves arithmetic unevaluated that the reference evaluates: functions
    /// that are never a result, or sums and products of numbers from the question.
    pub fn is_unevaluated(
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
        let symbols = symbols::symbols(self.answer);
        meter.spend((symbols.len() * (20 + asked.len())) as u64)?;
        let mut before = "";
        for (at, symbol) in symbols.iter().enumerate() {
            let power = before == "^" && matches!(*symbol, "2" | "3");
            before = symbol;
            let behind = symbols.get(at + 1).is_some_and(|next| next.ends_with('%'));
            let plain = plain_number(symbol);
            let number = plain.strip_suffix("00").filter(|_| behind).unwrap_or(plain);
            // What such a number is added to, or multiplied with, stays as it is.
            let is_neutral = matches!(plain, "0" | "1" | "100");
            if is_number(symbol) && !power && !is_neutral && !is_given(asked, number) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn is_relation(symbol: &str) -> bool {
    symbol.starts_with(['=', '<', '>', '≤', '≥', '≠'])
}
