//! Sets of real numbers: unions of intervals, and the inequalities that describe them.

use std::cmp::Ordering;

use super::Stop;
use super::algebra::negated;
use super::number::Exp;
use super::poly::{Canon, Ctx, Kind, Poly};
use super::value::{Interval, Region, Relation, Sign, Value};

/// The most intervals of one set.
const PARTS_MAX: usize = 200;

impl Ctx<'_, '_> {
    /// The value as a set of real numbers, where it can be read as one.
    pub(super) fn region(&mut self, value: &Value) -> Result<Option<Region>, Stop> {
        Ok(match value {
            Value::Region(region) => Some(region.clone()),
            Value::Tuple { open, close, items } => match items.as_slice() {
                [low, high] => interval(low, high, *open == '[', *close == ']'),
                _ => None,
            },
            Value::Named(named) => {
                let inner = match &named.value {
                    point @ Value::Scalar(_) => self.points(std::slice::from_ref(point))?,
                    other => self.region(other)?,
                };
                inner.map(|region| Region { var: Some(named.label.clone()), ..region })
            }
            Value::Set(items) => self.points(items)?,
            Value::Relation(relation) => self.solution(relation)?,
            _ => None,
        })
    }

    fn points(&mut self, items: &[Value]) -> Result<Option<Region>, Stop> {
        let mut region = Region::empty();
        for item in items {
            let Value::Scalar(scalar) = item else { return Ok(None) };
            let at = Some(scalar.canon.clone());
            let point = Interval { low: at.clone(), high: at, low_closed: true, high_closed: true };
            region = self.union(region, Region { var: None, parts: vec![point] })?;
        }
        Ok(Some(region))
    }

    /// Which of two numbers is less, where that can be told.
    pub(super) fn order(&mut self, a: &Canon, b: &Canon) -> Result<Option<Ordering>, Stop> {
        if self.equal(a, b)? {
            return Ok(Some(Ordering::Equal));
        }
        let difference = self.sub(a, b)?;
        if let Some(value) = difference.as_rational() {
            return Ok(Some(value.cmp(&dashu_ratio::RBig::ZERO)));
        }
        let near = self.approx(&difference).filter(|(near, error)| near.abs() > *error);
        Ok(near.map(|(near, _)| near.total_cmp(&0.0)))
    }

    /// Both together, with what overlaps or touches joined.
    pub(super) fn union(&mut self, a: Region, b: Region) -> Result<Region, Stop> {
        let var = a.var.or(b.var);
        let mut parts = a.parts;
        for part in b.parts {
            parts = self.insert(parts, part)?;
        }
        if parts.len() > PARTS_MAX { Err(Stop::Cap) } else { Ok(Region { var, parts }) }
    }

    /// Puts one interval among sorted ones.
    fn insert(&mut self, parts: Vec<Interval>, new: Interval) -> Result<Vec<Interval>, Stop> {
        let mut new = new;
        let mut before = Vec::with_capacity(parts.len() + 1);
        let mut after = Vec::new();
        for part in parts {
            if self.apart(&part, &new)? {
                before.push(part);
            } else if self.apart(&new, &part)? {
                after.push(part);
            } else {
                new = self.hull(&part, &new)?;
            }
        }
        before.push(new);
        before.extend(after);
        Ok(before)
    }

    /// Whether `a` ends before `b` starts, with a gap between them.
    fn apart(&mut self, a: &Interval, b: &Interval) -> Result<bool, Stop> {
        let (Some(end), Some(start)) = (&a.high, &b.low) else { return Ok(false) };
        Ok(match self.order(end, start)? {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => !a.high_closed && !b.low_closed,
            Some(Ordering::Greater) => false,
            None => return Err(Stop::Cap),
        })
    }

    fn hull(&mut self, a: &Interval, b: &Interval) -> Result<Interval, Stop> {
        let (low, low_closed) =
            self.outer((&a.low, a.low_closed), (&b.low, b.low_closed), Ordering::Less)?;
        let (high, high_closed) =
            self.outer((&a.high, a.high_closed), (&b.high, b.high_closed), Ordering::Greater)?;
        Ok(Interval { low, high, low_closed, high_closed })
    }

    fn outer(
        &mut self,
        a: End<'_>,
        b: End<'_>,
        want: Ordering,
    ) -> Result<(Option<Canon>, bool), Stop> {
        let (Some(one), Some(two)) = (a.0, b.0) else { return Ok((None, false)) };
        Ok(match self.order(one, two)?.ok_or(Stop::Cap)? {
            Ordering::Equal => (a.0.clone(), a.1 || b.1),
            found if found == want => (a.0.clone(), a.1),
            _ => (b.0.clone(), b.1),
        })
    }

    pub(super) fn intersection(&mut self, a: &Region, b: &Region) -> Result<Region, Stop> {
        if a.parts.len().saturating_mul(b.parts.len()) > PARTS_MAX {
            return Err(Stop::Cap);
        }
        let var = a.var.clone().or_else(|| b.var.clone());
        let mut parts = Vec::new();
        for one in &a.parts {
            for two in &b.parts {
                parts.extend(self.overlap(one, two)?);
            }
        }
        Ok(Region { var, parts })
    }

