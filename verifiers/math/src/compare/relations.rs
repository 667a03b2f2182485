//! Equations and inequalities: equal up to a factor, or by what they say about one variable.

use std::cmp::Ordering;

use super::judged::{Equivalence, Rung};
use super::{Comparer, judged};
use crate::algebra::{Canon, Kind, names_in, only_variable, order};
use crate::sets::{Relation, Sign, cleared, constant_at, solution, solved_for, varying_part};
use crate::stop::Stop;
use crate::values::{Scalar, Value, solutions_named};

impl Comparer<'_> {
    /// Equal up to a constant factor: positive where the sign matters.
    pub(crate) fn relations(
        &mut self,
        one: &Relation,
        two: &Relation,
    ) -> Result<Equivalence, Stop> {
        if one.sign != two.sign {
            return Ok(Equivalence::Unequal);
        }
        // The zeros of a quotient are those of its numerator.
        let free = matches!(one.sign, Sign::Zero | Sign::NotZero);
        let (left, right) = if free {
            (cleared(self.cx, &one.left.num)?, cleared(self.cx, &two.left.num)?)
        } else {
            let left = self.cx.mul_poly(&one.left.num, &two.left.den)?;
            let right = self.cx.mul_poly(&two.left.num, &one.left.den)?;
            if one.left.den != two.left.den {
                return Ok(judged::judged(left == right, Rung::Polynomial));
            }
            (one.left.num.clone(), two.left.num.clone())
        };
        let Some((lead, _)) = left.0.last() else {
            return Ok(judged::judged(right.is_zero(), Rung::Polynomial));
        };
        let lead = varying_part(self.cx, lead);
        let factors = (constant_at(self.cx, &left, &lead), constant_at(self.cx, &right, &lead));
        let (factor, other) = (Canon::poly(factors.0), Canon::poly(factors.1));
        if !free {
            let signs =
                (order(self.cx, &factor, &Canon::int(0))?, order(self.cx, &other, &Canon::int(0))?);
            match signs {
                (Some(one), Some(two)) if one == two && one != Ordering::Equal => {}
                (Some(_), Some(_)) => return Ok(Equivalence::Unequal),
                _ => return Ok(Equivalence::Undecided),
            }
        }
        let left = self.cx.mul(&Canon::poly(left), &other)?;
        let right = self.cx.mul(&Canon::poly(right), &factor)?;
        Ok(judged::judged(!other.is_zero() && self.cx.equal(&left, &right)?, Rung::Polynomial))
    }

    /// An equation in one variable against its solutions, or one that defines y against the
    /// expression for it. `None` where it is neither.
    pub(crate) fn described(
        &mut self,
        relation: &Relation,
        other: &Value,
    ) -> Result<Option<Equivalence>, Stop> {
        if relation.sign != Sign::Zero {
            return Ok(None);
        }
        if let Value::Scalar(scalar) = other
            && let Some(judged) = self.defined(relation, scalar)?
        {
            return Ok(Some(judged));
        }
        let Some((name, _)) = only_variable(self.cx, &relation.left) else { return Ok(None) };
        let Some(points) = solutions_named(self.cx, other, &name)? else { return Ok(None) };
        match solution(self.cx, relation)? {
            Some(region) => self.same_region(&region, &points).map(Some),
            None => Ok(Some(Equivalence::Undecided)),
        }
    }

    /// `xy = 6` against `6/x`.
    fn defined(
        &mut self,
        relation: &Relation,
        scalar: &Scalar,
    ) -> Result<Option<Equivalence>, Stop> {
        let names = names_in(self.cx, &scalar.canon);
        if names.is_empty() || names.iter().any(|name| name == "y") {
            return Ok(None);
        }
        let y = self.cx.atom(Kind::Var("y".to_owned()))?;
        match solved_for(self.cx, &relation.left, y)? {
            Some(value) => self.exact(&value, &scalar.canon).map(Some),
            None => Ok(None),
        }
    }
}
