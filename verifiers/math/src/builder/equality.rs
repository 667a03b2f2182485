//! Chains of relations: equations, definitions, memberships, inequalities with several sides.

use super::Builder;
use super::named::named;
use crate::sets::{Region, Relation, Sign, intersection};
use crate::stop::{Stop, unless_fault};
use crate::syntax::{Id, Node, Rel};
use crate::values::{Rank, Scalar, Value, is_close, region_of};

impl Builder<'_> {
    pub(crate) fn chain(&mut self, sides: &[Id], signs: &[Rel]) -> Result<Value, Stop> {
        if let ([left, right], [sign]) = (sides, signs) {
            match sign {
                Rel::In => return self.member(*left, *right),
                Rel::Equal | Rel::Approx => {}
                _ => return self.inequality(*left, *right, *sign),
            }
        }
        if signs.iter().all(|sign| matches!(sign, Rel::Equal | Rel::Approx)) {
            if !self.agree(sides, signs)? {
                return Err(Stop::Unreadable);
            }
            return self.equalities(sides, signs);
        }
        // a < x < b: both hold.
        let mut whole: Option<Region> = None;
        for (pair, sign) in sides.windows(2).zip(signs) {
            let [left, right] = pair else { continue };
            let region = match self.inequality(*left, *right, *sign)? {
                Value::Region(region) => region,
                Value::Relation(_) => return self.ranks(sides, signs)?.ok_or(Stop::Unreadable),
                _ => return Err(Stop::Unreadable),
            };
            whole = Some(match whole {
                Some(before) => intersection(self.cx, &before, &region)?,
                None => region,
            });
        }
        whole.map(Value::Region).ok_or(Stop::Unreadable)
    }

    fn member(&mut self, left: Id, right: Id) -> Result<Value, Stop> {
        let value = self.value(right)?;
        let Some((label, _)) = self.label(left)? else { return Err(Stop::Unreadable) };
        Ok(match region_of(self.cx, &value)? {
            Some(region) if !matches!(value, Value::Set(_)) => {
                Value::Region(Region { var: Some(label), ..region })
            }
            _ => named(label, None, value, None),
        })
    }

    /// `a = b = c`, perhaps with an approximation at the end: the last exact side is the value.
    fn equalities(&mut self, sides: &[Id], signs: &[Rel]) -> Result<Value, Stop> {
        let exact =
            signs.iter().position(|sign| *sign == Rel::Approx).map_or(sides.len(), |at| at + 1);
        let (kept, _) = sides.split_at(exact);
        let label = match sides.first() {
            Some(first) => self.label(*first)?,
            None => None,
        };
        let last = match (kept.last(), sides.last()) {
            (Some(only), Some(last)) if kept.len() == 1 && label.is_some() => (*last, *only),
            (Some(last), _) => (*last, sides.first().copied().unwrap_or(*last)),
            _ => return Err(Stop::Unreadable),
        };
        let (value_id, first_id) = last;
        if value_id == first_id {
            return self.value(value_id);
        }
        if let Some((label, parameter)) = label {
            let value = self.value(value_id)?;
            let both = kept.len() == 2 && !matches!(self.tree.get(first_id)?, Node::Ratio(..));
            let equation = match (&value, parameter.is_none() && both) {
                // A name in words is not an expression.
                (Value::Scalar(scalar), true) => match self.canon(first_id) {
                    Ok(left) => Some(self.cx.sub(&left, &scalar.canon)?),
                    Err(Stop::Unreadable) => None,
                    Err(stop) => return Err(stop),
                },
                _ => None,
            };
            return Ok(named(label, parameter, value, equation));
        }
        self.equation(first_id, value_id, kept.len() == 2)
    }

    /// An equation between two expressions; between two numbers the second is the value.
    pub(crate) fn equation(&mut self, left: Id, right: Id, only_two: bool) -> Result<Value, Stop> {
        let value = self.value(right)?;
        let Value::Scalar(scalar) = &value else { return Ok(value) };
        let first = self.canon(left)?;
        let tree = self.tree;
        if let Node::Operator(operator) = tree.get(left)?
            && self.cx.has_variable(&scalar.canon)
        {
            let other = self.is_other_value(operator, &first, &scalar.canon)?;
            return if other { Err(Stop::Unreadable) } else { Ok(value) };
        }
        if !only_two || !(self.cx.has_variable(&first) || self.cx.has_variable(&scalar.canon)) {
            return Ok(value);
        }
        if let Some((label, parameter)) = self.label(right)?
            && parameter.is_none()
        {
            let equation = self.cx.sub(&first, &scalar.canon)?;
            let value = self.value(left)?;
            return Ok(named(label, None, value, Some(equation)));
        }
        let left = self.cx.sub(&first, &scalar.canon)?;
        Ok(Value::Relation(Relation { sign: Sign::Zero, left }))
    }
}

impl Builder<'_> {
    /// Whether no two adjacent numbers of a chain contradict each other, as in `1 = 2`.
    pub(crate) fn agree(&mut self, sides: &[Id], signs: &[Rel]) -> Result<bool, Stop> {
        for (pair, sign) in sides.windows(2).zip(signs) {
            let [one, two] = pair else { continue };
            // Most sides are names, which are cheap to recognise.
            if self.is_name(*one)? || self.is_name(*two)? {
                continue;
            }
            if let (Some(one), Some(two)) = (self.number(*one)?, self.number(*two)?)
                && !is_close(self.cx, &one, &two, *sign)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_name(&self, side: Id) -> Result<bool, Stop> {
        Ok(matches!(self.tree.get(side)?, Node::Var(_) | Node::Words(_) | Node::Call(..)))
    }

    pub(crate) fn number(&mut self, side: Id) -> Result<Option<Box<Scalar>>, Stop> {
        Ok(match unless_fault(self.value(side))? {
            Some(Value::Scalar(scalar)) if !self.cx.has_variable(&scalar.canon) => Some(scalar),
            _ => None,
        })
    }

    /// A chain of terms in ascending or descending order. `None` for a chain in both directions.
    pub(crate) fn ranks(&mut self, sides: &[Id], signs: &[Rel]) -> Result<Option<Value>, Stop> {
        let rises = signs.iter().any(|sign| matches!(sign, Rel::Less | Rel::LessEqual));
        let falls = signs.iter().any(|sign| matches!(sign, Rel::More | Rel::MoreEqual));
        let Some((first, rest)) = sides.split_first() else { return Ok(None) };
        if rises == falls {
            return Ok(None);
        }
        let mut ranks = vec![Rank { terms: vec![self.canon(*first)?], strict: true }];
        for (side, sign) in rest.iter().zip(signs) {
            let term = self.canon(*side)?;
            match (sign, ranks.last_mut()) {
                (Rel::Equal, Some(rank)) => rank.terms.push(term),
                (Rel::Less | Rel::More, _) => ranks.push(Rank { terms: vec![term], strict: true }),
                (Rel::LessEqual | Rel::MoreEqual, _) => {
                    ranks.push(Rank { terms: vec![term], strict: false });
                }
                _ => return Ok(None),
            }
        }
        if falls {
            // A rank says whether it is strictly greater than the one below it.
            let steps: Vec<bool> = ranks.iter().skip(1).rev().map(|rank| rank.strict).collect();
            ranks.reverse();
            for (rank, strict) in ranks.iter_mut().zip([true].into_iter().chain(steps)) {
                rank.strict = strict;
            }
        }
        Ok(Some(Value::Ranks(ranks)))
    }
}
