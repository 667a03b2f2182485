//! Values with their units: nouns, compound quantities (`5 ft 6 in`), and operators in words.

use dashu_ratio::RBig;

use super::Stop;
use super::ast::{Id, Node};
use super::lexer::Tok;
use super::number::small;
use super::parser::Parser;
use super::{spelled, units};

/// The most words behind a value.
const WORDS_MAX: usize = 5;
/// The most parts of a compound quantity.
const PARTS_MAX: usize = 4;

/// Words that no unit and no noun has: "7 is wrong" says something of 7, "4 negative" another
/// number.
#[rustfmt::skip]
const SAYING: [&str; 32] = [
    "not", "no", "is", "isn", "are", "was", "cannot", "wrong", "incorrect", "maybe", "negative",
    "below", "above", "than", "unless", "except", "root", "power", "too", "extraneous", "rejected",
    "invalid", "false", "impossible", "discarded", "guess", "if", "when", "ten", "twenty",
    "never", "got",
];
/// What an ordinal may point at that has a value of its own: the 4th prime is 7.
#[rustfmt::skip]
const POINTED: [&str; 15] = [
    "prime", "multiple", "fibonacci", "triangular", "square", "cube", "perfect", "odd", "even",
    "positive", "smallest", "largest", "number", "integer", "digit",
];

/// A part of a compound quantity.
struct Part {
    value: RBig,
    unit: String,
}

impl Parser<'_, '_> {
    /// `5 ft 6 in`, `2 h 30 min`, `3 dollars and 50 cents`, `12^\circ 30'`: one value in several
    /// units. `None`, and nothing is eaten, where it is something else.
    pub(super) fn compound(&mut self) -> Result<Option<Id>, Stop> {
        // Most numbers are told from their next tokens.
        let number = |by: usize| matches!(self.ahead(by), Some(Tok::Num(_)));
        let goes_on = number(0)
            && match (self.ahead(1), self.ahead(2)) {
                (
                    Some(Tok::Word(_) | Tok::Letter("h" | "m" | "s" | "g" | "l" | "L" | "d")),
                    next,
                ) => {
                    number(2)
                        || (matches!(next, Some(Tok::Comma | Tok::And)) && (number(3) || number(4)))
                }
                (Some(Tok::Degree | Tok::Prime), _) => number(2),
                (Some(Tok::Caret), Some(Tok::LBrace)) => {
                    matches!(self.ahead(3), Some(Tok::Degree | Tok::Prime))
                }
                (Some(Tok::Caret), next) => matches!(next, Some(Tok::Degree | Tok::Prime)),
                _ => false,
            };
        if !goes_on {
            return Ok(None);
        }
        let start = self.at;
        let found = match self.angle()? {
            None => {
                self.at = start;
                self.parts()?
            }
            found => found,
        };
        if found.is_none() {
            self.at = start;
        }
        Ok(found)
    }

    /// Degrees, minutes and seconds of an angle; feet and inches by their marks.
    fn angle(&mut self) -> Result<Option<Id>, Stop> {
        let Some(first) = self.plain_number()? else { return Ok(None) };
        let degrees = self.mark(Tok::Degree, 1);
        if !degrees && !self.mark(Tok::Prime, 1) {
            return Ok(None);
        }
        let Some(second) = self.plain_number()? else { return Ok(None) };
        if !degrees {
            // Six inches are less than a foot. Their marks may be quotation marks, which are gone.
            let closed = self.mark(Tok::Prime, 2) || self.peek().is_none();
            let inches = first * small(12, 1) + &second;
            return if closed && second < small(12, 1) {
                self.measured(inches, "in").map(Some)
            } else {
                Ok(None)
            };
        }
        if !self.mark(Tok::Prime, 1) || second >= small(60, 1) {
            return Ok(None);
        }
        let mut value = first + second * small(1, 60);
        let before_seconds = self.at;
        match self.plain_number()? {
            Some(seconds) if self.mark(Tok::Prime, 2) => value += seconds * small(1, 3600),
            _ => self.at = before_seconds,
        }
        let value = self.node(Node::Num(value, None), &[])?;
        self.node(Node::Degrees(value), &[value]).map(Some)
    }

    /// Eats a mark that is written `times` times, raised or not.
    fn mark(&mut self, mark: Tok<'_>, times: usize) -> bool {
        let start = self.at;
        let raised = self.eat(Tok::Caret);
        let braced = raised && self.eat(Tok::LBrace);
        let whole = (0..times).all(|_| self.eat(mark)) && (!braced || self.eat(Tok::RBrace));
        if !whole {
            self.at = start;
        }
        whole
    }

    fn plain_number(&mut self) -> Result<Option<RBig>, Stop> {
        let Some(Tok::Num(text)) = self.peek() else { return Ok(None) };
        self.at += 1;
        let id = self.number(text)?;
        Ok(match self.tree.get(id)? {
            Node::Num(value, _) => Some(value.clone()),
            _ => None,
        })
    }

    /// Parts of one dimension, from the largest unit to the smallest.
    fn parts(&mut self) -> Result<Option<Id>, Stop> {
        let mut parts: Vec<Part> = Vec::new();
        while parts.len() < PARTS_MAX {
            let before = self.at;
            if !parts.is_empty() {
                self.eat(Tok::Comma);
                self.eat(Tok::And);
            }
            let next = self.part(parts.last())?;
            let Some(next) = next else {
                self.at = before;
                break;
            };
            parts.push(next);
        }
        let [first, _, ..] = parts.as_slice() else { return Ok(None) };
        let Some(last) = parts.last() else { return Ok(None) };
        // What things cost is said in the larger unit.
        let whole = if units::is_money(&first.unit) { &first.unit } else { &last.unit };
        let mut total = RBig::ZERO;
        for part in &parts {
            let Some(factor) = units::ratio(whole, &part.unit) else { return Ok(None) };
            total += &part.value * factor;
        }
        let unit = whole.clone();
        self.measured(total, &unit).map(Some)
    }

