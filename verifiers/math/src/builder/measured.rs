//! Values with units: letters that may be one, and products, quotients and sums of such values.

use super::{Builder, Units};
use crate::algebra::{Atom, Canon, Kind, Poly, names_in, negated, pow};
use crate::stop::Stop;
use crate::syntax::{Id, Node, units};
use crate::values::Letters;

/// How the variables are called that stand for base units: no variable of an answer has a space.
const BASE: &str = "base ";

impl Builder<'_> {
    /// Whether an expression is one value with its unit.
    pub(crate) fn is_measured(&self, id: Id) -> Result<bool, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Quantity(..) => true,
            Node::Neg(inner) | Node::PlusMinus { at: inner, .. } => self.is_measured(*inner)?,
            _ => false,
        })
    }

    /// The value with a unit that a number before letters may be: `10 m/s`.
    pub(crate) fn letters(&mut self, id: Id) -> Result<Option<Box<Letters>>, Stop> {
        if let Node::Neg(inner) = self.tree.get(id)? {
            let letters = self.letters(*inner)?;
            return Ok(letters
                .map(|letters| Box::new(Letters { canon: negated(&letters.canon), ..*letters })));
        }
        let quotient = matches!(self.tree.get(id)?, Node::Div(..) | Node::Mul(_));
        let Some(found) = self.tree.measured(id) else {
            return if quotient && self.tree.has_letters() { self.quotient(id) } else { Ok(None) };
        };
        let canon = self.canon(found.value)?;
        let (unit, sure) = (found.unit.clone(), found.sure);
        Ok(Some(Box::new(Letters { canon, unit, decimal: self.decimal(found.value)?, sure })))
    }

    /// What an expression with several units comes to, in base units: `\frac{10 V}{2 \Omega}`. As it
    /// is where the units are no measures, or of one kind beside a number without.
    pub(crate) fn computed(
        &mut self,
        id: Id,
        canon: Canon,
        unit: String,
    ) -> Result<(Canon, Option<String>), Stop> {
        let (mut same, mut measures) = (true, true);
        self.tree.visit(id, &mut |node| {
            if let Node::Quantity(_, other) = node {
                same &= *other == unit;
                measures &= units::within(other).is_some_and(|unit| unit.in_base().is_some());
            }
        });
        if !measures {
            return Ok((canon, Some(unit)));
        }
        match self.based(id)? {
            Some(based) => Ok(based),
            // Metres and seconds do not add up.
            None if same => Ok((canon, Some(unit))),
            None => Err(Stop::Unreadable),
        }
    }

    /// The parts of a ratio, in base units where all have units: `5\text{ m} : 20\text{ cm}`.
    pub(crate) fn ratio(&mut self, parts: &[Id]) -> Result<Vec<Canon>, Stop> {
        let mut measures = true;
        for part in parts {
            measures &= match self.tree.get(*part)? {
                Node::Quantity(_, unit) => {
                    units::within(unit).is_some_and(|unit| unit.in_base().is_some())
                }
                _ => false,
            };
        }
        self.units.in_base = measures;
        let parts = parts.iter().map(|part| self.canon(*part)).collect();
        self.units = Units::default();
        parts
    }

    /// A quotient of values whose letters may be units: `\frac{12 V}{2 \Omega}`.
    fn quotient(&mut self, id: Id) -> Result<Option<Box<Letters>>, Stop> {
        let Some((canon, Some(unit))) = self.based(id)? else { return Ok(None) };
        let plain = names_in(self.cx, &canon).is_empty();
        Ok(plain.then(|| Box::new(Letters { canon, unit, decimal: None, sure: false })))
    }

    /// An expression as a number of base units, `None` where its terms have different ones.
    fn based(&mut self, id: Id) -> Result<Option<(Canon, Option<String>)>, Stop> {
        let seen = self.seen;
        self.units.in_base = true;
        let whole = self.canon(id);
        (self.units, self.seen) = (Units::default(), seen);
        let whole = whole?;
        let (mut product, mut powers) = (Canon::int(1), Vec::new());
        for name in names_in(self.cx, &whole) {
            let Some(base) = name.strip_prefix(BASE) else { continue };
            let atom = self.cx.atom(Kind::Var(name.clone()))?;
            let power = power_of(atom, &whole.num) - power_of(atom, &whole.den);
            let unit = self.cx.of(Kind::Var(name.clone()))?;
            let raised = pow(self.cx, &unit, &Canon::int(power))?;
            product = self.cx.mul(&product, &raised)?;
            powers.push(format!("{base}^{power}"));
        }
        let number = self.cx.div(&whole, &product)?;
        if names_in(self.cx, &number).iter().any(|name| name.starts_with(BASE)) {
            return Ok(None);
        }
        Ok(Some((number, (!powers.is_empty()).then(|| powers.join(" ")))))
    }

    /// A number of units as a number of base units.
    pub(crate) fn times_base(&mut self, value: &Canon, unit: &str) -> Result<Canon, Stop> {
        let measure = units::within(unit).ok_or(Stop::Unreadable)?;
        let Some((size, pi, bases)) = measure.in_base() else { return Err(Stop::Unreadable) };
        let mut whole = self.cx.mul(value, &Canon::rational(size.clone()))?;
        let pi_atom = self.cx.of(Kind::Pi)?;
        let pi = pow(self.cx, &pi_atom, &Canon::int(i64::from(pi)))?;
        whole = self.cx.mul(&whole, &pi)?;
        for factor in bases.split(' ').filter(|factor| !factor.is_empty()) {
            let (base, power) = factor.split_once('^').ok_or(Stop::Unreadable)?;
            let power: i64 = power.parse().map_err(|_| Stop::Unreadable)?;
            let base = self.cx.of(Kind::Var(format!("{BASE}{base}")))?;
            let raised = pow(self.cx, &base, &Canon::int(power))?;
            whole = self.cx.mul(&whole, &raised)?;
        }
        Ok(whole)
    }
}

/// The power of an atom in the first term of a form.
fn power_of(atom: Atom, form: &Poly) -> i64 {
    let first = form.0.first().map(|(mono, _)| mono.as_slice()).unwrap_or_default();
    let power = first.iter().find(|(have, _)| *have == atom);
    power.filter(|(_, power)| power.is_int()).map_or(0, |(_, power)| power.num)
}
