//! Sums, products, integrals, limits and derivatives: how they are written, and what they come to.

use super::Stop;
use super::ast::{Id, Node, Rel};
use super::build::Builder;
use super::lexer::Tok;
use super::limits::Target;
use super::parser::Parser;
use super::poly::{Canon, Kind};

/// Derivatives of a higher order stay as they are written.
const ORDER_MAX: i64 = 8;

/// An operator and what it applies to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operator {
    /// `sum`, `prod`, `int`, `lim`, `diff`, or another integral sign.
    pub(super) name: &'static str,
    pub(super) variable: Option<String>,
    /// The lower bound, or what the variable tends to.
    pub(super) from: Option<Id>,
    pub(super) to: Option<Id>,
    pub(super) body: Id,
}

impl Parser<'_, '_> {
    /// A sum, a product, an integral or a limit behind its sign.
    pub(super) fn operator(&mut self, name: &'static str) -> Result<Id, Stop> {
        let (mut under, mut to) = (None, None);
        while let Some(tok @ (Tok::Under | Tok::Caret)) = self.peek() {
            self.at += 1;
            let part = self.nested(Self::argument)?;
            *(if tok == Tok::Under { &mut under } else { &mut to }) = Some(part);
        }
        let mut variable = None;
        let body = match name {
            "sum" | "prod" => self.nested(Self::signed_product)?,
            "int" => {
                let (body, by) = self.nested_integrand()?;
                variable = by;
                body
            }
            _ => self.nested(Self::sum)?,
        };
        let mut from = under;
        if let Some(id) = under
            && let Node::Chain(sides, signs) = self.tree.get(id)?
            && let ([left, right], [Rel::Equal | Rel::To]) = (sides.as_slice(), signs.as_slice())
            && let Node::Var(name) = self.tree.get(*left)?
        {
            (variable, from) = (Some(name.clone()), Some(*right));
        }
        let children: Vec<Id> = [under, to, Some(body)].into_iter().flatten().collect();
        self.node(Node::Operator(Operator { name, variable, from, to, body }), &children)
    }

    /// The integrand, up to `dx`.
    fn nested_integrand(&mut self) -> Result<(Id, Option<String>), Stop> {
        let Some((end, by)) = self.differential() else {
            return Ok((self.nested(Self::sum)?, None));
        };
        let all = self.tokens;
        self.tokens = all.get(..end).unwrap_or(all);
        let body = if self.at == end {
            self.node(Node::Num(dashu_ratio::RBig::ONE, None), &[])
        } else {
            self.nested(Self::sum)
        };
        let whole = self.at == end;
        self.tokens = all;
        self.at = end + 2;
        Ok((if whole { body? } else { return Err(Stop::Unreadable) }, Some(by)))
    }

    /// Where `dx` stands outside of all brackets, and the name of x.
    fn differential(&self) -> Option<(usize, String)> {
        let mut depth = 0usize;
        for at in self.at..self.tokens.len() {
            match (self.tokens.get(at)?.tok, self.tokens.get(at + 1).map(|next| next.tok)) {
                (Tok::LBrace | Tok::LParen | Tok::LBracket, _) => depth += 1,
                (Tok::RBrace | Tok::RParen | Tok::RBracket, _) => depth = depth.checked_sub(1)?,
                (Tok::Letter("d") | Tok::Word("d"), Some(Tok::Letter(name))) if depth == 0 => {
                    return Some((at, name.to_owned()));
                }
                _ => {}
            }
        }
        None
    }

    /// `\frac{d}{dx}` and what it derives; `\frac{dy}{dx}` is a name.
    pub(super) fn derivative(&mut self, top: Id, below: Id) -> Result<Option<Id>, Stop> {
        let Some((order, function)) = self.differential_of(top)? else { return Ok(None) };
        let Some((below_order, Some(variable))) = self.differential_of(below)? else {
            return Ok(None);
        };
        let plain = function.is_none() || order == 1;
        if order != below_order || !plain || !(1..=ORDER_MAX).contains(&order) {
            return Ok(None);
        }
        if let Some(function) = function {
            return self
                .node(Node::Var(format!("d{function}/d{variable}")), &[top, below])
                .map(Some);
        }
        if !self.peek().is_some_and(|tok| tok == Tok::LBracket || self.starts_factor(tok)) {
            return Err(Stop::Unreadable);
        }
        let mut body = self.nested(Self::product)?;
        for _ in 0..order {
            let operator = Operator {
                name: "diff",
                variable: Some(variable.clone()),
                from: None,
                to: None,
                body,
            };
            body = self.node(Node::Operator(operator), &[body])?;
        }
        Ok(Some(body))
    }

