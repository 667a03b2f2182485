//! Names that nobody fixes: constants of integration, and letters for whole numbers.

use dashu_ratio::RBig;

use super::number::Exp;
use super::poly::{Canon, Ctx, Kind, Mono};

impl Ctx<'_, '_> {
    /// Whether a constant of integration is added to something that varies.
    pub(super) fn has_constant(&self, value: &Canon) -> bool {
        let constant = |(mono, coef): &(Mono, RBig)| {
            coef.is_one()
                && matches!(mono.as_slice(), [(atom, Exp::ONE)]
                    if matches!(self.kind(*atom), Some(Kind::Var(name)) if name == "C"))
        };
        let terms = &value.num.0;
        value.den.is_one()
            && terms.iter().any(constant)
            && terms.iter().any(|term| !constant(term) && self.mono_varies(&term.0))
    }

    /// The only variable of a multiple of pi, where it is one that usually counts.
    pub(super) fn only_parameter(&self, value: &Canon) -> Option<String> {
        let mut atoms = value.num.0.iter().flat_map(|(mono, _)| mono.iter().map(|(atom, _)| *atom));
        let pi = atoms.any(|atom| self.kind(atom) == Some(&Kind::Pi));
        if !pi || !value.den.is_one() {
            return None;
        }
        match self.names_in(value).as_slice() {
            [name] if matches!(name.as_str(), "k" | "m" | "n" | "l") => Some(name.clone()),
            _ => None,
        }
    }
}
