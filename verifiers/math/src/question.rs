//! The question of a sample as a sequence of symbols.

pub(crate) mod forms;
pub(crate) mod symbols;

use std::cell::OnceCell;

use crate::meter::Meter;
use crate::stop::Stop;

/// Only the end of a longer question is read, in bytes.
const QUESTION_MAX: usize = 32 * 1024;
/// How far behind "which" the choice is, in symbols.
const CHOICE_MAX: usize = 30;
/// Words that say what there is to choose among.
#[rustfmt::skip]
const AMONG: &[&str] = &[
    "or", "following", "larger", "largest", "greater", "greatest", "smaller", "smallest", "least",
    "closest",
];

/// The question of a sample; its symbols are read once, when they are needed.
pub struct Question<'a> {
    pub(crate) text: &'a str,
    pub(crate) symbols: OnceCell<Vec<&'a str>>,
}

impl<'a> Question<'a> {
    /// The question of a prompt. An empty one stands for none.
    pub fn new(prompt: &'a str) -> Self {
        let from = prompt.ceil_char_boundary(prompt.len().saturating_sub(QUESTION_MAX));
        Self { text: &prompt[from..], symbols: OnceCell::new() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether it asks for the score of a game, and not for a ratio.
    pub fn asks_for_score(&self) -> bool {
        let is_score = self.has_word(&["score", "scores", "scored"]) || self.text.contains("比分");
        is_score && !self.asks_for_ratio()
    }

    /// Whether it asks for a ratio.
    pub(crate) fn asks_for_ratio(&self) -> bool {
        self.has_word(&["ratio", "ratios", "proportion"])
    }

    fn has_word(&self, words: &[&str]) -> bool {
        let mut all = self.text.split(|c: char| !c.is_alphanumeric());
        all.any(|word| words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
    }

    pub(crate) fn symbols(&self, meter: &mut Meter<'_>) -> Result<&[&'a str], Stop> {
        if self.symbols.get().is_none() {
            meter.spend(4 * self.text.len() as u64)?;
        }
        Ok(self.symbols.get_or_init(|| symbols::symbols_of_prose(self.text)))
    }

    /// Whether a letter occurs in it, alone or next to another letter.
    pub(crate) fn mentions(&self, letter: &str, meter: &mut Meter<'_>) -> Result<bool, Stop> {
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

    /// Whether a letter is in it behind numbers and in quotients of units alone, if at all:
    /// "5 m", "m/s".
    pub(crate) fn has_for_units_alone(
        &self,
        letter: &str,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop> {
        let symbols = self.symbols(meter)?;
        meter.spend(2 * symbols.len() as u64)?;
        let mut before = "";
        for symbol in symbols {
            let measures = symbols::is_number(before) || matches!(before, "/" | "in" | "per");
            if *symbol == letter && !measures {
                return Ok(false);
            }
            before = symbol;
        }
        Ok(true)
    }

    /// Whether it offers options, or states what is to be shown: a part of it may be the answer.
    pub(crate) fn offers(&self, symbols: &[&str]) -> bool {
        let is = |symbol: &str, words: &[&str]| {
            words.iter().any(|word| symbol.eq_ignore_ascii_case(word))
        };
        let shown = symbols
            .windows(2)
            .any(|pair| matches!(pair, [verb, "that"] if is(verb, &["show", "prove", "verify"])));
        let asked = symbols.iter().enumerate().any(|(at, symbol)| {
            let sentence = symbols.iter().skip(at).take(CHOICE_MAX);
            // Relative clauses, "42, which is ..." and "in which", do not ask.
            let before = at.checked_sub(1).and_then(|at| symbols.get(at));
            let relative = before.is_some_and(|word| is(word, &[",", "in", "for", "of", "by"]));
            !relative
                && is(symbol, &["which", "choose", "select", "pick"])
                && sentence.take_while(|symbol| **symbol != "?").any(|symbol| is(symbol, AMONG))
        });
        // "(A) 12" is an option, P(A) is none.
        let label = |name: &str| {
            self.text.match_indices(name).any(|(at, _)| {
                let head = &self.text[..at];
                !head.strip_suffix('(').unwrap_or(head).ends_with(char::is_alphanumeric)
            })
        };
        shown || asked || (label("A)") && label("B)"))
    }
}