    /// `d`, `d^2`, `dx`, `dx^2`: the order, and the name behind it.
    fn differential_of(&self, id: Id) -> Result<Option<(i64, Option<String>)>, Stop> {
        let power = |id: Id| -> Result<Option<(String, i64)>, Stop> {
            Ok(match self.tree.get(id)? {
                Node::Var(name) | Node::Words(name) => Some((name.clone(), 1)),
                Node::Pow(base, exponent) => {
                    match (self.tree.get(*base)?, self.tree.get(*exponent)?) {
                        (Node::Var(name), Node::Num(order, None)) => {
                            super::number::whole(order).map(|order| (name.clone(), order))
                        }
                        _ => None,
                    }
                }
                _ => None,
            })
        };
        if let Node::Mul(factors) = self.tree.get(id)? {
            let [d, name] = factors.as_slice() else { return Ok(None) };
            let (Some((d, 1)), Some((name, order))) = (power(*d)?, power(*name)?) else {
                return Ok(None);
            };
            return Ok((d == "d").then_some((order, Some(name))));
        }
        Ok(power(id)?.filter(|(name, _)| name == "d").map(|(_, order)| (order, None)))
    }
}

impl Builder<'_, '_, '_> {
    /// What an operator comes to; opaque where nothing here finds it.
    pub(super) fn operator(&mut self, operator: &Operator) -> Result<Canon, Stop> {
        let Some(name) = &operator.variable else { return self.opaque_operator(operator) };
        self.bound.push(name.clone());
        let form = self.canon(operator.body);
        self.bound.pop();
        let form = form?;
        match self.evaluated(operator, &form, name) {
            Err(Stop::Cap | Stop::Undefined | Stop::Unreadable) => self.opaque_operator(operator),
            other => other,
        }
    }

    fn evaluated(&mut self, operator: &Operator, form: &Canon, name: &str) -> Result<Canon, Stop> {
        let variable = self.ctx.atom(Kind::Var(name.to_owned()))?;
        if operator.name == "diff" {
            return self.ctx.derivative(form, variable);
        }
        let from = operator.from.map(|id| self.target(id)).transpose()?;
        let to = operator.to.map(|id| self.target(id)).transpose()?;
        match (operator.name, from, to) {
            ("lim", Some(target), None) => self.ctx.limit(form, variable, &target),
            ("sum" | "prod", Some(Target::At(from)), Some(Target::At(to))) => {
                self.ctx.series(form, variable, &from, Some(&to), operator.name == "prod")
            }
            ("sum", Some(Target::At(from)), Some(Target::Infinity { negative: false })) => {
                self.ctx.series(form, variable, &from, None, false)
            }
            ("int", None, None) => {
                let found = self.ctx.antiderivative(form, variable)?;
                let constant = self.ctx.of(Kind::Var("C".into()))?;
                self.ctx.add(&found, &constant)
            }
            ("int", Some(from), Some(to)) => self.ctx.integral(form, variable, &from, &to),
            _ => Err(Stop::Cap),
        }
    }

    fn target(&mut self, id: Id) -> Result<Target, Stop> {
        let negative = match self.tree.get(id)? {
            Node::Infinity => Some(false),
            Node::Neg(inner) if matches!(self.tree.get(*inner)?, Node::Infinity) => Some(true),
            _ => None,
        };
        Ok(match negative {
            Some(negative) => Target::Infinity { negative },
            None => Target::At(self.canon(id)?),
        })
    }

    fn opaque_operator(&mut self, operator: &Operator) -> Result<Canon, Stop> {
        let mut parts = Vec::with_capacity(4);
        if let Some(name) = &operator.variable {
            parts.push(self.ctx.of(Kind::Var(name.clone()))?);
        }
        for part in [operator.from, operator.to, Some(operator.body)].into_iter().flatten() {
            let part = self.operator_part(part)?;
            parts.push(part);
        }
        self.ctx.opaque(operator.name, parts)
    }

    /// Bounds that are no plain values hold relations and infinities.
    fn operator_part(&mut self, id: Id) -> Result<Canon, Stop> {
        let tree = self.tree;
        match tree.get(id)? {
            Node::Chain(sides, _) => {
                let sides = sides.iter().map(|side| self.operator_part(*side));
                let sides = sides.collect::<Result<Vec<_>, _>>()?;
                self.ctx.opaque("relation", sides)
            }
            Node::Infinity => self.ctx.opaque("infinity", Vec::new()),
            _ => self.canon(id),
        }
    }
}
