//! The decimal places and significant digits with which a number was written.

use dashu_ratio::RBig;

use super::Builder;
use crate::number::{power_of_ten, small, whole};
use crate::stop::Stop;
use crate::syntax::{Id, Node, Written};
use crate::values::Decimal;

impl Builder<'_> {
    /// The precision of the notation, where the expression is one decimal number.
    pub(crate) fn decimal(&self, id: Id) -> Result<Option<Decimal>, Stop> {
        let step =
            |written: &Written| RBig::ONE / RBig::from(power_of_ten(written.places as usize));
        Ok(match self.tree.get(id)? {
            Node::Num(_, Some(written)) => {
                Some(Decimal { step: step(written), significant: written.significant })
            }
            Node::Neg(inner) | Node::Quantity(inner, _) | Node::Degrees(inner) => {
                self.decimal(*inner)?
            }
            Node::Percent(inner) => match (self.decimal(*inner)?, self.tree.get(*inner)?) {
                (None, Node::Num(value, None)) if value.is_int() => Some(whole_percent(value)),
                (decimal, _) => decimal,
            },
            Node::Mul(factors) => match factors.as_slice() {
                [first, power] => self.scaled_decimal(*first, *power)?,
                _ => None,
            },
            _ => None,
        })
    }

    /// `6.02 \times 10^{23}`.
    fn scaled_decimal(&self, first: Id, power: Id) -> Result<Option<Decimal>, Stop> {
        let Some(decimal) = self.decimal(first)? else { return Ok(None) };
        let Node::Pow(base, exponent) = self.tree.get(power)? else { return Ok(None) };
        let Node::Num(base, None) = self.tree.get(*base)? else { return Ok(None) };
        let (negative, exponent) = match self.tree.get(*exponent)? {
            Node::Neg(inner) => (true, self.tree.get(*inner)?),
            node => (false, node),
        };
        let Node::Num(exponent, None) = exponent else { return Ok(None) };
        let Some(exponent) = whole(exponent).filter(|e| (0..400).contains(e)) else {
            return Ok(None);
        };
        if *base != small(10, 1) {
            return Ok(None);
        }
        let scale = RBig::from(power_of_ten(usize::try_from(exponent).unwrap_or(0)));
        let step = if negative { decimal.step / scale } else { decimal.step * scale };
        Ok(Some(Decimal { step, ..decimal }))
    }
}

/// `33\%` may be rounded.
fn whole_percent(value: &RBig) -> Decimal {
    let digits = value.to_string().len();
    Decimal { step: RBig::ONE, significant: u32::try_from(digits).unwrap_or(u32::MAX) }
}
