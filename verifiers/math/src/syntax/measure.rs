//! Products of powers of units.

use dashu_ratio::RBig;

use super::unit_table::{self, Dimensions, Unit};

/// A unit, or a product of powers of them: dimensions and size in base units.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    pub(crate) unit: Unit,
}

impl Measure {
    pub(crate) fn of(unit: Unit) -> Self {
        Self { unit }
    }

    /// A scale with a zero of its own begins there only where it is alone.
    pub(crate) fn raised(self, power: i8) -> Option<Self> {
        if power == 1 {
            return Some(self);
        }
        let mut unit = self.unit;
        for dimension in &mut unit.dimensions {
            *dimension = dimension.checked_mul(power)?;
        }
        unit.size = unit.size.pow(isize::from(power));
        unit.pi = unit.pi.checked_mul(power)?;
        unit.zero = RBig::ZERO;
        Some(Self { unit })
    }

    pub(crate) fn times(self, other: &Self) -> Option<Self> {
        let mut unit = self.unit;
        for (sum, dimension) in unit.dimensions.iter_mut().zip(other.unit.dimensions) {
            *sum = sum.checked_add(dimension)?;
        }
        unit.size *= &other.unit.size;
        unit.pi = unit.pi.checked_add(other.unit.pi)?;
        unit.zero = RBig::ZERO;
        if unit.kind.is_empty() {
            unit.kind = other.unit.kind;
        }
        Some(Self { unit })
    }

    pub(crate) fn dimensions(&self) -> &Dimensions {
        &self.unit.dimensions
    }

    /// How many base units it is, and the power of pi in it, with their product. `None` where its
    /// scale has a zero of its own, or for money.
    pub(crate) fn in_base(&self) -> Option<(&RBig, i8, String)> {
        let plain = self.unit.zero == RBig::ZERO && self.dimensions().last() == Some(&0);
        plain.then(|| (&self.unit.size, self.unit.pi, unit_table::spelled(self.dimensions())))
    }
}
