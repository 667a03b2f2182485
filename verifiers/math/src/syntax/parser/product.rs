//! The grammar of sums and products: signs, implicit multiplication, mixed numbers.

use super::unit::UnitAhead;
use crate::syntax::ast::UnitLetters;
use crate::syntax::parser::prelude::*;
use crate::syntax::units;

impl Parser<'_, '_> {
    pub(crate) fn sum(&mut self) -> Result<Id, Stop> {
        let mut terms = vec![self.signed_product()?];
        while let Some(sign @ (Tok::Plus | Tok::Minus | Tok::PlusMinus | Tok::MinusPlus)) =
            self.peek()
        {
            self.at += 1;
            let term = self.signed_product()?;
            terms.push(self.with_sign(sign, term)?);
        }
        let whole = match terms.as_slice() {
            [only] => *only,
            _ => self.node(Node::Add(terms.clone()), &terms)?,
        };
        match self.peek() {
            Some(tok @ (Tok::Over | Tok::Choose)) => {
                self.at += 1;
                let below = self.nested(Self::sum)?;
                let over = tok == Tok::Over;
                let node = if over {
                    Node::Div(whole, below)
                } else {
                    Node::Fun("binom", vec![whole, below])
                };
                self.node(node, &[whole, below])
            }
            _ => Ok(whole),
        }
    }

    fn with_sign(&mut self, sign: Tok<'_>, at: Id) -> Result<Id, Stop> {
        match sign {
            Tok::Minus => self.node(Node::Neg(at), &[at]),
            Tok::PlusMinus => self.node(Node::PlusMinus { at, minus_first: false }, &[at]),
            Tok::MinusPlus => self.node(Node::PlusMinus { at, minus_first: true }, &[at]),
            _ => Ok(at),
        }
    }

    /// A product with signs before it.
    pub(crate) fn signed_product(&mut self) -> Result<Id, Stop> {
        match (self.peek(), self.ahead(1)) {
            (Some(sign @ (Tok::Plus | Tok::Minus | Tok::PlusMinus | Tok::MinusPlus)), _) => {
                self.at += 1;
                let inner = self.nested(Self::signed_product)?;
                self.with_sign(sign, inner)
            }
            (Some(Tok::Word("negative" | "Negative")), Some(Tok::Num(_))) => {
                self.at += 1;
                let inner = self.nested(Self::product)?;
                self.with_sign(Tok::Minus, inner)
            }
            // {-}2
            (Some(Tok::LBrace), Some(Tok::Minus)) if self.ahead(2) == Some(Tok::RBrace) => {
                self.at += 3;
                let inner = self.nested(Self::signed_product)?;
                self.with_sign(Tok::Minus, inner)
            }
            _ => self.product(),
        }
    }

    /// A product. A number before letters may also be a value with a unit.
    pub(crate) fn product(&mut self) -> Result<Id, Stop> {
        let mut ahead = None;
        let whole = self.factors(&mut ahead)?;
        if let Some((value, unit)) = ahead
            && unit.end == self.at
        {
            let UnitAhead { text: unit, sure, .. } = unit;
            self.tree.may_be_measured(whole, UnitLetters { value, unit, sure });
        }
        Ok(whole)
    }

    fn factors(&mut self, letters: &mut Option<(Id, UnitAhead)>) -> Result<Id, Stop> {
        if let Some(compound) = self.compound()? {
            return Ok(compound);
        }
        if let Some(Tok::Currency(name)) = self.peek() {
            self.at += 1;
            let amount = self.nested(Self::signed_product)?;
            return self.price(name, amount);
        }
        let first = self.power()?;
        let mut left = self.mixed(first)?.unwrap_or(first);
        let mut factors = vec![left];
        loop {
            if letters.is_none() && self.is_measured(&mut factors, letters)? {
                continue;
            }
            match self.peek() {
                Some(Tok::Times) => {
                    self.at += 1;
                    factors.push(self.signed_factor()?);
                }
                Some(Tok::Slash) if matches!(self.ahead(1), Some(Tok::Word(name)) if units::known(name)) =>
                {
                    left = self.multiplied(&factors)?;
                    factors = vec![self.quantity(left, None)?];
                }
                Some(Tok::Slash) => factors = vec![self.divided(&factors)?],
                Some(Tok::Mod) => {
                    self.at += 1;
                    let parts = [self.multiplied(&factors)?, self.signed_factor()?];
                    factors = vec![self.node(Node::Fun("mod", parts.to_vec()), &parts)?];
                }
                Some(Tok::Scale(scale)) => {
                    self.at += 1;
                    let scaled = self.scaled(factors.pop(), scale)?;
                    factors.extend(scaled);
                }
                Some(Tok::Currency(name)) => {
                    self.at += 1;
                    left = self.multiplied(&factors)?;
                    factors = vec![self.price(name, left)?];
                }
                // "3 to 4" is a ratio.
                Some(Tok::Word("to")) if matches!(self.ahead(1), Some(Tok::Num(_))) => {
                    return self.multiplied(&factors);
                }
                Some(Tok::Word(letter)) if self.is_factor(letter) => {
                    self.at += 1;
                    factors.push(self.node(Node::Var(letter.to_owned()), &[])?);
                }
                Some(Tok::Word(_)) => {
                    left = self.multiplied(&factors)?;
                    left = match self.spoken(left)? {
                        Some(said) => said,
                        None => self.quantity(left, None)?,
                    };
                    factors = vec![left];
                }
                // Two adjacent numbers are not a product: "4 2" is not 8.
                Some(Tok::Num(_)) if self.follows_number() => return Err(Stop::Unreadable),
                Some(tok) if self.starts_factor(tok) || self.groups() => {
                    factors.push(self.power()?);
                }
                _ => return self.multiplied(&factors),
            }
        }
    }

