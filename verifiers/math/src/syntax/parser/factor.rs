//! The grammar of a single factor: names, fractions, roots, and the powers and marks after them.

use crate::syntax::number_words;
use crate::syntax::parser::prelude::*;

impl Parser<'_, '_> {
    /// A factor with its postfixes: powers, subscripts, factorials, percent, degrees.
    pub(crate) fn power(&mut self) -> Result<Id, Stop> {
        let mut base = self.primary()?;
        loop {
            base = match self.peek() {
                Some(Tok::Caret | Tok::Degree) if let Some(unit) = self.scale_ahead(base)? => {
                    return self.quantity(base, Some(unit));
                }
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

    pub(crate) fn raised(&mut self, base: Id) -> Result<Id, Stop> {
        if self.empty_braces() {
            return Ok(base);
        }
        let braced = self.peek() == Some(Tok::LBrace);
        let inner = usize::from(braced);
        match self.ahead(inner) {
            // 0^+: a one-sided limit point.
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
            // 45^o
            Some(Tok::Letter("o") | Tok::Word("o"))
                if matches!(self.tree.get(base)?, Node::Num(..)) =>
            {
                self.at += 1 + inner;
                self.close(braced)?;
                return self.degrees(base);
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

    pub(crate) fn is_minus_one(&self, id: Id) -> Result<bool, Stop> {
        let Node::Neg(inner) = self.tree.get(id)? else { return Ok(false) };
        Ok(matches!(self.tree.get(*inner)?, Node::Num(value, None) if value.is_one()))
    }

    pub(crate) fn close(&mut self, braced: bool) -> Result<(), Stop> {
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
                let base = text.parse().ok().or_else(|| number_words::base(text));
                let base = base.ok_or(Stop::Unreadable)?;
                let digits = value.to_string();
                self.node(Node::Based(digits, base), &[])
            }
            _ => Err(Stop::Unreadable),
        }
    }

    /// The subscript as text: `_1`, `_{12}`, `_{\text{max}}`.
    fn subscript(&mut self) -> Result<String, Stop> {
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
    pub(crate) fn argument(&mut self) -> Result<Id, Stop> {
        match self.peek() {
            Some(Tok::LBrace) => self.braced(),
            Some(Tok::Num(text)) => {
                self.at += 1;
                self.number(text)
            }
            _ => self.primary(),
        }
    }

    pub(crate) fn argument_signed(&mut self) -> Result<Id, Stop> {
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

    pub(crate) fn primary(&mut self) -> Result<Id, Stop> {
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
    pub(crate) fn name(&mut self, name: &str) -> Result<Id, Stop> {
        if name == "d"
            && let Some(derivative) = self.inline_derivative()?
        {
            return Ok(derivative);
        }
        let usual = matches!(name, "f" | "g" | "h" | "F" | "G" | "H" | "Gamma" | "zeta" | "Phi");
        // P(x) = ... defines a function, and T(10) = ... names its value.
        let defined = matches!(
            (self.ahead(1), self.ahead(2), self.ahead(3)),
            (Some(Tok::Letter(_) | Tok::Num(_)), Some(Tok::RParen), Some(Tok::Rel(Rel::Equal)))
        );
        let open = self.peek() == Some(Tok::LParen) || (usual && self.groups());
        if !(usual || defined) || !open || self.spaced() {
            return self.node(Node::Var(name.to_owned()), &[]);
        }
        let square = self.eat(Tok::LBracket);
        self.at += usize::from(!square);
        let inner = self.nested(|parser| parser.sequence(false))?;
        self.expect(if square { Tok::RBracket } else { Tok::RParen })?;
        self.node(Node::Call(name.to_owned(), vec![inner]), &[inner])
    }

    pub(crate) fn words(&mut self) -> Result<Id, Stop> {
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
        let added = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        // x^2 + const.
        if let (1, Some(Tok::Word("const" | "constant")), Some(Tok::Plus)) =
            (count, self.peek(), added.map(|token| token.tok))
        {
            self.at += 1;
            return self.node(Node::Var("C".to_owned()), &[]);
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

    pub(crate) fn fraction(&mut self) -> Result<Id, Stop> {
        let (top, below) = self.two_arguments()?;
        if let Some(derivative) = self.derivative(top, below)? {
            return Ok(derivative);
        }
        self.node(Node::Div(top, below), &[top, below])
    }

    /// `\sqrt{x}`, `\sqrt[3]{x}`, `\sqrt3`, `sqrt(x)`, `√x`.
    pub(crate) fn root(&mut self) -> Result<Id, Stop> {
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
            None => self.exact(2)?,
        };
        self.node(Node::Root(inner, index), &[inner, index])
    }
}
