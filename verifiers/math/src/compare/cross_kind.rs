//! Values of different kinds that may be equal: a family and a list, a vector and a sum of unit
//! vectors, labelled values and a list, a set with a repeated element.

use super::judged::{Equivalence, Rung, both};
use super::{Comparer, judged};
use crate::algebra::{Canon, Exp, Kind, Poly, cofactor, names_in};
use crate::sets::{family, same_family, stated_value};
use crate::stop::Stop;
use crate::values::{Named, Scalar, Value, family_of, repeats, united};

/// The most elements of sets that are compared with one another.
const ELEMENTS_MAX: usize = 500;

impl Comparer<'_> {
    /// Compares values of different kinds. `None` where the comparison by kind decides.
    pub(crate) fn across(
        &mut self,
        reference: &Value,
        answer: &Value,
    ) -> Result<Option<Equivalence>, Stop> {
        if let (Value::Scalar(_) | Value::Named(_), Some(inner)) =
            (reference, self.without_restriction(answer))
        {
            return self.compare(reference, inner).map(Some);
        }
        match (reference, answer) {
            (Value::Family(_), _) | (_, Value::Family(_)) => {
                self.families(reference, answer).map(Some)
            }
            (Value::Scalar(_), Value::Relation(relation)) => {
                match stated_value(self.cx, relation) {
                    Some(value) => match self.compare(reference, &Value::plain(value))? {
                        equal @ Equivalence::Equal(_) => Ok(Some(equal)),
                        _ => self.described(relation, reference),
                    },
                    None => self.described(relation, reference),
                }
            }
            (
                Value::Relation(relation),
                other @ (Value::Scalar(_) | Value::Set(_) | Value::List(_)),
            )
            | (other @ (Value::Set(_) | Value::List(_)), Value::Relation(relation)) => {
                self.described(relation, other)
            }
            (Value::Relation(relation), Value::Named(named))
            | (Value::Named(named), Value::Relation(relation))
                if named.equation.is_none() =>
            {
                self.described(relation, &Value::Named(named.clone()))
            }
            (Value::Region(region), Value::List(items))
            | (Value::List(items), Value::Region(region)) => match united(self.cx, items)? {
                Some(whole) => self.same_region(region, &whole).map(Some),
                None => Ok(None),
            },
            (Value::Scalar(scalar), vector @ (Value::Tuple { .. } | Value::Matrix(_))) => {
                self.vector(scalar, vector, true)
            }
            (vector @ (Value::Tuple { .. } | Value::Matrix(_)), Value::Scalar(scalar)) => {
                self.vector(scalar, vector, false)
            }
            (Value::Set(one), Value::Set(two)) if one.len() != two.len() => {
                self.same_elements(one, two).map(Some)
            }
            (Value::Cases(one), Value::Cases(two)) => self.branches(one, two).map(Some),
            (Value::List(one), Value::List(two)) if one.len() == two.len() => {
                match self.labelled(one, two)? {
                    None if repeats(self.cx, reference) => self.repeated(reference, answer),
                    judged => Ok(judged),
                }
            }
            (Value::List(one), Value::Tuple { items: two, .. })
            | (Value::Tuple { items: one, .. }, Value::List(two))
                if one.len() == two.len() =>
            {
                self.labelled(one, two)
            }
            (
                Value::Tuple { open: '(', items: one, .. },
                Value::Tuple { open: '(', items: two, .. },
            ) if one.len() == two.len() => match (letters(one), letters(two)) {
                (Some(_), Some(_)) => self.in_order(&by_label(one), &by_label(two)).map(Some),
                _ => self.labelled(one, two),
            },
            (one, two) if repeats(self.cx, one) => self.repeated(one, two),
            _ => Ok(None),
        }
    }

    /// A function without the restriction of its own variable after it: `2x + 1, x > 0`.
    fn without_restriction<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let Value::List(items) = value else { return None };
        let [inner, Value::Region(region)] = items.as_slice() else { return None };
        let name = region.var.as_ref()?;
        let form = match inner {
            Value::Scalar(scalar) => scalar,
            Value::Named(named) if named.parameter.is_some() || named.label == "y" => {
                let Value::Scalar(scalar) = &named.value else { return None };
                scalar
            }
            _ => return None,
        };
        names_in(self.cx, &form.canon).contains(name).then_some(inner)
    }

    /// Compares two families, at least one of which is written as one.
    fn families(&mut self, one: &Value, two: &Value) -> Result<Equivalence, Stop> {
        let usual = family::usual();
        let (Some(one), Some(two)) =
            (family_of(self.cx, one, &usual)?, family_of(self.cx, two, &usual)?)
        else {
            return Ok(Equivalence::Unequal);
        };
        let same = same_family(self.cx, &one, &two)?;
        Ok(same.map_or(Equivalence::Undecided, |same| judged::judged(same, Rung::Polynomial)))
    }

    /// Compares values as families where only their form suggests it: this never makes them
    /// unequal.
    pub(crate) fn repeated(
        &mut self,
        one: &Value,
        two: &Value,
    ) -> Result<Option<Equivalence>, Stop> {
        let judged = self.families(one, two)?;
        Ok(matches!(judged, Equivalence::Equal(_)).then_some(judged))
    }

    /// `i + 2j + 3k` as a vector of two or three components.
    fn vector(
        &mut self,
        scalar: &Scalar,
        vector: &Value,
        scalar_first: bool,
    ) -> Result<Option<Equivalence>, Stop> {
        if let Value::Matrix(rows) = vector
            && let [row] = rows.as_slice()
            && let [only] = row.as_slice()
        {
            // A row times a column is a number.
            let number = Value::Scalar(Box::new(scalar.clone()));
            let (one, two) = if scalar_first { (&number, only) } else { (only, &number) };
            return self.compare(one, two).map(Some);
        }
        let items: Vec<Value> = match vector {
            Value::Tuple { items, .. } => items.clone(),
            Value::Matrix(rows) if rows.len() == 1 || rows.iter().all(|row| row.len() == 1) => {
                rows.iter().flatten().cloned().collect()
            }
            _ => return Ok(None),
        };
        let Some(parts) = self.components(&scalar.canon, items.len()) else { return Ok(None) };
        let (one, two) = if scalar_first { (&parts, &items) } else { (&items, &parts) };
        self.in_order(one, two).map(Some)
    }

    /// The components of a sum of multiples of i, j and k.
    fn components(&self, canon: &Canon, count: usize) -> Option<Vec<Value>> {
        if !(2..=3).contains(&count) || !canon.den.is_one() {
            return None;
        }
        let mut parts = vec![Poly::default(); count];
        for (mono, coef) in &canon.num.0 {
            let mut units = mono.iter().filter_map(|(atom, exp)| {
                let axis = match self.cx.kind(*atom)? {
                    Kind::Imaginary => 0,
                    Kind::Var(name) if name == "j" => 1,
                    Kind::Var(name) if name == "k" => 2,
                    _ => return None,
                };
                Some((*atom, axis, *exp))
            });
            let (Some((atom, axis, Exp::ONE)), None) = (units.next(), units.next()) else {
                return None;
            };
            parts.get_mut(axis)?.0.push((cofactor(mono, atom), coef.clone()));
        }
        let value = |part: Poly| Value::plain(Canon::poly(Poly::sorted(part.0)));
        Some(parts.into_iter().map(value).collect())
    }

    /// Compares sets, in which an element may be repeated: each element of one is in the other.
    fn same_elements(&mut self, one: &[Value], two: &[Value]) -> Result<Equivalence, Stop> {
        if one.len().max(two.len()) > ELEMENTS_MAX {
            return Ok(Equivalence::Undecided);
        }
        let mut whole = Equivalence::Equal(Rung::Bytes);
        for (items, others, swapped) in [(one, two, false), (two, one, true)] {
            for item in items {
                let mut found = Equivalence::Unequal;
                for other in others {
                    let judged = if swapped {
                        self.members(other, item)?
                    } else {
                        self.members(item, other)?
                    };
                    match judged {
                        Equivalence::Equal(_) => {
                            found = judged;
                            break;
                        }
                        Equivalence::Undecided => found = judged,
                        Equivalence::Unequal => {}
                    }
                }
                whole = both(whole, found);
            }
        }
        Ok(whole)
    }

    /// `a = 3, b = 4` against `3, 4`: in the order written, or in that of the letters.
    fn labelled(&mut self, one: &[Value], two: &[Value]) -> Result<Option<Equivalence>, Stop> {
        let (labels, swapped) = match (letters(one), letters(two)) {
            (Some(labels), None) => (labels, false),
            (None, Some(labels)) => (labels, true),
            _ => return Ok(None),
        };
        let bare = if swapped { one } else { two };
        if bare.iter().any(|value| matches!(value, Value::Named(_) | Value::Region(_))) {
            return Ok(None);
        }
        let mut sorted = labels.clone();
        sorted.sort_by(|a, b| a.label.cmp(&b.label));
        let mut judged = Equivalence::Unequal;
        for labels in [labels, sorted] {
            let values: Vec<Value> = labels.iter().map(|named| named.value.clone()).collect();
            judged =
                if swapped { self.in_order(bare, &values)? } else { self.in_order(&values, bare)? };
            if matches!(judged, Equivalence::Equal(_)) {
                break;
            }
        }
        Ok(Some(judged))
    }

    /// Whether the branches of both sides can be paired with equal values and equal conditions.
    fn branches(
        &mut self,
        one: &[(Value, Option<Value>)],
        two: &[(Value, Option<Value>)],
    ) -> Result<Equivalence, Stop> {
        if one.len() != two.len() || one.len() > ELEMENTS_MAX {
            return Ok(Equivalence::Unequal);
        }
        let mut free: Vec<&(Value, Option<Value>)> = two.iter().collect();
        let mut whole = Equivalence::Equal(Rung::Bytes);
        for (value, condition) in one {
            let mut best = (Equivalence::Unequal, 0);
            for (at, (other, other_condition)) in free.iter().enumerate() {
                let conditions = match (condition, other_condition) {
                    (Some(one), Some(two)) => self.compare(one, two)?,
                    (None, None) => Equivalence::Equal(Rung::Bytes),
                    _ => Equivalence::Unequal,
                };
                let judged = both(conditions, self.compare(value, other)?);
                if best.0 == Equivalence::Unequal || matches!(judged, Equivalence::Equal(_)) {
                    best = (judged, at);
                }
                if matches!(judged, Equivalence::Equal(_)) {
                    break;
                }
            }
            whole = both(whole, best.0);
            if whole == Equivalence::Unequal {
                break;
            }
            free.remove(best.1);
        }
        Ok(whole)
    }
}

/// The labelled values, where the labels are different letters.
fn letters(items: &[Value]) -> Option<Vec<&Named>> {
    let mut labels: Vec<&Named> = Vec::with_capacity(items.len());
    for item in items {
        let Value::Named(named) = item else { return None };
        let known = labels.iter().any(|have| have.label == named.label);
        if named.label.chars().count() != 1 || named.parameter.is_some() || known {
            return None;
        }
        labels.push(named);
    }
    (labels.len() > 1).then_some(labels)
}

/// Labelled values in the order of their labels.
fn by_label(items: &[Value]) -> Vec<Value> {
    let mut sorted = items.to_vec();
    sorted.sort_by(|one, two| match (one, two) {
        (Value::Named(one), Value::Named(two)) => one.label.cmp(&two.label),
        _ => std::cmp::Ordering::Equal,
    });
    sorted
}
