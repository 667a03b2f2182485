//! Names with what belongs to them: primes, accents, signs of number sets, temperature scales.

use super::derivative;
use crate::syntax::parser::prelude::*;

impl Parser<'_, '_> {
    /// Degrees of an angle, or of a scale whose letter follows: `30^\circ C`.
    pub(crate) fn degrees(&mut self, base: Id) -> Result<Id, Stop> {
        let unit = match (self.peek(), self.ahead(1)) {
            (Some(Tok::Letter("C")), None | Some(Tok::Comma | Tok::RParen | Tok::And)) => "celsius",
            (Some(Tok::Letter("F")), None | Some(Tok::Comma | Tok::RParen | Tok::And)) => {
                "fahrenheit"
            }
            _ => return self.node(Node::Degrees(base), &[base]),
        };
        self.at += 1;
        self.price(unit, base)
    }

    /// A derivative's prime is part of the name.
    pub(crate) fn primed(&mut self, base: Id) -> Result<Id, Stop> {
        self.at += 1;
        match self.tree.get(base)? {
            Node::Var(name) => {
                let name = format!("{name}'");
                self.applied(name, base)
            }
            // (x^2)' is not x^2.
            Node::Add(_) | Node::Mul(_) | Node::Pow(..) | Node::Fun(..) | Node::Call(..) => {
                Err(Stop::Unreadable)
            }
            _ => Ok(base),
        }
    }

    /// A name, or the function of that name where brackets follow: `f'(x)`, `f^{-1}(x)`.
    pub(crate) fn applied(&mut self, name: String, base: Id) -> Result<Id, Stop> {
        let usual = name.starts_with(['f', 'g', 'h', 'F', 'G', 'H'])
            || matches!(name.trim_end_matches('\''), "y" | "u" | "v" | "s" | "x");
        if !usual || self.peek() != Some(Tok::LParen) || self.spaced() {
            return self.node(Node::Var(name), &[base]);
        }
        self.at += 1;
        let inner = self.nested(|parser| parser.sequence(false))?;
        self.expect(Tok::RParen)?;
        self.node(Node::Call(name, vec![inner]), &[inner])
    }

    /// A one-sided limit point, or the numbers of one sign: `0^+`, `\mathbb{Z}^+`.
    pub(crate) fn one_sided(&mut self, base: Id, positive: bool) -> Result<Id, Stop> {
        let Node::Var(name) = self.tree.get(base)? else {
            // A number alone has no sides.
            return if self.in_bound { Ok(base) } else { Err(Stop::Unreadable) };
        };
        let name = match (name.as_str(), positive) {
            ("Z" | "N", true) => "N".to_owned(),
            (name, true) => format!("{name}^+"),
            (name, false) => format!("{name}^-"),
        };
        self.node(Node::Var(name), &[base])
    }

    /// Integers above a bound: `\mathbb{Z}_{>0}`, `\mathbb{Z}_{\ge 0}`, `\mathbb{N}_+`.
    pub(crate) fn bounded_set(&mut self, base: Id) -> Result<Option<&'static str>, Stop> {
        if !matches!(self.tree.get(base)?, Node::Var(name) if matches!(name.as_str(), "Z" | "N")) {
            return Ok(None);
        }
        let braced = self.peek() == Some(Tok::LBrace);
        let inner = usize::from(braced);
        let (name, length) = match (self.ahead(inner), self.ahead(inner + 1)) {
            (Some(Tok::Plus), _) => ("N", 1),
            (Some(Tok::Rel(Rel::More)), Some(Tok::Num("0")))
            | (Some(Tok::Rel(Rel::MoreEqual)), Some(Tok::Num("1"))) => ("N", 2),
            (Some(Tok::Rel(Rel::MoreEqual)), Some(Tok::Num("0"))) => ("N_0", 2),
            _ => return Ok(None),
        };
        self.at += inner + length;
        self.close(braced)?;
        Ok(Some(name))
    }

    /// An accent is part of a name; over digits and unit vectors it has no meaning.
    pub(crate) fn accented(&mut self, name: &'static str) -> Result<Id, Stop> {
        let inner = self.argument()?;
        let under = match self.tree.get(inner)? {
            Node::Var(under) if !matches!(under.as_str(), "i" | "j" | "k") => under.clone(),
            Node::Mul(_) => match self.small_letters(inner)? {
                Some(letters) => letters,
                None => return Ok(inner),
            },
            _ => return Ok(inner),
        };
        let name = match name {
            "dot" => derivative::by_time(&under, 1),
            "ddot" => derivative::by_time(&under, 2),
            name => format!("{name} {under}"),
        };
        self.node(Node::Var(name), &[inner])
    }

    /// The letters of `\overline{abc}`, which denote digits; capitals denote points.
    fn small_letters(&self, id: Id) -> Result<Option<String>, Stop> {
        let Node::Mul(factors) = self.tree.get(id)? else { return Ok(None) };
        let mut letters = String::with_capacity(factors.len());
        for factor in factors {
            match self.tree.get(*factor)? {
                Node::Var(name) if name.len() == 1 && !name.starts_with(char::is_uppercase) => {
                    letters.push_str(name);
                }
                Node::Num(digit, None) => letters.push_str(&digit.to_string()),
                _ => return Ok(None),
            }
        }
        Ok(Some(letters))
    }

    /// The real numbers, or the positive ones: `\mathbb{R}^+`, `\mathbb{R}_{\ge 0}`.
    pub(crate) fn reals(&mut self) -> Result<Id, Stop> {
        let braced = usize::from(self.ahead(1) == Some(Tok::LBrace));
        let (open, close) = match (self.peek(), self.ahead(1 + braced), self.ahead(2 + braced)) {
            (Some(Tok::Caret | Tok::Under), Some(Tok::Plus), _)
            | (Some(Tok::Under), Some(Tok::Rel(Rel::More)), Some(Tok::Num("0"))) => ('(', ')'),
            (Some(Tok::Under), Some(Tok::Rel(Rel::MoreEqual)), Some(Tok::Num("0"))) => ('[', ')'),
            (Some(Tok::Caret | Tok::Under), Some(Tok::Minus), _)
            | (Some(Tok::Under), Some(Tok::Rel(Rel::Less)), Some(Tok::Num("0"))) => (')', ')'),
            (Some(Tok::Under), Some(Tok::Rel(Rel::LessEqual)), Some(Tok::Num("0"))) => (')', ']'),
            _ => return self.node(Node::Reals, &[]),
        };
        self.at += 1 + braced;
        self.at += if matches!(self.peek(), Some(Tok::Plus | Tok::Minus)) { 1 } else { 2 };
        self.close(braced > 0)?;
        let zero = self.exact(0)?;
        let infinity = self.node(Node::Infinity, &[])?;
        let (open, items) = if open == ')' {
            ('(', vec![self.node(Node::Neg(infinity), &[infinity])?, zero])
        } else {
            (open, vec![zero, infinity])
        };
        self.node(Node::Group { open, close, items: items.clone() }, &items)
    }
}
