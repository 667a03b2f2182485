//! Arithmetic expressions, parsed and computed, never executed.

use crate::number::Ratio;

/// An operator of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `//`, rounded down.
    FloorDivide,
    /// `%`, the rest of `//`.
    Modulo,
    /// `**`, and `^` where allowed.
    Power,
}

/// What an expression is computed in. Each step is `None` where it has no value.
pub trait Algebra {
    /// What it computes.
    type Value;
    /// A number as written.
    fn number(&mut self, digits: &str) -> Option<Self::Value>;
    /// A name.
    fn name(&mut self, name: &str) -> Option<Self::Value>;
    /// The value with the other sign.
    fn negated(&mut self, value: Self::Value) -> Option<Self::Value>;
    /// `value!`.
    fn factorial(&mut self, value: Self::Value) -> Option<Self::Value>;
    /// Two values and their operator.
    fn combined(
        &mut self,
        operator: Operator,
        left: Self::Value,
        right: Self::Value,
    ) -> Option<Self::Value>;
}

/// How expressions may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionStyle {
    /// As Python has them, and `5!`.
    Python,
    /// Also with `^` for powers, `×`, `·`, `÷`, `−`, and `\times`, `\cdot`, `\div`, `\frac{a}{b}` of LaTeX.
    Written,
}

/// How deep brackets, signs and powers may nest.
const DEPTH_MAX: usize = 64;

/// The value of an expression. `None` where it does not parse or has no value. Linear in the text.
pub fn compute<A: Algebra>(
    text: &str,
    notation: ExpressionStyle,
    algebra: &mut A,
) -> Option<A::Value> {
    let text = text.trim();
    let written = notation == ExpressionStyle::Written;
    if !written && text.contains('\n') {
        return None;
    }
    let mut parser = Parser { rest: text, written, algebra };
    let value = parser.sum(0)?;
    parser.rest.is_empty().then_some(value)
}

struct Parser<'t, 'a, A> {
    rest: &'t str,
    written: bool,
    algebra: &'a mut A,
}

impl<A: Algebra> Parser<'_, '_, A> {
    /// Takes the first of these marks that comes next.
    fn takes(&mut self, marks: &[&str]) -> bool {
        let found = marks.iter().find_map(|mark| self.rest.strip_prefix(mark));
        found.is_some_and(|rest| {
            self.rest = rest.trim_start();
            true
        })
    }

    fn takes_written(&mut self, marks: &[&str]) -> bool {
        self.written && self.takes(marks)
    }

    fn sum(&mut self, depth: usize) -> Option<A::Value> {
        let mut value = self.product(depth)?;
        loop {
            let operator = if self.takes(&["+"]) {
                Operator::Add
            } else if self.takes(&["-"]) || self.takes_written(&["−", "–"]) {
                Operator::Subtract
            } else {
                return Some(value);
            };
            let right = self.product(depth)?;
            value = self.algebra.combined(operator, value, right)?;
        }
    }

    fn product(&mut self, depth: usize) -> Option<A::Value> {
        let mut value = self.signed(depth)?;
        loop {
            let operator = if self.takes(&["//"]) {
                Operator::FloorDivide
            } else if self.takes(&["/"]) || self.takes_written(&["÷", "\\div"]) {
                Operator::Divide
            } else if !self.rest.starts_with("**") && self.takes(&["*"])
                || self.takes_written(&["×", "·", "⋅", "∗", "\\times", "\\cdot"])
            {
                Operator::Multiply
            } else if self.takes(&["%"]) {
                Operator::Modulo
            } else {
                return Some(value);
            };
            let right = self.signed(depth)?;
            value = self.algebra.combined(operator, value, right)?;
        }
    }

    fn signed(&mut self, depth: usize) -> Option<A::Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.takes(&["+"]) {
            return self.signed(depth + 1);
        }
        if self.takes(&["-"]) || self.takes_written(&["−", "–"]) {
            let value = self.signed(depth + 1)?;
            return self.algebra.negated(value);
        }
        let mut base = self.atom(depth)?;
        while self.takes(&["!"]) {
            base = self.algebra.factorial(base)?;
        }
        if self.takes(&["**"]) || self.takes_written(&["^"]) {
            let exponent = self.signed(depth + 1)?;
            return self.algebra.combined(Operator::Power, base, exponent);
        }
        Some(base)
    }

    fn atom(&mut self, depth: usize) -> Option<A::Value> {
        if self.takes_written(&["\\frac", "\\dfrac"]) {
            let (above, below) = (self.group("{", "}", depth)?, self.group("{", "}", depth)?);
            return self.algebra.combined(Operator::Divide, above, below);
        }
        if self.rest.starts_with('(') {
            return self.group("(", ")", depth);
        }
        if self.written && self.rest.starts_with("\\left(") {
            return self.group("\\left(", "\\right)", depth);
        }
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts_number = self.rest.starts_with(is_digit);
        let ends = |c: char| if starts_number { !is_digit(c) } else { !is_letter(c) };
        let (text, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        if text.is_empty() || starts_number && rest.starts_with(is_letter) {
            return None;
        }
        self.rest = rest.trim_start();
        if starts_number { self.algebra.number(text) } else { self.algebra.name(text) }
    }

    fn group(&mut self, open: &str, close: &str, depth: usize) -> Option<A::Value> {
        let value = if self.takes(&[open]) { self.sum(depth + 1)? } else { return None };
        self.takes(&[close]).then_some(value)
    }
}

/// Exact arithmetic without names. Keeps the whole numbers that are written.
#[derive(Debug, Default)]
pub struct ExactArithmetic {
    /// The numbers, as they come.
    pub numbers: Vec<Ratio>,
}

impl Algebra for ExactArithmetic {
    type Value = Ratio;

    fn number(&mut self, digits: &str) -> Option<Ratio> {
        let value = Ratio::parse(digits)?;
        self.numbers.push(value);
        Some(value)
    }

    fn name(&mut self, _: &str) -> Option<Ratio> {
        None
    }

    fn negated(&mut self, value: Ratio) -> Option<Ratio> {
        value.negated()
    }

    fn factorial(&mut self, value: Ratio) -> Option<Ratio> {
        let of = value.integer().filter(|of| (0..=33).contains(of))?;
        Some(Ratio::whole((1..=of).product()))
    }

    fn combined(&mut self, operator: Operator, left: Ratio, right: Ratio) -> Option<Ratio> {
        match operator {
            Operator::Add => left.plus(right),
            Operator::Subtract => left.minus(right),
            Operator::Multiply => left.times(right),
            Operator::Divide => left.over(right),
            Operator::FloorDivide => Some(left.over(right)?.floor()),
            Operator::Modulo => left.minus(left.over(right)?.floor().times(right)?),
            Operator::Power => left.power(right),
        }
    }
}