    fn measured(&mut self, value: RBig, unit: &str) -> Result<Id, Stop> {
        let value = self.node(Node::Num(value, None), &[])?;
        self.node(Node::Quantity(value, unit.to_owned()), &[value])
    }

    /// A number with a unit that goes on from the part before it: smaller, and not a whole one of
    /// the larger.
    fn part(&mut self, before: Option<&Part>) -> Result<Option<Part>, Stop> {
        let Some(value) = self.plain_number()? else { return Ok(None) };
        let Some(Tok::Word(name) | Tok::Letter(name)) = self.peek() else { return Ok(None) };
        self.at += 1;
        let next = match (self.peek(), self.ahead(1)) {
            (Some(Tok::Num(_)), Some(Tok::Word(next) | Tok::Letter(next))) => next,
            _ => "",
        };
        let seconds = matches!(next, "s" | "sec" | "secs" | "seconds");
        let hours = before.is_some_and(|before| before.unit.starts_with('h'));
        let unit = match name {
            // Minutes where hours stand before or seconds behind.
            "m" if hours || seconds => "min".to_owned(),
            name => unit_name(name),
        };
        let goes_on = match before {
            None => units::ratio(&unit, &unit).is_some(),
            Some(before) => units::ratio(&unit, &before.unit)
                .is_some_and(|factor| factor > RBig::ONE && value < factor),
        };
        Ok(goes_on.then_some(Part { value, unit }))
    }

    /// An operator in words behind `left`: "4 divided by 2", "4 out of 5", "3 squared", "4 thirds".
    pub(super) fn spoken(&mut self, left: Id) -> Result<Option<Id>, Stop> {
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
                let Some(below) = spelled::part(part) else { return Ok(None) };
                self.at += 1;
                let below = self.node(Node::Num(small(below, 1), None), &[])?;
                return self.node(Node::Div(left, below), &[left, below]).map(Some);
            }
            _ => return Ok(None),
        };
        self.at += skip;
        if name == "pow" {
            let power = if word == "squared" { 2 } else { 3 };
            let power = self.node(Node::Num(small(power, 1), None), &[])?;
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
        let base = super::number::whole(base).and_then(|base| u32::try_from(base).ok());
        let (digits, base) = (digits.to_string(), base.ok_or(Stop::Unreadable)?);
        self.node(Node::Based(digits, base), &[])
    }

    /// The words behind a value: its unit, or a noun.
    pub(super) fn quantity(&mut self, value: Id) -> Result<Id, Stop> {
        let mut words = String::new();
        let mut count = 0;
        loop {
            let below = self.peek() == Some(Tok::Slash);
            let name = match (self.peek(), self.ahead(1)) {
                (Some(Tok::Word(name)), _)
                | (Some(Tok::Slash), Some(Tok::Word(name) | Tok::Letter(name))) => name,
                (Some(Tok::Times), Some(Tok::Word(name))) if units::known(name) => name,
                _ => break,
            };
            self.at += if matches!(self.peek(), Some(Tok::Word(_))) { 1 } else { 2 };
            words.push_str(if words.is_empty() { "" } else { " " });
            words.push_str(if below { "per " } else { "" });
            words.push_str(&unit_name(name));
            if let Some(power) = self.raised_unit()? {
                words.push('^');
                words.push_str(&power);
            }
            count += 1;
        }
        if let (Some(unit), true) = (temperature(&words), self.is_degrees(value)?) {
            let Node::Degrees(number) = self.tree.get(value)? else { return Err(Stop::Unreadable) };
            let number = *number;
            return self.node(Node::Quantity(number, unit.to_owned()), &[number]);
        }
        // More words than a unit or a noun has are a sentence, and so is what goes on with a
        // number: 5 apples 6 pears.
        if words == "per cent" {
            return self.node(Node::Percent(value), &[value]);
        }
        let name = matches!(self.tree.get(value)?, Node::Var(_));
        let goes_on = !name && matches!(self.peek(), Some(Tok::Num(_)));
        if count > WORDS_MAX || goes_on || says(&words) {
            return Err(Stop::Unreadable);
        }
        self.node(Node::Quantity(value, words), &[value])
    }

    fn is_degrees(&self, id: Id) -> Result<bool, Stop> {
        Ok(matches!(self.tree.get(id)?, Node::Degrees(_)))
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

    /// A sign of money before or behind its amount.
    pub(super) fn price(&mut self, name: &str, amount: Id) -> Result<Id, Stop> {
        self.node(Node::Quantity(amount, name.to_owned()), &[amount])
    }
}

/// Small letters, but the M of a million is no m of a thousandth.
fn unit_name(name: &str) -> String {
    let lower = name.to_lowercase();
    match name.strip_prefix('M').and_then(units::long_name) {
        Some(long) => format!("mega{long}"),
        None => lower,
    }
}

/// Whether words say something of the value before them.
fn says(words: &str) -> bool {
    let mut list = words.split(' ');
    let ordinal = matches!(list.clone().next(), Some("th" | "st" | "nd" | "rd"));
    list.any(|word| {
        SAYING.contains(&word) || (ordinal && POINTED.contains(&word.trim_end_matches('s')))
    })
}

/// The scale behind a degree sign.
fn temperature(words: &str) -> Option<&'static str> {
    Some(match words.split(' ').next()? {
        "c" | "celsius" | "centigrade" => "celsius",
        "f" | "fahrenheit" => "fahrenheit",
        _ => return None,
    })
}
