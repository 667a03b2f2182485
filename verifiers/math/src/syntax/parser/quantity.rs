//! Values with a unit or a noun after them, and operations in words: "4 divided by 2".

use super::unit::UnitAhead;
use crate::number::whole;
use crate::syntax::number_words;
use crate::syntax::parser::prelude::*;

/// The most words after a value.
const WORDS_MAX: usize = 5;
/// Words that no unit and no noun contains: "7 is wrong" is a statement about 7.
#[rustfmt::skip]
const SAYING: [&str; 40] = [
    "not", "no", "is", "isn", "are", "was", "cannot", "wrong", "incorrect", "maybe", "negative",
    "below", "above", "than", "unless", "except", "root", "power", "too", "extraneous", "rejected",
    "invalid", "false", "impossible", "discarded", "guess", "if", "when", "ten", "twenty",
    "never", "got", "most", "least", "minimum", "maximum", "upwards", "downwards", "tops", "up",
];
/// Nouns after an ordinal that have a value of their own: the 4th prime is 7.
#[rustfmt::skip]
const POINTED: [&str; 15] = [
    "prime", "multiple", "fibonacci", "triangular", "square", "cube", "perfect", "odd", "even",
    "positive", "smallest", "largest", "number", "integer", "digit",
];

impl Parser<'_, '_> {
    /// An operator in words behind `left`: "4 divided by 2", "4 out of 5", "3 squared", "4 thirds".
    pub(crate) fn spoken(&mut self, left: Id) -> Result<Option<Id>, Stop> {
        let Some(Tok::Word(word)) = self.peek() else { return Ok(None) };
        let number = matches!(self.tree.get(left)?, Node::Num(..));
        let operand = |by: usize| matches!(self.ahead(by), Some(Tok::Num(_)));
        let second = match self.ahead(1) {
            Some(Tok::Word(second)) if operand(2) => second,
            _ => "",
        };
        let (skip, name) = match (word, second) {
            ("divided", "by") | ("out", "of") => (2, "div"),
            ("over" | "in", _) if operand(1) => (1, "div"),
            ("times", _) if operand(1) => (1, "mul"),
            ("choose", _) if operand(1) => (1, "binom"),
            ("base", _) if operand(1) => (1, "base"),
            ("squared" | "cubed", _) if number => (1, "pow"),
            (part, _) if number && part != "quarters" => {
                let Some(below) = number_words::part(part) else { return Ok(None) };
                self.at += 1;
                let below = self.exact(below)?;
                return self.node(Node::Div(left, below), &[left, below]).map(Some);
            }
            _ => return Ok(None),
        };
        self.at += skip;
        if name == "pow" {
            let power = if word == "squared" { 2 } else { 3 };
            let power = self.exact(power)?;
            return self.node(Node::Pow(left, power), &[left, power]).map(Some);
        }
        let right = self.nested(Self::power)?;
        let node = match name {
            "div" => Node::Div(left, right),
            "mul" => Node::Mul(vec![left, right]),
            "binom" => Node::Fun("binom", vec![left, right]),
            _ => return self.in_base(left, right).map(Some),
        };
        self.node(node, &[left, right]).map(Some)
    }

    fn in_base(&mut self, digits: Id, base: Id) -> Result<Id, Stop> {
        let (Node::Num(digits, None), Node::Num(base, None)) =
            (self.tree.get(digits)?, self.tree.get(base)?)
        else {
            return Err(Stop::Unreadable);
        };
        let base = whole(base).and_then(|base| u32::try_from(base).ok());
        let (digits, base) = (digits.to_string(), base.ok_or(Stop::Unreadable)?);
        self.node(Node::Based(digits, base), &[])
    }

    /// The words after a value: its unit, or a noun, or both.
    pub(crate) fn quantity(&mut self, value: Id, unit: Option<UnitAhead>) -> Result<Id, Stop> {
        self.at = unit.as_ref().map_or(self.at, |unit| unit.end);
        let mut words = unit.map(|unit| unit.text).unwrap_or_default();
        let start = words.len();
        let mut count = 0;
        loop {
            let below = self.peek() == Some(Tok::Slash);
            let ((Some(Tok::Word(name)), _)
            | (Some(Tok::Slash), Some(Tok::Word(name) | Tok::Letter(name) | Tok::Fun(name)))) =
                (self.peek(), self.ahead(1))
            else {
                break;
            };
            self.at += if matches!(self.peek(), Some(Tok::Word(_))) { 1 } else { 2 };
            words.push_str(if words.is_empty() { "" } else { " " });
            words.push_str(if below { "per " } else { "" });
            words.push_str(&name.to_lowercase());
            if let Some(power) = self.raised_unit()? {
                words.push('^');
                words.push_str(&power);
            }
            count += 1;
        }
        // More words than a unit or a noun has are a sentence, and so is what goes on with a
        // number: 5 apples 6 pears.
        if words == "per cent" {
            return self.node(Node::Percent(value), &[value]);
        }
        let name = matches!(self.tree.get(value)?, Node::Var(_));
        let goes_on = !name && matches!(self.peek(), Some(Tok::Num(_)));
        if count > WORDS_MAX || goes_on || words.get(start..).is_some_and(says) {
            return Err(Stop::Unreadable);
        }
        self.node(Node::Quantity(value, words), &[value])
    }

    /// The exponent of a unit: `^2`, `^{-1}`.
    fn raised_unit(&mut self) -> Result<Option<String>, Stop> {
        if !self.eat(Tok::Caret) {
            return Ok(None);
        }
        let braced = self.eat(Tok::LBrace);
        let sign = if self.eat(Tok::Minus) { "-" } else { "" };
        let Some(Tok::Num(power)) = self.peek() else { return Err(Stop::Unreadable) };
        self.at += 1;
        if braced {
            self.expect(Tok::RBrace)?;
        }
        Ok(Some(format!("{sign}{power}")))
    }

    /// A sign of money before or after its amount.
    pub(crate) fn price(&mut self, name: &str, amount: Id) -> Result<Id, Stop> {
        if let Node::Quantity(value, unit) = self.tree.get(amount)?
            && unit.trim_start().starts_with("per ")
        {
            let (value, unit) = (*value, format!("{name} {unit}"));
            return self.node(Node::Quantity(value, unit), &[value]);
        }
        self.node(Node::Quantity(amount, name.to_owned()), &[amount])
    }
}

/// Whether words are a statement about the value before them.
fn says(words: &str) -> bool {
    let mut list = words.split(' ');
    let ordinal = matches!(list.clone().next(), Some("th" | "st" | "nd" | "rd"));
    list.any(|word| {
        SAYING.contains(&word) || (ordinal && POINTED.contains(&word.trim_end_matches('s')))
    })
}
