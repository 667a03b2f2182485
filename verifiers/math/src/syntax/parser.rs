//! The grammar: precedence climbing over the tokens, without evaluating anything.
//!
//! This file holds the cursor and what is between separators and signs of relation; products,
//! factors, numbers, functions, brackets, quantities and operators have files of their own.

mod accents;
mod bracket;
mod clock;
mod compound;
mod counting;
mod derivative;
mod factor;
mod function;
mod number;
mod operator;
mod prelude;
mod product;
mod qualification;
mod quantity;
mod unit;

use super::ast::{ClockForm, Id, Join, Node, Rel, Tree};
use super::token::{Tok, Token};
use super::words;
use dashu_ratio::RBig;

use crate::stop::Stop;

/// The deepest nesting that is parsed.
const DEPTH_MAX: u32 = 64;

/// Reads a whole answer: its text, and the tokens of it.
pub(crate) fn parse(text: &str, tokens: &[Token<'_>]) -> Result<(Tree, Id), Stop> {
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        tree: Tree::default(),
        depth: 0,
        bars: 0,
        in_set: false,
        in_bound: false,
    };
    let root = parser.sequence(true)?;
    match parser.peek() {
        None | Some(Tok::Stop) => Ok((parser.tree, root)),
        Some(_) => Err(Stop::Unreadable),
    }
}

struct Parser<'t, 'a> {
    pub(crate) text: &'t str,
    pub(crate) tokens: &'t [Token<'a>],
    pub(crate) at: usize,
    pub(crate) tree: Tree,
    pub(crate) depth: u32,
    /// Open bars, in which a bar closes instead of opening.
    pub(crate) bars: u32,
    /// In a set, a colon starts the conditions.
    pub(crate) in_set: bool,
    /// Below a limit, where a point has sides: `0^+`.
    pub(crate) in_bound: bool,
}

