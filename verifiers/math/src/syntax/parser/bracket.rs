//! The grammar of what is in brackets: groups, sets, absolute values, matrices, branches.

use crate::syntax::ast::Join;
use crate::syntax::parser::prelude::*;

/// The most branches of one value.
const BRANCHES_MAX: usize = 50;

impl<'a> Parser<'_, 'a> {
    pub(crate) fn braced(&mut self) -> Result<Id, Stop> {
        self.expect(Tok::LBrace)?;
        let id = self.enclosed()?;
        self.expect(Tok::RBrace)?;
        Ok(id)
    }

    /// The inside of brackets, in which bars and colons have their top-level meaning.
    fn enclosed(&mut self) -> Result<Id, Stop> {
        let outside = (std::mem::take(&mut self.bars), std::mem::take(&mut self.in_set));
        let id = self.nested(|parser| parser.sequence(false))?;
        (self.bars, self.in_set) = outside;
        Ok(id)
    }

    /// Parentheses and square brackets: around one thing, or a point, or an interval.
    pub(crate) fn group(&mut self, open: Tok<'a>) -> Result<Id, Stop> {
        let inner = self.enclosed()?;
        let close = self.peek().ok_or(Stop::Unreadable)?;
        self.at += 1;
        let (open, close) = match (open, close) {
            // In ]1, 3[ and [1, 3[ an outward bracket excludes the end.
            (Tok::LParen, Tok::RParen) | (Tok::RBracket, Tok::LBracket) => ('(', ')'),
            (Tok::LParen | Tok::RBracket, Tok::RBracket) => ('(', ']'),
            (Tok::LBracket, Tok::RParen | Tok::LBracket) => ('[', ')'),
            (Tok::LBracket, Tok::RBracket) => ('[', ']'),
            _ => return Err(Stop::Unreadable),
        };
        match self.tree.get(inner)? {
            Node::Seq(items, Join::Comma) => {
                let items = items.clone();
                self.node(Node::Group { open, close, items }, &[inner])
            }
            _ if (open == '(') == (close == ')') => Ok(inner),
            _ => Err(Stop::Unreadable),
        }
    }

    /// Where the bracket at `open` is closed by its like. `None` where it is not.
    pub(crate) fn matching(&self, open: usize) -> Option<usize> {
        let close = match self.tokens.get(open)?.tok {
            Tok::LParen => Tok::RParen,
            Tok::LBracket => Tok::RBracket,
            _ => return None,
        };
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::LSet => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::RSet => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return (token.tok == close).then_some(at);
            }
        }
        None
    }

    /// Whether a square bracket after a factor groups: `2[x + 1]`. It does not in `[1, 3[`, around
    /// a lone number (`x \equiv 3 [5]`) and, behind a letter, around an index: `a[n]`, `a[n - 1]`.
    pub(crate) fn groups(&self) -> bool {
        if self.peek() != Some(Tok::LBracket) {
            return false;
        }
        let inner = self.matching(self.at).and_then(|end| self.tokens.get(self.at + 1..end));
        let Some(inner) = inner else { return false };
        let opens = inner.first().is_some_and(|first| {
            matches!(first.tok, Tok::Plus | Tok::Minus | Tok::LBracket)
                || self.starts_factor(first.tok)
        });
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        opens && !is_index(before.map(|one| one.tok), inner) && !lists(inner)
    }

    /// `\{1, 2\}`, `\{x | x > 2\}`, `\{\}`.
    pub(crate) fn set(&mut self) -> Result<Id, Stop> {
        if self.eat(Tok::RSet) {
            return self.node(Node::EmptySet, &[]);
        }
        let outside = (self.bars, self.in_set);
        (self.bars, self.in_set) = (1, true);
        let first = self.nested(|parser| parser.sequence(false))?;
        (self.bars, self.in_set) = outside;
        if self.eat(Tok::Bar) || self.eat(Tok::Colon) {
            let conditions = self.nested(|parser| parser.sequence(false))?;
            self.expect(Tok::RSet)?;
            return self.node(Node::Builder(vec![first, conditions]), &[first, conditions]);
        }
        self.expect(Tok::RSet)?;
        let items = match self.tree.get(first)? {
            Node::Seq(items, _) => items.clone(),
            _ => vec![first],
        };
        self.node(Node::Set(items), &[first])
    }

    pub(crate) fn absolute(&mut self) -> Result<Id, Stop> {
        self.bars += 1;
        let inner = self.nested(Self::sum)?;
        self.bars -= 1;
        self.expect(Tok::Bar)?;
        self.node(Node::Fun("abs", vec![inner]), &[inner])
    }

    pub(crate) fn bracketed(&mut self, name: &'static str, close: Tok<'_>) -> Result<Id, Stop> {
        let inner = self.nested(Self::sum)?;
        self.expect(close)?;
        self.node(Node::Fun(name, vec![inner]), &[inner])
    }

    pub(crate) fn matrix(&mut self, name: &str) -> Result<Id, Stop> {
        if matches!(name, "cases" | "dcases") {
            return self.nested(Self::cases);
        }
        if !name.trim_end_matches('*').ends_with("matrix") && name != "array" {
            return Err(Stop::Unreadable);
        }
        let (mut rows, mut row, mut all) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match self.peek() {
                Some(Tok::End) => break,
                Some(Tok::Amp) => self.at += 1,
                Some(Tok::Row) => {
                    self.at += 1;
                    rows.push(std::mem::take(&mut row));
                }
                _ => {
                    let entry = self.nested(Self::sum)?;
                    row.push(entry);
                    all.push(entry);
                }
            }
        }
        self.at += 1;
        if !row.is_empty() {
            rows.push(row);
        }
        rows.retain(|row: &Vec<Id>| !row.is_empty());
        let id = self.node(Node::Matrix(rows), &all)?;
        if name == "vmatrix" { self.node(Node::Fun("det", vec![id]), &[id]) } else { Ok(id) }
    }

    /// `\begin{cases} x, & x > 0 \\ 0, & \text{otherwise} \end{cases}`.
    pub(crate) fn cases(&mut self) -> Result<Id, Stop> {
        let (mut branches, mut all) = (Vec::new(), Vec::new());
        while !self.eat(Tok::End) {
            if self.eat(Tok::Row) {
                continue;
            }
            if branches.len() >= BRANCHES_MAX {
                return Err(Stop::Cap);
            }
            let value = self.nested(Self::clause)?;
            all.push(value);
            self.eat(Tok::Comma);
            let marked = self.eat(Tok::Amp);
            let condition = if marked || matches!(self.peek(), Some(Tok::Word(_) | Tok::Stop)) {
                self.condition()?
            } else {
                None
            };
            all.extend(condition);
            branches.push((value, condition));
        }
        self.node(Node::Cases(branches), &all)
    }

    /// The condition of a branch; `None` for "otherwise".
    fn condition(&mut self) -> Result<Option<Id>, Stop> {
        while matches!(
            self.peek(),
            Some(Tok::Word("if" | "If" | "when" | "When") | Tok::Stop | Tok::Comma)
        ) {
            self.at += 1;
        }
        if let Some(Tok::Word(word)) = self.peek()
            && matches!(word.to_ascii_lowercase().as_str(), "otherwise" | "else")
        {
            self.at += 1;
            return Ok(None);
        }
        let mut items = vec![self.nested(Self::clause)?];
        let mut join = Join::Comma;
        while let Some(found) = self.separator() {
            if matches!(self.peek(), None | Some(Tok::Row | Tok::End)) {
                break;
            }
            if found != Join::Comma {
                join = found;
            }
            items.push(self.nested(Self::clause)?);
        }
        match items.as_slice() {
            [only] => Ok(Some(*only)),
            _ => self.node(Node::Seq(items.clone(), join), &items).map(Some),
        }
    }
}

/// Whether brackets after a factor hold a lone number or, after a letter, an index: `a[n]`,
/// `a[n - 1]`.
fn is_index(before: Option<Tok<'_>>, inner: &[Token<'_>]) -> bool {
    let of = match before {
        Some(Tok::Letter(name)) => Some(name),
        _ => None,
    };
    match inner {
        [Token { tok: Tok::Num(_), .. }] => true,
        [Token { tok: Tok::Letter(_), .. }] => of.is_some(),
        [Token { tok: Tok::Letter(at), .. }, sign, Token { tok: Tok::Num(_), .. }] => {
            matches!(*at, "n" | "m" | "k" | "i" | "j")
                && matches!(sign.tok, Tok::Plus | Tok::Minus)
                && of.is_some_and(|of| of != *at)
        }
        _ => false,
    }
}

/// Whether commas separate what brackets hold.
fn lists(inner: &[Token<'_>]) -> bool {
    let mut depth = 0_i32;
    inner.iter().any(|token| {
        match token.tok {
            Tok::LParen | Tok::LBracket | Tok::LSet => depth += 1,
            Tok::RParen | Tok::RBracket | Tok::RSet => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(token.tok, Tok::Comma | Tok::Semi)
    })
}
