//! The grammar of a single factor: numbers, names, fractions, functions, brackets, matrices.

use super::Stop;
use super::ast::{Id, Node};
use super::lexer::Tok;
use super::parser::Parser;

mod counting;
mod marks;

impl<'a> Parser<'_, 'a> {
    /// A factor with what is attached to it: powers, subscripts, factorials, percent, degrees.
    pub(super) fn power(&mut self) -> Result<Id, Stop> {
        let mut base = self.primary()?;
        loop {
            base = match self.peek() {
                Some(Tok::Caret) => {
                    self.at += 1;
                    self.raised(base)?
                }
                Some(Tok::Under) => {
                    self.at += 1;
                    self.subscripted(base)?
                }
                Some(Tok::Bang) if self.ahead(1) == Some(Tok::Bang) => {
                    self.at += 2;
                    self.node(Node::Fun("factorial2", vec![base]), &[base])?
                }
                Some(Tok::Bang) => self.postfix(base, Node::Factorial)?,
                Some(Tok::Percent) => self.postfix(base, Node::Percent)?,
                Some(Tok::Degree) => {
                    self.at += 1;
                    self.degrees(base)?
                }
                Some(Tok::LBrace)
                    if self.ahead(1) == Some(Tok::RBrace)
                        && !matches!(self.ahead(2), Some(Tok::Under | Tok::Caret)) =>
                {
                    self.at += 2;
                    base
                }
                Some(Tok::Prime) => self.primed(base)?,
                _ => return Ok(base),
            };
        }
    }

    fn postfix(&mut self, base: Id, make: fn(Id) -> Node) -> Result<Id, Stop> {
        self.at += 1;
        self.node(make(base), &[base])
    }

    fn raised(&mut self, base: Id) -> Result<Id, Stop> {
        if self.empty_braces() {
            return Ok(base);
        }
        let braced = self.peek() == Some(Tok::LBrace);
        let inner = usize::from(braced);
        match self.ahead(inner) {
            // 0^+: the side from which a variable comes.
            Some(Tok::Plus | Tok::Minus)
                if matches!(self.ahead(inner + 1), Some(Tok::RBrace) | None) =>
            {
                let positive = self.ahead(inner) == Some(Tok::Plus);
                self.at += 1 + inner;
                self.close(braced)?;
                return self.one_sided(base, positive);
            }
            // 45^\circ, x^{\prime}, 15^{\text{th}}, A^T
            Some(Tok::Degree) => {
                self.at += 1 + inner;
                self.close(braced)?;
                return self.degrees(base);
            }
            Some(Tok::Prime) => {
                self.at += inner;
                let mut name = match self.tree.get(base)? {
                    Node::Var(name) => Some(name.clone()),
                    _ => None,
                };
                while self.eat(Tok::Prime) {
                    name = name.map(|name| name + "'");
                }
                self.close(braced)?;
                return name.map_or(Ok(base), |name| self.applied(name, base));
            }
            Some(Tok::Word("th" | "st" | "nd" | "rd")) => {
                self.at += 1 + inner;
                self.close(braced)?;
                return Ok(base);
            }
            _ => {}
        }
        let exponent = self.nested(Self::argument_signed)?;
        if self.peek() == Some(Tok::LParen)
            && let Node::Var(name) = self.tree.get(base)?
            && matches!(name.as_str(), "f" | "g" | "h" | "F" | "G" | "H")
            && self.is_minus_one(exponent)?
        {
            let name = format!("{name}^-1");
            return self.applied(name, base);
        }
        self.node(Node::Pow(base, exponent), &[base, exponent])
    }

    fn is_minus_one(&self, id: Id) -> Result<bool, Stop> {
        let Node::Neg(inner) = self.tree.get(id)? else { return Ok(false) };
        Ok(matches!(self.tree.get(*inner)?, Node::Num(value, None) if value.is_one()))
    }

    fn close(&mut self, braced: bool) -> Result<(), Stop> {
        if braced { self.expect(Tok::RBrace) } else { Ok(()) }
    }

    fn empty_braces(&mut self) -> bool {
        let empty = self.peek() == Some(Tok::LBrace) && self.ahead(1) == Some(Tok::RBrace);
        self.at += if empty { 2 } else { 0 };
        empty
    }

    fn subscripted(&mut self, base: Id) -> Result<Id, Stop> {
        if self.empty_braces() {
            return Ok(base);
        }
        if let Some(name) = self.bounded_set(base)? {
            return self.node(Node::Var(name.to_owned()), &[base]);
        }
        let text = self.subscript()?;
        match self.tree.get(base)? {
            Node::Var(name) => {
                let name = format!("{name}_{text}");
                self.node(Node::Var(name), &[base])
            }
            Node::Num(value, None) if value.is_int() => {
                let text = text.strip_prefix("base").unwrap_or(&text);
                let base = text.parse().ok().or_else(|| super::spelled::base(text));
                let base = base.ok_or(Stop::Unreadable)?;
                let digits = value.to_string();
                self.node(Node::Based(digits, base), &[])
            }
            _ => Err(Stop::Unreadable),
        }
    }

    /// What stands below, as text: `_1`, `_{12}`, `_{\text{max}}`.
    pub(super) fn subscript(&mut self) -> Result<String, Stop> {
        let braced = self.eat(Tok::LBrace);
        let mut text = String::new();
        while let Some(tok) = self.peek() {
            match tok {
                Tok::RBrace if braced => break,
                Tok::Num(part) | Tok::Letter(part) | Tok::Word(part) | Tok::Fun(part) => {
                    text.push_str(part);
                }
                Tok::Plus if braced => text.push('+'),
                Tok::Minus if braced => text.push('-'),
                Tok::Comma if braced => text.push(','),
                Tok::LParen | Tok::RParen if braced => {}
                _ => return Err(Stop::Unreadable),
            }
            self.at += 1;
            if !braced {
                break;
            }
        }
        self.close(braced)?;
        if text.is_empty() { Err(Stop::Unreadable) } else { Ok(text) }
    }

    /// The argument of a command or an exponent: braced, or one factor.
    pub(super) fn argument(&mut self) -> Result<Id, Stop> {
        match self.peek() {
            Some(Tok::LBrace) => self.braced(),
            Some(Tok::Num(text)) => {
                self.at += 1;
                self.number(text)
            }
            _ => self.primary(),
        }
    }

    fn argument_signed(&mut self) -> Result<Id, Stop> {
        if self.eat(Tok::Minus) {
            let inner = self.nested(Self::argument_signed)?;
            return self.node(Node::Neg(inner), &[inner]);
        }
        if self.eat(Tok::Plus) {
            return self.nested(Self::argument_signed);
        }
        let base = self.argument()?;
        // 2^3^4 and 9^{9}^9 raise the exponent.
        if self.eat(Tok::Caret) { self.raised(base) } else { Ok(base) }
    }

    fn braced(&mut self) -> Result<Id, Stop> {
        self.expect(Tok::LBrace)?;
        let id = self.enclosed()?;
        self.expect(Tok::RBrace)?;
        Ok(id)
    }

    /// What stands in brackets, in which bars and colons mean what they mean at the top.
    fn enclosed(&mut self) -> Result<Id, Stop> {
        let outside = (std::mem::take(&mut self.bars), std::mem::take(&mut self.in_set));
        let id = self.nested(|parser| parser.sequence(false))?;
        (self.bars, self.in_set) = outside;
        Ok(id)
    }

    fn primary(&mut self) -> Result<Id, Stop> {
        let tok = self.peek().ok_or(Stop::Unreadable)?;
        self.at += 1;
        match tok {
            Tok::Num(text) => match self.chosen_of(text)? {
                Some(choices) => Ok(choices),
                None => self.number(text),
            },
            Tok::Based(digits, base) => self.node(Node::Based(digits.to_owned(), base), &[]),
            Tok::Letter(name) => match self.choices(name)? {
                Some(choices) => Ok(choices),
                None => self.name(name),
            },
            Tok::Word(_) => self.words(),
            Tok::Pi => self.node(Node::Pi, &[]),
            Tok::Dots => self.node(Node::Dots, &[]),
            Tok::Infinity => self.node(Node::Infinity, &[]),
            Tok::EmptySet => self.node(Node::EmptySet, &[]),
            Tok::Reals => self.reals(),
            Tok::Frac => self.fraction(),
            Tok::Sqrt => self.root(),
            Tok::Binom => {
                let (n, k) = self.two_arguments()?;
                self.node(Node::Fun("binom", vec![n, k]), &[n, k])
            }
            Tok::Fun(name) => self.nested(|parser| parser.function(name)),
            Tok::Big(name) => self.nested(|parser| parser.operator(name)),
            Tok::LBrace | Tok::Under | Tok::Caret => {
                self.at -= 1;
                match self.indexed_choices()? {
                    Some(choices) => Ok(choices),
                    None => self.braced(),
                }
            }
            Tok::LParen | Tok::LBracket | Tok::RBracket => self.group(tok),
            Tok::LSet => self.set(),
            Tok::Bar => self.absolute(),
            Tok::LFloor => self.bracketed("floor", Tok::RFloor),
            Tok::LCeil => self.bracketed("ceil", Tok::RCeil),
            Tok::Begin(name) => self.matrix(name),
            Tok::Accent(name) => self.accented(name),
            _ => Err(Stop::Unreadable),
        }
    }

    /// A variable, or a function applied to something in parentheses.
    fn name(&mut self, name: &str) -> Result<Id, Stop> {
        let usual = matches!(name, "f" | "g" | "h" | "F" | "G" | "H");
        // P(x) = ... defines a function, and T(10) = ... names its value.
        let defined = matches!(
            (self.ahead(1), self.ahead(2), self.ahead(3)),
            (Some(Tok::Letter(_) | Tok::Num(_)), Some(Tok::RParen), Some(Tok::Equal))
        );
        if !(usual || defined) || self.peek() != Some(Tok::LParen) || self.spaced() {
            return self.node(Node::Var(name.to_owned()), &[]);
        }
        self.at += 1;
        let inner = self.nested(|parser| parser.sequence(false))?;
        self.expect(Tok::RParen)?;
        self.node(Node::Call(name.to_owned(), vec![inner]), &[inner])
    }

    fn words(&mut self) -> Result<Id, Stop> {
        self.at -= 1;
        let mut count = 0;
        while let Some(Tok::Word(_)) = self.ahead(count) {
            count += 1;
        }
        // One letter in \text{} is a variable or a choice.
        if let (1, Some(Tok::Word(word))) = (count, self.peek())
            && word.len() == 1
        {
            self.at += 1;
            return self.node(Node::Var(word.to_owned()), &[]);
        }
        let text = self.words_text(count);
        self.node(Node::Words(text), &[])
    }

    /// Two braced arguments, or a digit for each: `\frac12` and `\binom5{2}`.
    fn two_arguments(&mut self) -> Result<(Id, Id), Stop> {
        if let Some(Tok::Num(digits)) = self.peek()
            && digits.len() == 2
        {
            self.at += 1;
            let (top, below) = digits.split_at(1);
            return Ok((self.number(top)?, self.number(below)?));
        }
        Ok((self.nested(Self::argument)?, self.nested(Self::argument)?))
    }

    fn fraction(&mut self) -> Result<Id, Stop> {
        let (top, below) = self.two_arguments()?;
        if let Some(derivative) = self.derivative(top, below)? {
            return Ok(derivative);
        }
        self.node(Node::Div(top, below), &[top, below])
    }

    /// `\sqrt{x}`, `\sqrt[3]{x}`, `\sqrt3`, `sqrt(x)`, `√x`.
    fn root(&mut self) -> Result<Id, Stop> {
        let index = if self.eat(Tok::LBracket) {
            let index = self.nested(Self::sum)?;
            self.expect(Tok::RBracket)?;
            Some(index)
        } else {
            None
        };
        let inner = self.nested(Self::argument)?;
        let index = match index {
            Some(index) => index,
            None => self.node(Node::Num(super::number::small(2, 1), None), &[])?,
        };
        self.node(Node::Root(inner, index), &[inner, index])
    }

    fn function(&mut self, name: &'static str) -> Result<Id, Stop> {
        // "max = 5"
        if matches!((name, self.peek()), ("min" | "max", Some(Tok::Equal))) {
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
            Some(power) => matches!(self.tree.get(power)?, Node::Neg(_)),
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

    /// What a function applies to: brackets, or the factors up to the next sign or function.
    fn function_arguments(&mut self, name: &str) -> Result<Vec<Id>, Stop> {
        let several = matches!(name, "min" | "max" | "gcd" | "lcm");
        if self.peek() == Some(Tok::LParen) {
            let inner = self.power()?;
            let items = match self.tree.get(inner)? {
                Node::Group { items, .. } if several => items.clone(),
                _ => vec![inner],
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

    /// Parentheses and square brackets: around one thing, or a point, or an interval.
    fn group(&mut self, open: Tok<'a>) -> Result<Id, Stop> {
        let inner = self.enclosed()?;
        let close = self.peek().ok_or(Stop::Unreadable)?;
        self.at += 1;
        let (open, close) = match (open, close) {
            // ]1, 3[ and [1, 3[ are open where the bracket is turned away.
            (Tok::LParen, Tok::RParen) | (Tok::RBracket, Tok::LBracket) => ('(', ')'),
            (Tok::LParen | Tok::RBracket, Tok::RBracket) => ('(', ']'),
            (Tok::LBracket, Tok::RParen | Tok::LBracket) => ('[', ')'),
            (Tok::LBracket, Tok::RBracket) => ('[', ']'),
            _ => return Err(Stop::Unreadable),
        };
        match self.tree.get(inner)? {
            Node::Seq(items, super::ast::Join::Comma) => {
                let items = items.clone();
                self.node(Node::Group { open, close, items }, &[inner])
            }
            _ if (open == '(') == (close == ')') => Ok(inner),
            _ => Err(Stop::Unreadable),
        }
    }

    /// `\{1, 2\}`, `\{x | x > 2\}`, `\{\}`.
    fn set(&mut self) -> Result<Id, Stop> {
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

    fn absolute(&mut self) -> Result<Id, Stop> {
        self.bars += 1;
        let inner = self.nested(Self::sum)?;
        self.bars -= 1;
        self.expect(Tok::Bar)?;
        self.node(Node::Fun("abs", vec![inner]), &[inner])
    }

    fn bracketed(&mut self, name: &'static str, close: Tok<'_>) -> Result<Id, Stop> {
        let inner = self.nested(Self::sum)?;
        self.expect(close)?;
        self.node(Node::Fun(name, vec![inner]), &[inner])
    }

    fn matrix(&mut self, name: &str) -> Result<Id, Stop> {
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
}