impl<'a> Parser<'_, 'a> {
    fn peek(&self) -> Option<Tok<'a>> {
        self.tokens.get(self.at).map(|token| token.tok)
    }

    fn ahead(&self, by: usize) -> Option<Tok<'a>> {
        self.tokens.get(self.at + by).map(|token| token.tok)
    }

    fn spaced(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.spaced)
    }

    fn eat(&mut self, tok: Tok<'_>) -> bool {
        let found = self.peek() == Some(tok);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, tok: Tok<'_>) -> Result<(), Stop> {
        if self.eat(tok) { Ok(()) } else { Err(Stop::Unreadable) }
    }

    fn node(&mut self, node: Node, children: &[Id]) -> Result<Id, Stop> {
        self.tree.add(node, children)
    }

    /// An exact number.
    fn exact(&mut self, value: impl Into<RBig>) -> Result<Id, Stop> {
        self.node(Node::Num(value.into(), None), &[])
    }

    /// Runs `inner` one level deeper.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<Id, Stop>) -> Result<Id, Stop> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Stop::Cap);
        }
        let id = inner(self);
        self.depth -= 1;
        id
    }

    /// Clauses between commas, semicolons, "and" and "or".
    fn sequence(&mut self, top: bool) -> Result<Id, Stop> {
        let mut items = vec![self.clause()?];
        let mut join = Join::Comma;
        loop {
            if top && items.last().is_some_and(|last| self.is_one_of_cases(*last)) {
                return Err(Stop::Unreadable);
            }
            let Some(found) = self.next_separator(top) else { break };
            if self.peek().is_none() && top {
                break;
            }
            if found != Join::Comma {
                join = found;
            }
            if top && self.peek() == Some(Tok::Stop) {
                break;
            }
            items.push(self.clause()?);
        }
        match items.as_slice() {
            [only] => Ok(*only),
            _ => self.node(Node::Seq(items.clone(), join), &items),
        }
    }

    /// The next separator; at the top, after the qualification of a clause.
    fn next_separator(&mut self, top: bool) -> Option<Join> {
        if top && self.peek() == Some(Tok::Stop) {
            while !matches!(self.peek(), None | Some(Tok::And | Tok::Or)) {
                self.at += 1;
            }
        }
        self.separator()
    }

    fn separator(&mut self) -> Option<Join> {
        let mut found = None;
        loop {
            found = Some(match (self.peek(), found) {
                (Some(Tok::And), _) => Join::And,
                (Some(Tok::Or), _) => Join::Or,
                (Some(Tok::Comma | Tok::Semi), None) => Join::Comma,
                // "7/2, or equivalently 3.5"
                (Some(Tok::Word("equivalently")), Some(found)) if self.ahead(1).is_some() => found,
                _ => return found,
            });
            self.at += 1;
        }
    }

    /// A label, then a chain of relations.
    fn clause(&mut self) -> Result<Id, Stop> {
        if let Some(label) = self.label() {
            if words::denies(&label) {
                return Err(Stop::Unreadable);
            }
            let value = self.nested(Self::clause)?;
            return self.node(Node::Labelled(label, value), &[value]);
        }
        // "= 5" and "\approx 5" give the value of a formula before them.
        while let Some(Tok::Rel(Rel::Equal | Rel::Approx)) = self.peek() {
            self.at += 1;
        }
        let mut sides = vec![self.side()?];
        let mut signs = Vec::new();
        while let Some(sign) = self.relation() {
            signs.push(sign);
            sides.push(self.side()?);
        }
        match sides.as_slice() {
            [only] => Ok(*only),
            _ => self.node(Node::Chain(sides.clone(), signs), &sides),
        }
    }

    /// `Minimum:` and other words before a colon; filler words are skipped.
    fn label(&mut self) -> Option<String> {
        const EMPTY: [&str; 22] = crate::words::list(
            "only about approximately approx exactly roughly the answer is are equals thus \
             therefore hence so around total value final of be it",
        );
        let mut end = 0;
        while let Some(Tok::Word(_)) = self.ahead(end) {
            end += 1;
        }
        if end > 0 && self.ahead(end) == Some(Tok::Colon) {
            let label = self.words_text(end);
            self.at += 1;
            return Some(label);
        }
        // "Sequence 1: ..."
        if let (true, Some(Tok::Num(number) | Tok::Letter(number)), Some(Tok::Colon)) =
            (end > 0, self.ahead(end), self.ahead(end + 1))
        {
            let label = self.words_text(end);
            self.at += 2;
            return Some(format!("{label} {number}"));
        }
        // "a negative 4"
        if (self.peek(), self.ahead(1)) == (Some(Tok::Letter("a")), Some(Tok::Word("negative"))) {
            self.at += 1;
        }
        while let (Some(Tok::Word(word)), Some(_)) = (self.peek(), self.ahead(1)) {
            if !EMPTY.contains(&word.to_ascii_lowercase().as_str()) {
                break;
            }
            self.at += 1;
        }
        None
    }

    /// The next `count` tokens, all words, as text.
    fn words_text(&mut self, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            if let Some(Tok::Word(word)) = self.peek() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&word.to_lowercase());
            }
            self.at += 1;
        }
        text
    }

    fn relation(&mut self) -> Option<Rel> {
        let negated = self.peek() == Some(Tok::Not);
        let Tok::Rel(sign) = self.ahead(usize::from(negated))? else { return None };
        self.at += 1 + usize::from(negated);
        Some(if negated && sign == Rel::Equal { Rel::Unequal } else { sign })
    }

    /// Sets joined by union, intersection and difference, or a ratio, or an expression.
    fn side(&mut self) -> Result<Id, Stop> {
        let mut left = self.sum()?;
        loop {
            left = match self.peek() {
                Some(Tok::Cup) => self.set_pair(left, Node::Union)?,
                Some(Tok::Cap) => self.set_pair(left, Node::Intersection)?,
                Some(Tok::Setminus) => self.set_pair(left, Node::Without)?,
                Some(Tok::Colon | Tok::Word("to")) if !self.in_set => self.ratio(left)?,
                _ => return Ok(left),
            };
        }
    }

    fn set_pair(&mut self, left: Id, make: fn(Id, Id) -> Node) -> Result<Id, Stop> {
        self.at += 1;
        let right = self.sum()?;
        self.node(make(left, right), &[left, right])
    }

    fn ratio(&mut self, first: Id) -> Result<Id, Stop> {
        let start = self.at.saturating_sub(1);
        let mut parts = vec![first];
        while self.eat(Tok::Colon) || self.eat(Tok::Word("to")) {
            parts.push(self.sum()?);
        }
        let clock = if matches!(self.tree.get(first)?, Node::Num(_, None)) {
            clock::of(self.tokens.split_at(self.at).0.split_at(start).1)
        } else {
            ClockForm::None
        };
        self.node(Node::Ratio(parts.clone(), clock), &parts)
    }
}
