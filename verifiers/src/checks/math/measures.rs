//! What the units and the signs of two numbers say of each other.

use super::number::Exp;
use super::poly::{Canon, Ctx, Kind};
use super::units;
use super::value::Scalar;

/// Whether one side wears a sign and the other a sign or a unit of something else: the sign was
/// not merely left out.
pub(super) fn marks_clash(one: &Scalar, two: &Scalar) -> bool {
    let clash = |one: &Scalar, two: &Scalar| {
        let unit = two.unit.as_deref();
        (one.percent && (two.degrees || unit.is_some()))
            || (one.degrees && (two.percent || unit.is_some_and(units::is_measure)))
    };
    clash(one, two) || clash(two, one)
}

impl Ctx<'_, '_> {
    /// A number times letters that are units, as a number with that unit, where the other side
    /// has one: `5000 m` beside kilometres, `10 m/s` beside kilometres in an hour.
    pub(super) fn with_unit_letter(&self, value: &Scalar, beside: &Scalar) -> Option<Scalar> {
        let ([(mono, coef)], true) = (value.canon.num.0.as_slice(), value.unit.is_none()) else {
            return None;
        };
        let other = beside.unit.as_deref()?;
        if mono.is_empty() || !value.canon.den.is_one() || !units::is_measure(other) {
            return None;
        }
        let mut unit = String::new();
        for (atom, exp) in mono {
            match self.kind(*atom) {
                Some(Kind::Var(name)) if exp.is_int() && units::known(name) => {
                    unit.push_str(if unit.is_empty() { "" } else { " " });
                    unit.push_str(&name.to_lowercase());
                    if *exp != Exp::ONE {
                        unit.push('^');
                        unit.push_str(&exp.num.to_string());
                    }
                }
                _ => return None,
            }
        }
        Some(Scalar { canon: Canon::rational(coef.clone()), unit: Some(unit), ..value.clone() })
    }
}