    fn overlap(&mut self, a: &Interval, b: &Interval) -> Result<Option<Interval>, Stop> {
        let (low, low_closed) =
            self.inner((&a.low, a.low_closed), (&b.low, b.low_closed), Ordering::Greater)?;
        let (high, high_closed) =
            self.inner((&a.high, a.high_closed), (&b.high, b.high_closed), Ordering::Less)?;
        if let (Some(from), Some(to)) = (&low, &high) {
            let empty = match self.order(from, to)? {
                Some(Ordering::Greater) => true,
                Some(Ordering::Equal) => !(low_closed && high_closed),
                _ => false,
            };
            if empty {
                return Ok(None);
            }
        }
        Ok(Some(Interval { low, high, low_closed, high_closed }))
    }

    fn inner(
        &mut self,
        a: End<'_>,
        b: End<'_>,
        want: Ordering,
    ) -> Result<(Option<Canon>, bool), Stop> {
        Ok(match (a.0, b.0) {
            (None, _) => (b.0.clone(), b.1),
            (_, None) => (a.0.clone(), a.1),
            (Some(one), Some(two)) => match self.order(one, two)?.ok_or(Stop::Cap)? {
                Ordering::Equal => (a.0.clone(), a.1 && b.1),
                found if found == want => (a.0.clone(), a.1),
                _ => (b.0.clone(), b.1),
            },
        })
    }

    /// All real numbers outside.
    pub(super) fn complement(&mut self, region: &Region) -> Result<Region, Stop> {
        let mut rest = Region { var: region.var.clone(), ..Region::everything() };
        for part in &region.parts {
            let mut outside = Vec::new();
            if part.low.is_some() {
                let high_closed = !part.low_closed;
                outside.push(Interval {
                    low: None,
                    high: part.low.clone(),
                    low_closed: false,
                    high_closed,
                });
            }
            if part.high.is_some() {
                let low_closed = !part.high_closed;
                outside.push(Interval {
                    low: part.high.clone(),
                    high: None,
                    low_closed,
                    high_closed: false,
                });
            }
            rest = self.intersection(&rest, &Region { var: None, parts: outside })?;
        }
        Ok(rest)
    }

    /// An inequality in one variable as a union of intervals; others stay as they are.
    pub(super) fn solved(&mut self, relation: Relation) -> Result<Value, Stop> {
        let Some((name, slope, rest)) = self.linear(&relation.left) else {
            let solution = match self.solution(&relation) {
                Ok(None) => self.substituted_solution(&relation),
                solution => solution,
            };
            return Ok(match solution {
                Ok(Some(region)) => Value::Region(region),
                Ok(None) | Err(Stop::Cap) => Value::Relation(relation),
                Err(stop) => return Err(stop),
            });
        };
        let root = self.div(&negated(&rest), &slope)?;
        let falling = match self.order(&slope, &Canon::int(0))? {
            Some(Ordering::Less) => true,
            Some(_) => false,
            None => return Ok(Value::Relation(relation)),
        };
        let closed = relation.sign == Sign::NotPositive;
        let below = Interval {
            low: None,
            high: Some(root.clone()),
            low_closed: false,
            high_closed: closed,
        };
        let above =
            Interval { low: Some(root), high: None, low_closed: closed, high_closed: false };
        let parts = match relation.sign {
            Sign::Zero => return Ok(Value::Relation(relation)),
            Sign::NotZero => vec![below, above],
            _ if falling => vec![above],
            _ => vec![below],
        };
        Ok(Value::Region(Region { var: Some(name), parts }))
    }

    /// The variable, its factor and the rest, where a form is linear in its only variable. Bounds
    /// may hold other letters when the variable stands alone: `a < x`.
    fn linear(&self, value: &Canon) -> Option<(String, Canon, Canon)> {
        if !value.den.is_one() {
            return None;
        }
        let (mut slope, mut rest, mut found) = (Poly::default(), Poly::default(), None);
        for (mono, coef) in &value.num.0 {
            let varying: Vec<_> =
                mono.iter().filter(|(atom, _)| self.varies(*atom)).copied().collect();
            match varying.as_slice() {
                [] => rest.0.push((mono.clone(), coef.clone())),
                [(atom, exp)] if *exp == Exp::ONE && found.is_none_or(|have| have == *atom) => {
                    found = Some(*atom);
                    let others = mono.iter().filter(|(other, _)| other != atom).copied().collect();
                    slope.0.push((others, coef.clone()));
                }
                _ => return None,
            }
        }
        let name = match found.and_then(|atom| self.kind(atom)) {
            Some(Kind::Var(name)) => name.clone(),
            // 0 < f(x) < 1.
            Some(Kind::Fun(name, _)) if name.len() == 1 => (*name).to_owned(),
            _ => return None,
        };
        Some((name, Canon::poly(slope), Canon::poly(rest)))
    }
}

/// An end of an interval, and whether it belongs to it.
type End<'a> = (&'a Option<Canon>, bool);

fn interval(low: &Value, high: &Value, low_closed: bool, high_closed: bool) -> Option<Region> {
    let end = |value: &Value, lower: bool| match value {
        Value::Scalar(scalar) => Some(Some(scalar.canon.clone())),
        Value::Infinity { negative } if *negative == lower => Some(None),
        _ => None,
    };
    let (low, high) = (end(low, true)?, end(high, false)?);
    let (low_closed, high_closed) = (low_closed && low.is_some(), high_closed && high.is_some());
    Some(Region { var: None, parts: vec![Interval { low, high, low_closed, high_closed }] })
}
