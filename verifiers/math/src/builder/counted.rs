//! Numbers before letters, which may be units: `5 m`, `10 m/s`.

use super::Builder;
use crate::stop::Stop;
use crate::syntax::{Id, Node};

impl Builder<'_> {
    /// Whether a number stands before the letters of a product: `1 m`, and not `m`.
    pub(crate) fn is_counted(&self, id: Id) -> Result<bool, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Neg(inner) | Node::Div(inner, _) => self.is_counted(*inner)?,
            Node::Mul(factors) => match factors.as_slice() {
                [first, _, ..] => {
                    let mut varies = false;
                    self.tree.visit(*first, &mut |node| varies |= matches!(node, Node::Var(_)));
                    !varies
                }
                _ => false,
            },
            _ => false,
        })
    }
}
