//! The grammar of derivatives: `\frac{d}{dx}`, `\frac{dy}{dx}`, `dy/dx`, `\frac{\partial f}{\partial x}`.

use crate::number;
use crate::syntax::ast::Operator;
use crate::syntax::parser::prelude::*;

/// Derivatives of a higher order stay as they are written.
const ORDER_MAX: i64 = 8;
/// The name of `\partial`.
const PARTIAL: &str = "partial";

/// `d`, `d^2`, `dx`, `dx^2`.
struct Differential {
    is_partial: bool,
    /// The exponent of the sign.
    order: i64,
    name: Option<String>,
    /// The exponent of the name.
    power: i64,
    /// What is derived: `\frac{d(x^2)}{dx}`.
    body: Option<Id>,
}

impl Parser<'_, '_> {
    /// `\frac{d}{dx}` and what it derives; `\frac{dy}{dx}` is a name. `None` where the fraction is no
    /// derivative.
    pub(crate) fn derivative(&mut self, top: Id, below: Id) -> Result<Option<Id>, Stop> {
        let (top, below) = (self.differential_of(top)?, self.differential_of(below)?);
        let (Some(top), Some(below)) = (top, below) else { return Ok(None) };
        self.derived(&top, &below)
    }

    /// `dy/dx`, `d^2y/dx^2`, `d/dx (x^2)` on one line, behind the first `d`.
    pub(crate) fn inline_derivative(&mut self) -> Result<Option<Id>, Stop> {
        let start = self.at;
        let order = self.order();
        let name = match self.peek() {
            Some(Tok::Letter(name)) => Some(name.to_owned()),
            _ => None,
        };
        self.at += usize::from(name.is_some());
        let top = Differential { is_partial: false, order, name, power: 1, body: None };
        if self.eat(Tok::Slash)
            && self.eat(Tok::Letter("d"))
            && let Some(Tok::Letter(name)) = self.peek()
        {
            self.at += 1;
            let (name, power) = (Some(name.to_owned()), self.order());
            let below = Differential { is_partial: false, order: 1, name, power, body: None };
            if let Some(found) = self.derived(&top, &below)? {
                return Ok(Some(found));
            }
        }
        self.at = start;
        Ok(None)
    }

    /// The exponent here, else 1.
    fn order(&mut self) -> i64 {
        let braced = usize::from(self.ahead(1) == Some(Tok::LBrace));
        let order = match (self.peek(), self.ahead(1 + braced)) {
            (Some(Tok::Caret), Some(Tok::Num(digits))) => digits.parse().ok(),
            _ => None,
        };
        self.at += if order.is_some() { 2 + 2 * braced } else { 0 };
        order.unwrap_or(1)
    }

    fn derived(&mut self, top: &Differential, below: &Differential) -> Result<Option<Id>, Stop> {
        let Some(variable) = &below.name else { return Ok(None) };
        if top.is_partial != below.is_partial
            || top.order != below.order.saturating_mul(below.power)
            || !(1..=ORDER_MAX).contains(&top.order)
        {
            // No quotient either: `\frac{dx^2}{dx}`.
            return if top.name.is_some() { Err(Stop::Unreadable) } else { Ok(None) };
        }
        if let (Some(body), true) = (top.body, top.name.is_none() || top.power != 1) {
            return self.derived_body(body, variable, top).map(Some);
        }
        if let Some(function) = &top.name {
            let name = derivative_name(function, variable, top);
            return self.node(Node::Var(name), &[]).map(Some);
        }
        if !self.peek().is_some_and(|tok| tok == Tok::LBracket || self.starts_factor(tok)) {
            return Err(Stop::Unreadable);
        }
        let body = self.nested(Self::product)?;
        self.derived_body(body, variable, top).map(Some)
    }

    /// The derivative of a function that is only named has a name; others are worked out.
    fn derived_body(
        &mut self,
        mut body: Id,
        variable: &str,
        top: &Differential,
    ) -> Result<Id, Stop> {
        match self.tree.get(body)? {
            Node::Var(function) if function != variable => {
                let name = derivative_name(function, variable, top);
                return self.node(Node::Var(name), &[]);
            }
            Node::Call(function, args) if !top.is_partial => {
                let args = args.clone();
                if let [arg] = args.as_slice()
                    && matches!(self.tree.get(*arg)?, Node::Var(name) if name == variable)
                {
                    let name = derivative_name(function, "x", top);
                    return self.node(Node::Call(name, args.clone()), &args);
                }
            }
            _ => {}
        }
        for _ in 0..top.order {
            let operator = Operator {
                name: "diff",
                variable: Some(variable.to_owned()),
                from: None,
                to: None,
                body,
            };
            body = self.node(Node::Operator(operator), &[body])?;
        }
        Ok(body)
    }

    /// `d`, `d^2`, `dx`, `dx^2`, `(dx)^2`: the order, and the name after it.
    fn differential_of(&self, id: Id) -> Result<Option<Differential>, Stop> {
        let (factors, outer) = match self.tree.get(id)? {
            Node::Mul(factors) => (factors.as_slice(), 1),
            Node::Pow(base, exponent) => match (self.tree.get(*base)?, self.tree.get(*exponent)?) {
                (Node::Mul(factors), Node::Num(order, None)) => {
                    (factors.as_slice(), number::whole(order).unwrap_or(0))
                }
                _ => (std::slice::from_ref(&id), 1),
            },
            _ => (std::slice::from_ref(&id), 1),
        };
        let [sign, names @ ..] = factors else { return Ok(None) };
        let Some((sign, order)) = self.raised_name(*sign)? else { return Ok(None) };
        if !matches!(sign, "d" | PARTIAL) {
            return Ok(None);
        }
        let is_partial = sign == PARTIAL;
        let (name, power) = match names {
            [] => (None, 1),
            [name] => self
                .raised_name(*name)?
                .map_or((None, 1), |(name, power)| (Some(name.to_owned()), power)),
            _ => return Ok(None),
        };
        let (order, body) = (order.saturating_mul(outer), names.first().copied());
        Ok(Some(Differential { is_partial, order, name, power, body }))
    }

    /// A name and its exponent.
    fn raised_name(&self, id: Id) -> Result<Option<(&str, i64)>, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Var(name) | Node::Words(name) => Some((name, 1)),
            Node::Pow(base, exponent) => match (self.tree.get(*base)?, self.tree.get(*exponent)?) {
                (Node::Var(name), Node::Num(order, None)) => {
                    number::whole(order).map(|order| (name.as_str(), order))
                }
                _ => None,
            },
            _ => None,
        })
    }
}

/// The name of a derivative: that with primes where it is one by x, `f_x` where it is partial, and with
/// its variable else.
fn derivative_name(function: &str, variable: &str, top: &Differential) -> String {
    let times = usize::try_from(top.order).unwrap_or(1);
    if top.is_partial {
        return format!("{function}_{}", variable.repeat(times));
    }
    let primes = "'".repeat(times);
    if variable == "x" {
        format!("{function}{primes}")
    } else {
        format!("{function}{primes}/d{variable}")
    }
}

/// The name of a derivative by time: `\dot{x}`, `\ddot{x}`.
pub(super) fn by_time(function: &str, order: i64) -> String {
    derivative_name(
        function,
        "t",
        &Differential { is_partial: false, order, name: None, power: 1, body: None },
    )
}
