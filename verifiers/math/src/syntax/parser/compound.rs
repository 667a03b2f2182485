//! Compound quantities: one value in several units, `5 ft 6 in`, `2 h 30 min`, `12^\circ 30'`.

use crate::syntax::parser::prelude::*;
use crate::syntax::units;

/// The most parts of a compound quantity.
const PARTS_MAX: usize = 4;

/// A part of a compound quantity.
struct Part {
    value: RBig,
    unit: String,
}

impl Parser<'_, '_> {
    /// `5 ft 6 in`, `2 h 30 min`, `3 dollars and 50 cents`, `12^\circ 30'`: one value in several
    /// units. `None`, without consuming tokens, where it is something else.
    pub(crate) fn compound(&mut self) -> Result<Option<Id>, Stop> {
        // For most numbers, the next tokens decide.
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
            // The inches are less than a foot. Their marks may be quotation marks, which the lexer
            // drops.
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
        let value = self.exact(value)?;
        self.node(Node::Degrees(value), &[value]).map(Some)
    }

    /// Consumes a mark that is repeated `times` times, as a superscript or not.
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
    pub(crate) fn parts(&mut self) -> Result<Option<Id>, Stop> {
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
        // A price is expressed in the larger unit.
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
        let value = self.exact(value)?;
        self.node(Node::Quantity(value, unit.to_owned()), &[value])
    }

    /// A number with a unit that continues the part before it: of a smaller unit, and less than one
    /// of the larger.
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
            // Minutes where hours are before or seconds behind.
            "m" if hours || seconds => "min".to_owned(),
            name => name.to_owned(),
        };
        let goes_on = match before {
            None => units::ratio(&unit, &unit).is_some(),
            Some(before) => units::ratio(&unit, &before.unit)
                .is_some_and(|factor| factor > RBig::ONE && value < factor),
        };
        Ok(goes_on.then_some(Part { value, unit }))
    }
}
