//! The grammar of sums, products, integrals, and limits.

use crate::syntax::ast::Operator;
use crate::syntax::parser::prelude::*;

impl Parser<'_, '_> {
    /// A sum, a product, an integral or a limit after its sign.
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
        (self.tokens, _) = all.split_at(end);
        let body = if self.at == end { self.exact(1) } else { self.nested(Self::sum) };
        let whole = self.at == end;
        self.tokens = all;
        self.at = end + 2;
        Ok((if whole { body? } else { return Err(Stop::Unreadable) }, Some(by)))
    }

    /// Where `dx` is outside of all brackets, and the name of x.
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
}