    /// A number and the word that scales it are one number: "3 million".
    fn scaled(&mut self, last: Option<Id>, scale: u64) -> Result<Vec<Id>, Stop> {
        let number = match last.map(|last| self.tree.get(last)).transpose()? {
            Some(Node::Num(value, _)) => Some(value * RBig::from(scale)),
            _ => None,
        };
        Ok(match number {
            Some(number) => vec![self.exact(number)?],
            None => last.into_iter().chain([self.exact(scale)?]).collect(),
        })
    }

    pub(crate) fn multiplied(&mut self, factors: &[Id]) -> Result<Id, Stop> {
        match factors {
            [only] => Ok(*only),
            _ => self.node(Node::Mul(factors.to_vec()), factors),
        }
    }

    pub(crate) fn signed_factor(&mut self) -> Result<Id, Stop> {
        match self.peek() {
            Some(sign @ (Tok::Plus | Tok::Minus | Tok::PlusMinus)) => {
                self.at += 1;
                let inner = self.nested(Self::signed_factor)?;
                self.with_sign(sign, inner)
            }
            _ => self.power(),
        }
    }

    /// Whether a letter of `\text{}` after a number is not a unit, but a variable or a multiplier:
    /// `\text{42k}`.
    fn is_factor(&self, letter: &str) -> bool {
        const SMALL: [&str; 10] = ["m", "g", "s", "l", "h", "d", "u", "c", "p", "t"];
        let large = letter.starts_with(|c: char| c.is_uppercase());
        let multiplies = matches!(letter, "M" | "B" | "T");
        let unit = SMALL.contains(&letter)
            || (large && !multiplies && (units::known(letter) || letter == "F"));
        letter.len() == 1 && !unit && !matches!(self.ahead(1), Some(Tok::Word(_) | Tok::Num(_)))
    }

    pub(crate) fn starts_factor(&self, tok: Tok<'_>) -> bool {
        match tok {
            Tok::Num(_)
            | Tok::Letter(_)
            | Tok::Fun(_)
            | Tok::Big(_)
            | Tok::Pi
            | Tok::Dots
            | Tok::Infinity
            | Tok::Frac
            | Tok::Sqrt
            | Tok::Binom
            | Tok::Accent(_)
            | Tok::LParen
            | Tok::LBrace
            | Tok::LFloor
            | Tok::LCeil
            | Tok::Begin(_) => true,
            Tok::Bar => self.bars == 0,
            _ => false,
        }
    }

    fn follows_number(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| matches!(token.tok, Tok::Num(_)))
    }

    /// `3\frac{1}{2}` and `3 1/2`: an integer before a proper fraction is added to it.
    fn mixed(&mut self, whole: Id) -> Result<Option<Id>, Stop> {
        let Node::Num(value, None) = self.tree.get(whole)? else { return Ok(None) };
        if !value.is_int() {
            return Ok(None);
        }
        let start = self.at;
        let fraction = match (self.peek(), self.ahead(1), self.ahead(2)) {
            (Some(Tok::Frac), ..) => self.power()?,
            (Some(Tok::Num(_)), Some(Tok::Slash), Some(Tok::Num(_))) if self.spaced() => {
                let top = self.power()?;
                self.at += 1;
                let below = self.power()?;
                self.node(Node::Div(top, below), &[top, below])?
            }
            _ => return Ok(None),
        };
        // 33\frac{1}{3}\%: the sign is that of both.
        if let Node::Percent(inner) = self.tree.get(fraction)? {
            let inner = *inner;
            if self.proper(inner)? {
                let sum = self.node(Node::Add(vec![whole, inner]), &[whole, inner])?;
                return self.node(Node::Percent(sum), &[sum]).map(Some);
            }
        }
        if self.proper(fraction)? {
            return self.node(Node::Add(vec![whole, fraction]), &[whole, fraction]).map(Some);
        }
        self.at = start;
        Ok(None)
    }

    fn proper(&self, fraction: Id) -> Result<bool, Stop> {
        let Node::Div(top, below) = self.tree.get(fraction)? else { return Ok(false) };
        Ok(match (self.tree.get(*top)?, self.tree.get(*below)?) {
            (Node::Num(top, None), Node::Num(below, None)) => {
                top.is_int() && below.is_int() && top < below
            }
            _ => false,
        })
    }
}
