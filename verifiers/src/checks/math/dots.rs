//! Sums and products with dots: what they go on with is not worked out, but their terms may stand
//! in any order.

use super::Stop;
use super::ast::{Id, Node};
use super::build::Builder;
use super::poly::Canon;

impl Builder<'_, '_, '_> {
    /// `1 + 2 + \cdots + n` as a form of its terms. `None` where there are no dots.
    pub(super) fn dotted(
        &mut self,
        name: &'static str,
        parts: &[Id],
    ) -> Result<Option<Canon>, Stop> {
        let tree = self.tree;
        let is_dots = |id: &Id| matches!(tree.get(*id), Ok(Node::Dots));
        if !parts.iter().any(is_dots) {
            return Ok(None);
        }
        let mut terms = Vec::with_capacity(parts.len());
        for part in parts.iter().filter(|part| !is_dots(part)) {
            let term = self.canon(*part)?;
            terms.push((self.ctx.show(&term), term));
        }
        terms.sort_by(|one, two| one.0.cmp(&two.0));
        let terms = terms.into_iter().map(|(_, term)| term).collect();
        self.ctx.opaque(name, terms).map(Some)
    }
}
