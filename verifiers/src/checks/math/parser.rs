//! The grammar: precedence climbing over the tokens, without evaluating anything.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::Stop;
use super::ast::{Id, Join, Node, Rel, Tree, Written};
use super::lexer::{Tok, Token};
use super::number;

/// The deepest nesting that is followed.
const DEPTH_MAX: u32 = 64;
/// The longest number that is read, in digits.
const DIGITS_MAX: usize = 4000;
/// Reads a whole answer.
pub(super) fn parse(tokens: &[Token<'_>]) -> Result<(Tree, Id), Stop> {
    let mut parser =
        Parser { tokens, at: 0, tree: Tree::default(), depth: 0, bars: 0, in_set: false };
    let root = parser.sequence(true)?;
    match parser.peek() {
        None | Some(Tok::Stop) => Ok((parser.tree, root)),
        Some(_) => Err(Stop::Unreadable),
    }
}

pub(super) struct Parser<'t, 'a> {
    pub(super) tokens: &'t [Token<'a>],
    pub(super) at: usize,
    pub(super) tree: Tree,
    pub(super) depth: u32,
    /// Open bars, in which a bar closes instead of opening.
    pub(super) bars: u32,
    /// In a set, a colon starts the conditions.
    pub(super) in_set: bool,
}

impl<'a> Parser<'_, 'a> {
    pub(super) fn peek(&self) -> Option<Tok<'a>> {
        self.tokens.get(self.at).map(|token| token.tok)
    }

    pub(super) fn ahead(&self, by: usize) -> Option<Tok<'a>> {
        self.tokens.get(self.at + by).map(|token| token.tok)
    }

    fn follows_number(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| matches!(token.tok, Tok::Num(_)))
    }

    pub(super) fn spaced(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.spaced)
    }

    pub(super) fn eat(&mut self, tok: Tok<'_>) -> bool {
        let found = self.peek() == Some(tok);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, tok: Tok<'_>) -> Result<(), Stop> {
        if self.eat(tok) { Ok(()) } else { Err(Stop::Unreadable) }
    }

    pub(super) fn node(&mut self, node: Node, children: &[Id]) -> Result<Id, Stop> {
        self.tree.add(node, children)
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Id, Stop>,
    ) -> Result<Id, Stop> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Stop::Cap);
        }
        let id = inner(self);
        self.depth -= 1;
        id
    }

    /// Clauses between commas, semicolons, "and" and "or".
    pub(super) fn sequence(&mut self, top: bool) -> Result<Id, Stop> {
        let mut items = vec![self.clause()?];
        let mut join = Join::Comma;
        while let Some(found) = self.next_separator(top) {
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

    /// The next separator; at the top, behind the qualification of a clause.
    fn next_separator(&mut self, top: bool) -> Option<Join> {
        if top && self.peek() == Some(Tok::Stop) {
            while !matches!(self.peek(), None | Some(Tok::And | Tok::Or)) {
                self.at += 1;
            }
        }
        self.separator()
    }

    pub(super) fn separator(&mut self) -> Option<Join> {
        let mut found = None;
        loop {
            found = Some(match (self.peek(), found) {
                (Some(Tok::And), _) => Join::And,
                (Some(Tok::Or), _) => Join::Or,
                (Some(Tok::Comma | Tok::Semi), None) => Join::Comma,
                _ => return found,
            });
            self.at += 1;
        }
    }

    /// A label, then a chain of relations.
    pub(super) fn clause(&mut self) -> Result<Id, Stop> {
        if let Some(label) = self.label() {
            let value = self.nested(Self::clause)?;
            return self.node(Node::Labelled(label, value), &[value]);
        }
        // "= 5" and "\approx 5" say what a formula before them comes to.
        while let Some(Tok::Equal | Tok::Approx) = self.peek() {
            self.at += 1;
        }
        if (self.peek(), self.ahead(1).map(|tok| matches!(tok, Tok::Num(_))))
            == (Some(Tok::Similar), Some(true))
        {
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

    /// `Minimum:` and other words before a colon; words that say nothing are skipped.
    fn label(&mut self) -> Option<String> {
        const EMPTY: &[&str] = &[
            "only",
            "about",
            "approximately",
            "approx",
            "exactly",
            "roughly",
            "the",
            "answer",
            "is",
            "are",
            "equals",
            "thus",
            "therefore",
            "hence",
            "so",
            "around",
            "total",
            "value",
            "final",
            "of",
            "be",
            "it",
        ];
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
    pub(super) fn words_text(&mut self, count: usize) -> String {
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
        let sign = match self.ahead(usize::from(negated))? {
            Tok::Equal if negated => Rel::Unequal,
            Tok::Equal => Rel::Equal,
            Tok::Unequal => Rel::Unequal,
            Tok::Less => Rel::Less,
            Tok::LessEqual => Rel::LessEqual,
            Tok::More => Rel::More,
            Tok::MoreEqual => Rel::MoreEqual,
            Tok::Approx => Rel::Approx,
            Tok::In => Rel::In,
            Tok::To => Rel::To,
            _ => return None,
        };
        self.at += 1 + usize::from(negated);
        Some(sign)
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
        let mut parts = vec![first];
        while self.eat(Tok::Colon) || self.eat(Tok::Word("to")) {
            parts.push(self.sum()?);
        }
        self.node(Node::Ratio(parts.clone()), &parts)
    }

    pub(super) fn sum(&mut self) -> Result<Id, Stop> {
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
    pub(super) fn signed_product(&mut self) -> Result<Id, Stop> {
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

    pub(super) fn product(&mut self) -> Result<Id, Stop> {
        if let Some(compound) = self.compound()? {
            return Ok(compound);
        }
        if let Some(Tok::Currency(name)) = self.peek() {
            self.at += 1;
            let amount = self.nested(Self::signed_product)?;
            return self.price(name, amount);
        }
        let first = self.power()?;
        let mut left = match self.mixed(first)? {
            Some(mixed) => mixed,
            None => first,
        };
        let mut factors = vec![left];
        loop {
            match self.peek() {
                Some(Tok::Times) => {
                    self.at += 1;
                    factors.push(self.signed_factor()?);
                }
                Some(Tok::Slash) => {
                    self.at += 1;
                    let below = self.signed_factor()?;
                    left = self.multiplied(&factors)?;
                    left = self.node(Node::Div(left, below), &[left, below])?;
                    factors = vec![left];
                }
                Some(Tok::Mod) => {
                    self.at += 1;
                    let below = self.signed_factor()?;
                    left = self.multiplied(&factors)?;
                    left = self.node(Node::Fun("mod", vec![left, below]), &[left, below])?;
                    factors = vec![left];
                }
                Some(Tok::Scale(scale)) => {
                    self.at += 1;
                    factors.push(self.node(Node::Num(RBig::from(scale), None), &[])?);
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
                Some(Tok::Word(_)) => {
                    left = self.multiplied(&factors)?;
                    left = match self.spoken(left)? {
                        Some(said) => said,
                        None => self.quantity(left)?,
                    };
                    factors = vec![left];
                }
                // Two numbers side by side are no product: "4 2" is not 8.
                Some(Tok::Num(_)) if self.follows_number() => return Err(Stop::Unreadable),
                Some(tok) if self.starts_factor(tok) => factors.push(self.power()?),
                _ => return self.multiplied(&factors),
            }
        }
    }

    fn multiplied(&mut self, factors: &[Id]) -> Result<Id, Stop> {
        match factors {
            [only] => Ok(*only),
            _ => self.node(Node::Mul(factors.to_vec()), factors),
        }
    }

    fn signed_factor(&mut self) -> Result<Id, Stop> {
        match self.peek() {
            Some(sign @ (Tok::Plus | Tok::Minus | Tok::PlusMinus)) => {
                self.at += 1;
                let inner = self.nested(Self::signed_factor)?;
                self.with_sign(sign, inner)
            }
            _ => self.power(),
        }
    }

    pub(super) fn starts_factor(&self, tok: Tok<'_>) -> bool {
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

    /// `3\frac{1}{2}` and `3 1/2`: a whole number before a proper fraction is added to it.
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

    /// The number that a token holds: its digits, with what separates them dropped.
    pub(super) fn number(&mut self, text: &str) -> Result<Id, Stop> {
        let (text, endless) = endless(text);
        let decimal_comma = !text.contains('.') && decimal_comma(text);
        // 1.000.000: points between thousands.
        let points = memchr::memchr_iter(b'.', text.as_bytes()).take(2).count() == 1;
        let mut digits = String::with_capacity(text.len());
        let mut places = None;
        for c in text.chars() {
            match c {
                '0'..='9' => {
                    digits.push(c);
                    places = places.map(|places| places + 1);
                }
                '.' if points => places = Some(0u32),
                ',' if decimal_comma => places = Some(0u32),
                _ => {}
            }
        }
        if digits.len() > DIGITS_MAX {
            return Err(Stop::Cap);
        }
        if let Some(places) = places {
            if endless && let Some(value) = periodic(&digits, places as usize) {
                return self.node(Node::Num(value, None), &[]);
            }
            let bracket = matches!(
                (self.peek(), self.ahead(1), self.ahead(2)),
                (Some(Tok::LParen), Some(Tok::Num(_)), Some(Tok::RParen))
            );
            let over = matches!(self.peek(), Some(Tok::Accent("overline" | "bar" | "dot")));
            if over || (bracket && !self.spaced()) {
                return self.repeating(&digits, places as usize);
            }
        }
        let value = UBig::from_str_radix(&digits, 10).map_err(|_| Stop::Unreadable)?;
        let Some(places) = places else { return self.node(Node::Num(value.into(), None), &[]) };
        let significant = digits.trim_start_matches('0').len();
        let written =
            Written { places, significant: u32::try_from(significant).map_err(|_| Stop::Cap)? };
        let value = RBig::from_parts(value.into(), number::power_of_ten(places as usize));
        self.node(Node::Num(value, Some(written)), &[])
    }

    /// `0.1\overline{6}`, `0.1(6)`, `0.\dot{1}4\dot{2}`: the period over as many nines.
    fn repeating(&mut self, digits: &str, places: usize) -> Result<Id, Stop> {
        let mut period = self.period()?.to_owned();
        // Dots stand above the first and the last digit of a period.
        if let (Some(Tok::Num(middle)), Some(Tok::Accent("dot"))) = (self.peek(), self.ahead(1)) {
            self.at += 1;
            period.push_str(middle);
            period.push_str(self.period()?);
        } else if self.peek() == Some(Tok::Accent("dot")) {
            period.push_str(self.period()?);
        }
        if period.len() > 100 || places > 1000 || !period.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Stop::Cap);
        }
        let value = with_period(digits, places, &period).ok_or(Stop::Unreadable)?;
        self.node(Node::Num(value, None), &[])
    }

    /// The digits under a mark or in brackets.
    fn period(&mut self) -> Result<&'a str, Stop> {
        self.at += 1;
        let bracket = self.tokens.get(self.at - 1).is_some_and(|token| token.tok == Tok::LParen);
        let braced = !bracket && self.eat(Tok::LBrace);
        let Some(Tok::Num(period)) = self.peek() else { return Err(Stop::Unreadable) };
        self.at += 1;
        if bracket {
            self.expect(Tok::RParen)?;
        }
        if braced {
            self.expect(Tok::RBrace)?;
        }
        Ok(period)
    }
}

/// The value of digits, `places` of them behind the point, and of a period behind them.
fn with_period(digits: &str, places: usize, period: &str) -> Option<RBig> {
    let read = |text: &str| UBig::from_str_radix(text, 10).ok();
    let before = RBig::from_parts(read(digits)?.into(), number::power_of_ten(places));
    let nines = number::power_of_ten(period.len()) - UBig::ONE;
    let repeated = RBig::from_parts(read(period)?.into(), nines * number::power_of_ten(places));
    Some(before + repeated)
}

/// Digits before the dots that say that they go on.
fn endless(text: &str) -> (&str, bool) {
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        return (text, false);
    }
    let dots = text.find(['…', '\\']).or_else(|| text.find("..."));
    match dots.filter(|_| text.ends_with(['.', '…', 's'])) {
        Some(at) => (text.get(..at).unwrap_or(text), true),
        None => (text, false),
    }
}

/// `0.333...` and `0.1212...`: digits behind the point that are one period, at least twice.
fn periodic(digits: &str, places: usize) -> Option<RBig> {
    let tail = digits.get(digits.len().checked_sub(places)?..)?;
    let whole =
        digits.get(..digits.len() - places).filter(|whole| !whole.is_empty()).unwrap_or("0");
    let again = |length: &usize| {
        let period = tail.get(..*length).unwrap_or_default();
        let least = if *length == 1 { 3 } else { 2 };
        places >= least * length
            && tail.as_bytes().chunks(*length).all(|part| period.as_bytes().starts_with(part))
    };
    let length = (1..=places.min(6)).find(again)?;
    with_period(whole, 0, tail.get(..length)?)
}

/// Whether the only comma stands before other than three digits: then it is a decimal comma.
fn decimal_comma(text: &str) -> bool {
    text.split_once(',').is_some_and(|(whole, tail)| {
        let (whole, tail) = (whole.trim_end_matches('{'), tail.trim_start_matches('}'));
        tail.bytes().all(|b| b.is_ascii_digit()) && (whole == "0" || tail.len() != 3)
    })
}
