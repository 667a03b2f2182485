//! The grammar of functions and what they apply to: `\sin^2 x`, `\log_2(8)`, `\gcd(4, 6)`.

use crate::syntax::parser::prelude::*;

impl Parser<'_, '_> {
    pub(crate) fn function(&mut self, name: &'static str) -> Result<Id, Stop> {
        // "max = 5"
        if matches!((name, self.peek()), ("min" | "max", Some(Tok::Rel(Rel::Equal)))) {
            return self.node(Node::Words(name.to_owned()), &[]);
        }
        let (mut base, mut power) = (None, None);
        loop {
            if base.is_none() && self.eat(Tok::Under) {
                base = Some(self.nested(Self::argument)?);
            } else if power.is_none() && self.eat(Tok::Caret) {
                power = Some(self.nested(Self::argument_signed)?);
            } else {
                break;
            }
        }
        let mut args = self.function_arguments(name)?;
        args.extend(base);
        let inverse = match power {
            Some(power) => self.is_minus_one(power)?,
            None => false,
        };
        let inverted = match name {
            "sin" if inverse => "arcsin",
            "cos" if inverse => "arccos",
            "tan" if inverse => "arctan",
            name => name,
        };
        let id = self.node(Node::Fun(inverted, args.clone()), &args)?;
        match power {
            Some(power) if inverted == name => self.node(Node::Pow(id, power), &[id, power]),
            _ => Ok(id),
        }
    }

    /// Whether brackets open here that hold all that the function applies to. A power after them is
    /// one of the function: `f(x)^2`, `f{(x)}^2`.
    fn opens_argument(&self) -> bool {
        match self.peek() {
            Some(Tok::LParen) => true,
            Some(Tok::LBracket) => self.matching(self.at).is_some(),
            Some(Tok::LBrace) if self.ahead(1) == Some(Tok::LParen) => {
                let close = self.matching(self.at + 1).and_then(|close| self.tokens.get(close + 1));
                close.is_some_and(|token| token.tok == Tok::RBrace)
            }
            _ => false,
        }
    }

    /// `\sin(30)^\circ`: a degree sign after the brackets is that of the angle.
    fn of_angle(&mut self, inner: Id) -> Result<Id, Stop> {
        if self.eat(Tok::Degree) {
            return self.degrees(inner);
        }
        let braced = usize::from(self.ahead(1) == Some(Tok::LBrace));
        if self.peek() == Some(Tok::Caret) && self.ahead(1 + braced) == Some(Tok::Degree) {
            self.at += 1;
            return self.raised(inner);
        }
        Ok(inner)
    }

    /// What a function applies to: brackets, or the factors up to the next sign or function.
    fn function_arguments(&mut self, name: &str) -> Result<Vec<Id>, Stop> {
        let several = matches!(name, "min" | "max" | "gcd" | "lcm");
        if self.opens_argument() {
            let inner = self.primary()?;
            let items = match self.tree.get(inner)? {
                Node::Group { items, .. } if several || (name == "log" && items.len() == 2) => {
                    items.clone()
                }
                _ => vec![self.of_angle(inner)?],
            };
            return Ok(items);
        }
        if let (true, Some(Tok::LBrace | Tok::LSet)) = (several, self.peek()) {
            let inner = self.primary()?;
            return Ok(match self.tree.get(inner)? {
                Node::Set(items) | Node::Seq(items, _) => items.clone(),
                _ => vec![inner],
            });
        }
        let minus = self.eat(Tok::Minus);
        let mut factors = vec![self.power()?];
        loop {
            match self.peek() {
                Some(Tok::Fun(_) | Tok::LParen | Tok::LBrace | Tok::Big(_)) => break,
                Some(tok) if self.starts_factor(tok) => factors.push(self.power()?),
                // sin 2*x is read as sin(2)*x, but sin 2\pi/7 takes its divisor along.
                Some(Tok::Slash) if matches!(self.ahead(1), Some(Tok::Num(_))) => {
                    self.at += 1;
                    let below = self.power()?;
                    let above = factors.pop().unwrap_or(below);
                    factors.push(self.node(Node::Div(above, below), &[above, below])?);
                }
                _ => break,
            }
        }
        let product = self.node(Node::Mul(factors.clone()), &factors)?;
        Ok(vec![if minus { self.node(Node::Neg(product), &[product])? } else { product }])
    }
}
