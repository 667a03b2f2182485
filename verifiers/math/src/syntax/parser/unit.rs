//! Units at the cursor, after a value.

use crate::syntax::parser::prelude::*;
use crate::syntax::unit_reader;

/// How LaTeX opens a text.
const TEXTS: [&str; 6] = ["text", "rm", "mbox", "operatorname", "textup", "textnormal"];

/// A unit after a value.
pub(crate) struct UnitAhead {
    pub(crate) text: String,
    /// The token after it.
    pub(crate) end: usize,
    /// Whether it cannot be variables side by side: a word, or set upright.
    pub(crate) certain: bool,
    /// Whether it is rather a unit: of several letters, apart from the number.
    pub(crate) sure: bool,
}

impl Parser<'_, '_> {
    /// Whether a unit behind factors was read. One that may be variables is noted only.
    pub(crate) fn is_measured(
        &mut self,
        factors: &mut Vec<Id>,
        letters: &mut Option<(Id, UnitAhead)>,
    ) -> Result<bool, Stop> {
        let Some(unit) = self.unit_ahead(factors)? else { return Ok(false) };
        let certain = unit.certain;
        if certain {
            self.measure_last(factors, unit)?;
        } else {
            *letters = Some((self.multiplied(factors)?, unit));
        }
        Ok(certain)
    }

    /// The unit behind factors: of the last value where one before has a unit of its own, as in
    /// `2\text{ kg} \times 3\text{ m/s}^2`, else of all.
    fn measure_last(&mut self, factors: &mut Vec<Id>, unit: UnitAhead) -> Result<(), Stop> {
        let from = self.last_quantity(factors)?.map_or(0, |at| at + 1);
        let from = if from < factors.len() { from } else { 0 };
        let value = self.multiplied(factors.split_at(from).1)?;
        factors.truncate(from);
        factors.push(self.quantity(value, Some(unit))?);
        Ok(())
    }

    fn last_quantity(&self, factors: &[Id]) -> Result<Option<usize>, Stop> {
        let mut last = None;
        for (at, factor) in factors.iter().enumerate() {
            last = matches!(self.tree.get(*factor)?, Node::Quantity(..)).then_some(at).or(last);
        }
        Ok(last)
    }

    /// A quotient at its slash.
    pub(crate) fn divided(&mut self, factors: &[Id]) -> Result<Id, Stop> {
        self.at += 1;
        let mut below = self.signed_factor()?;
        // 60 km / 2 h, but not 1/2 h.
        if self.last_quantity(factors)?.is_some()
            && let Some(unit) = self.unit_ahead(&[below])?.filter(|unit| unit.certain)
        {
            below = self.quantity(below, Some(unit))?;
        }
        let left = self.multiplied(factors)?;
        self.node(Node::Div(left, below), &[left, below])
    }

    /// The unit at the cursor, behind factors that are a number unless it is a word.
    pub(crate) fn unit_ahead(&self, factors: &[Id]) -> Result<Option<UnitAhead>, Stop> {
        match self.peek() {
            Some(Tok::Word(_)) => {}
            Some(
                Tok::Letter(_) | Tok::Frac | Tok::LBrace | Tok::LParen | Tok::Fun("sec" | "min"),
            ) if self.are_numbers(factors)? => {}
            _ => return Ok(None),
        }
        Ok(self.unit())
    }

    /// Degrees of a temperature, or by time: `20^\circ C`, `30°/s`.
    pub(crate) fn scale_ahead(&self, base: Id) -> Result<Option<UnitAhead>, Stop> {
        let by = match (self.peek(), self.ahead(1), self.ahead(2), self.ahead(3)) {
            (Some(Tok::Degree), ..) => 1,
            (Some(Tok::Caret), Some(Tok::Degree), ..) => 2,
            (Some(Tok::Caret), Some(Tok::LBrace), Some(Tok::Degree), Some(Tok::RBrace)) => 4,
            _ => return Ok(None),
        };
        let scale = match self.ahead(by) {
            Some(Tok::LBrace) => self.ahead(by + 1),
            scale => scale,
        };
        let named = matches!(scale, Some(Tok::Letter("C" | "F" | "K") | Tok::Word(_) | Tok::Slash));
        if !named || !self.are_numbers(&[base])? {
            return Ok(None);
        }
        Ok(self.unit().filter(|unit| unit.end > self.at + by))
    }

    fn unit(&self) -> Option<UnitAhead> {
        let first = self.tokens.get(self.at)?;
        let rest = self.text.get(first.at..)?;
        let found = unit_reader::read(rest, self.open_text(first.at))?;
        let text = rest.get(..found.end)?;
        let covered = self.tokens.get(self.at..)?.iter();
        let end = self.at + covered.take_while(|token| token.at < first.at + found.end).count();
        let (covered, next) = (self.tokens.get(self.at..end)?, self.ahead(end - self.at));
        let has = |is: fn(&Tok<'_>) -> bool| covered.iter().any(|token| is(&token.tok));
        let function = has(|tok| matches!(tok, Tok::Fun(_)));
        let goes_on = match next {
            Some(Tok::Num(_)) => true,
            // "5 A students"
            Some(Tok::Word(_)) => text.eq_ignore_ascii_case("a"),
            Some(tok) => function && self.starts_factor(tok),
            None => false,
        };
        if covered.is_empty() || goes_on {
            return None;
        }
        // \text{42M} may be millions.
        let multiplies = matches!(covered, [Token { tok: Tok::Word("M" | "B" | "T"), .. }]);
        let words = has(|tok| matches!(tok, Tok::Word(_) | Tok::Degree | Tok::Fun(_)));
        Some(UnitAhead {
            text: text.to_owned(),
            end,
            certain: (words || found.upright) && !multiplies,
            sure: found.sure && (first.spaced || self.spaced_by_command(first.at)),
        })
    }

    /// Whether the text is open as an argument: `\text{5 cm}`.
    fn open_text(&self, at: usize) -> usize {
        let before = &self.text[..at];
        let head = before.rsplit_once(['{', '}']).map_or("", |(head, _)| head);
        let opens = before.get(head.len()..).is_some_and(|tail| tail.starts_with('{'));
        usize::from(opens && TEXTS.iter().any(|name| head.trim_end().ends_with(name)))
    }

    fn spaced_by_command(&self, at: usize) -> bool {
        let before = &self.text[..at];
        ["\\,", "\\;", "\\:", "\\!", "quad"].iter().any(|space| before.trim_end().ends_with(space))
    }

    fn are_numbers(&self, ids: &[Id]) -> Result<bool, Stop> {
        let mut numbers = true;
        for id in ids {
            self.tree.get(*id)?;
            self.tree.visit(*id, &mut |node| {
                numbers &= !matches!(
                    node,
                    Node::Var(_) | Node::Call(..) | Node::Words(_) | Node::Operator(_)
                );
            });
        }
        Ok(numbers)
    }
}
