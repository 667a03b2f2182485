//! The grammar of sums, products, integrals, limits and derivatives.

use super::Parser;
use crate::number;
use crate::stop::Stop;
use crate::syntax::ast::{Id, Node, Operator, Rel};
use crate::syntax::token::Tok;

/// Derivatives of a higher order stay as they are written.
const ORDER_MAX: i64 = 8;

impl Parser<'_, '_> {
    /// A sum, a product, an integral or a limit behind its sign.
    pub(crate) fn operator(&mut self, name: &'static str) -> Result<Id, Stop> {
        let (mut under, mut to) = (None, None);
        while let Some(tok @ (Tok::Under | Tok::Caret)) = self.peek() {
            self.at += 1;
            let outer = std::mem::replace(&mut self.in_bound, true);
            let part = self.nested(Self::argument)?;
            self.in_bound = outer;
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
        let body = if self.at == end { self.exact(1) } else { self.nested(Self::sum) };
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
    pub(crate) fn derivative(&mut self, top: Id, below: Id) -> Result<Option<Id>, Stop> {
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
                            number::whole(order).map(|order| (name.clone(), order))
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
