//! Binomials and permutations of numbers: `C(10,3)`, `C_{10}^{3}`, `{}_{10}C_3`, `10C3`, `P(5,2)`.
//!
//! `C(4,1)` may also be a point. It keeps its name, so that it is no other point of equal value.

use crate::syntax::parser::prelude::*;

/// Larger sets are not counted.
const SIZE_MAX: i64 = 10_000;

impl Parser<'_, '_> {
    /// Behind a letter: its arguments or its indices, where it counts choices.
    pub(crate) fn choices(&mut self, letter: &str) -> Result<Option<Id>, Stop> {
        if !matches!(letter, "C" | "P" | "A") {
            return Ok(None);
        }
        let start = self.at;
        let spaced = self.spaced();
        match self.peek() {
            // A(5,2) is a point.
            Some(Tok::LParen) if letter != "A" && !spaced => {
                let sizes = self.arguments();
                let Some((of, chosen)) = self.sizes(sizes, start)? else { return Ok(None) };
                self.node(Node::Call(letter.to_owned(), vec![of, chosen]), &[of, chosen]).map(Some)
            }
            Some(first @ (Tok::Under | Tok::Caret)) => {
                let sizes = self.indices(first);
                self.counted(letter, sizes, start)
            }
            _ => Ok(None),
        }
    }

    /// Behind a number: `10C3`.
    pub(crate) fn chosen_of(&mut self, number: &str) -> Result<Option<Id>, Stop> {
        let (Some(Tok::Letter(letter @ ("C" | "P"))), Some(Tok::Num(_))) =
            (self.peek(), self.ahead(1))
        else {
            return Ok(None);
        };
        let start = self.at;
        if self.spaced() || self.tokens.get(start + 1).is_some_and(|token| token.spaced) {
            return Ok(None);
        }
        self.at += 1;
        let sizes = small(number).zip(self.small());
        self.counted(letter, sizes, start)
    }

    /// `{}_{10}C_3`, `^{10}C_3`.
    pub(crate) fn indexed_choices(&mut self) -> Result<Option<Id>, Stop> {
        let start = self.at;
        if self.peek() == Some(Tok::LBrace) {
            if self.ahead(1) != Some(Tok::RBrace) {
                return Ok(None);
            }
            self.at += 2;
        }
        let of = match self.peek() {
            Some(Tok::Under | Tok::Caret) => self.index(),
            _ => None,
        };
        let sizes = match (of, self.peek(), self.ahead(1)) {
            (Some(of), Some(Tok::Letter(letter @ ("C" | "P"))), Some(Tok::Under)) => {
                self.at += 1;
                self.index().map(|chosen| (letter, (of, chosen)))
            }
            _ => None,
        };
        let (letter, sizes) = sizes.unzip();
        self.counted(letter.unwrap_or_default(), sizes, start)
    }

    /// `(10,3)`.
    fn arguments(&mut self) -> Option<(i64, i64)> {
        self.at += 1;
        let of = self.small()?;
        if !self.eat(Tok::Comma) {
            return None;
        }
        let chosen = self.small()?;
        self.eat(Tok::RParen).then_some((of, chosen))
    }

    /// `_{10}^{3}`, and the other way round.
    pub(crate) fn indices(&mut self, first: Tok<'_>) -> Option<(i64, i64)> {
        let one = self.index()?;
        let second = if first == Tok::Under { Tok::Caret } else { Tok::Under };
        if self.peek() != Some(second) {
            return None;
        }
        let two = self.index()?;
        // The size of the set is the subscript; in an older notation, a superscript that comes
        // first.
        Some(if first == Tok::Caret && one < two { (two, one) } else { (one, two) })
    }

    /// A small number after the sign of an index.
    fn index(&mut self) -> Option<i64> {
        self.at += 1;
        let braced = self.eat(Tok::LBrace);
        let value = self.small()?;
        (!braced || self.eat(Tok::RBrace)).then_some(value)
    }

    pub(crate) fn small(&mut self) -> Option<i64> {
        let Some(Tok::Num(text)) = self.peek() else { return None };
        self.at += 1;
        small(text)
    }

    /// The two sizes as nodes. `None`, after going back to the start, where they are no sizes.
    fn sizes(&mut self, sizes: Option<(i64, i64)>, start: usize) -> Result<Option<(Id, Id)>, Stop> {
        let Some((of, chosen)) = sizes.filter(|(of, chosen)| of >= chosen && *of > 1) else {
            self.at = start;
            return Ok(None);
        };
        let of = self.exact(of)?;
        Ok(Some((of, self.exact(chosen)?)))
    }

    /// The number of choices, or of arrangements.
    pub(crate) fn counted(
        &mut self,
        letter: &str,
        sizes: Option<(i64, i64)>,
        start: usize,
    ) -> Result<Option<Id>, Stop> {
        let Some((of, chosen)) = self.sizes(sizes, start)? else { return Ok(None) };
        let choices = self.node(Node::Fun("binom", vec![of, chosen]), &[of, chosen])?;
        if letter == "C" {
            return Ok(Some(choices));
        }
        let orders = self.node(Node::Factorial(chosen), &[chosen])?;
        self.node(Node::Mul(vec![choices, orders]), &[choices, orders]).map(Some)
    }
}

fn small(text: &str) -> Option<i64> {
    text.parse().ok().filter(|value| (0..=SIZE_MAX).contains(value))
}
