//! Sides that say the same value: `x = 6/2 = 3`, `\pi \approx 3.14`, "75% or 3/4".

use dashu_ratio::RBig;

use super::Stop;
use super::algebra::negated;
use super::ast::{Id, Node, Rel};
use super::build::Builder;
use super::number::{power_of_ten, small, whole};
use super::poly::{Canon, Ctx};
use super::units;
use super::value::{Scalar, Value};

/// How far apart an approximation and its value may be, as a share of the value.
const NEAR: f64 = 0.01;

impl Builder<'_, '_, '_> {
    /// Whether no two numbers side by side in a chain contradict each other. `1 = 2` says nothing.
    pub(super) fn agree(&mut self, sides: &[Id], signs: &[Rel]) -> Result<bool, Stop> {
        for (pair, sign) in sides.windows(2).zip(signs) {
            let [one, two] = pair else { continue };
            // Most sides are names, which are quick to tell.
            if self.is_name(*one)? || self.is_name(*two)? {
                continue;
            }
            if let (Some(one), Some(two)) = (self.number(*one)?, self.number(*two)?)
                && !self.ctx.close(&one, &two, *sign)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The one value that alternatives say: "75% or 3/4". `None` where they differ.
    pub(super) fn one_of(&mut self, values: &[Value]) -> Result<Option<Value>, Stop> {
        let [first @ Value::Scalar(one), rest @ ..] = values else { return Ok(None) };
        for value in rest {
            let Value::Scalar(other) = value else { return Ok(None) };
            if self.ctx.has_variable(&one.canon)
                || self.ctx.has_variable(&other.canon)
                || !self.ctx.close(one, other, Rel::Equal)?
            {
                return Ok(None);
            }
        }
        Ok(Some(first.clone()))
    }

    /// "p or q": a statement, and no list of two.
    pub(super) fn disjunction(&self, items: &[Id]) -> Result<Option<Value>, Stop> {
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            let Node::Var(name) = self.tree.get(*item)? else { return Ok(None) };
            names.push(name.as_str());
        }
        names.sort_unstable();
        Ok(Some(Value::Text(names.join(" or "))))
    }

    fn is_name(&self, side: Id) -> Result<bool, Stop> {
        Ok(matches!(self.tree.get(side)?, Node::Var(_) | Node::Words(_) | Node::Call(..)))
    }

    fn number(&mut self, side: Id) -> Result<Option<Box<Scalar>>, Stop> {
        Ok(match self.value(side) {
            Ok(Value::Scalar(scalar)) if !self.ctx.has_variable(&scalar.canon) => Some(scalar),
            Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
            _ => None,
        })
    }
}

impl Ctx<'_, '_> {
    /// Whether two numbers say the same: exactly, or one of them rounded.
    pub(super) fn close(&mut self, one: &Scalar, two: &Scalar, sign: Rel) -> Result<bool, Stop> {
        for unit in [&one.unit, &two.unit].into_iter().flatten() {
            self.meter.spend(100 * unit.len() as u64)?;
        }
        let factor = match (&one.unit, &two.unit) {
            (Some(want), Some(have)) if want != have => match units::factor(want, have) {
                Some(factor) => factor,
                None => return Ok(false),
            },
            _ => RBig::ONE,
        };
        let answer = self.mul(&two.canon, &Canon::rational(factor.clone()))?;
        if self.equal(&one.canon, &answer)? {
            return Ok(true);
        }
        let difference = self.add(&one.canon, &negated(&answer))?;
        let (Some((apart, error)), Some((size, _))) =
            (self.approx(&difference), self.approx(&one.canon))
        else {
            return Ok(true);
        };
        let rounded = sign == Rel::Approx;
        let steps = [(one, RBig::ONE), (two, factor)].into_iter().map(|(side, factor)| {
            let step = side.decimal.as_ref().map(|decimal| decimal.step.clone());
            let percent = small(1, if side.percent { 100 } else { 1 });
            let step = step.or_else(|| rounded.then(|| last_unit(&side.canon)).flatten());
            step.map_or(0.0, |step| (step * percent * factor * small(1, 2)).to_f64_fast())
        });
        let step = steps.fold(0.0, f64::max);
        let near = if rounded { NEAR * size.abs() } else { 0.0 };
        Ok(apart.abs() <= step.max(near).max(1e-9 * size.abs()) * (1.0 + 1e-9) + 4.0 * error)
    }
}

/// The unit of the last digit of a whole number that is not zero: 100 for 1200.
fn last_unit(value: &Canon) -> Option<RBig> {
    let mut rest = whole(&value.as_rational()?).filter(|value| *value != 0)?;
    let mut zeros = 0;
    while rest % 10 == 0 {
        (rest, zeros) = (rest / 10, zeros + 1);
    }
    Some(RBig::from(power_of_ten(zeros)))
}
