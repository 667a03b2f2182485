//! Lists, sets, points and matrices, compared element by element.

use super::Comparer;
use super::judged::{Equivalence, Rung, both};
use super::rounding::with_common_places;
use crate::stop::Stop;
use crate::values::Value;

/// Lists of more elements are not matched in any order.
const PIECES_MAX: usize = 500;

impl Comparer<'_> {
    pub(crate) fn containers(
        &mut self,
        reference: &Value,
        answer: &Value,
    ) -> Result<Equivalence, Stop> {
        let judged = self.containers_as_written(reference, answer)?;
        if judged == Equivalence::Unequal
            && let Some(reference) = with_common_places(reference)
        {
            return self.containers_as_written(&reference, answer);
        }
        Ok(judged)
    }

    fn containers_as_written(
        &mut self,
        reference: &Value,
        answer: &Value,
    ) -> Result<Equivalence, Stop> {
        match (reference, answer) {
            (
                Value::Tuple { open, close, items: one },
                Value::Tuple { open: open_two, close: close_two, items: two },
            ) => {
                let same = open == open_two && close == close_two;
                if one.len() == 2 && !same {
                    Ok(Equivalence::Unequal)
                } else {
                    self.in_order(one, two)
                }
            }
            // [1, 2] is an interval and not a list of two numbers; (1, 2) may be a point.
            (Value::Tuple { open: '(', items: one, .. }, Value::List(two))
            | (Value::List(one), Value::Tuple { open: '(', items: two, .. }) => {
                self.in_order(one, two)
            }
            (Value::Tuple { items: one, .. }, Value::List(two))
            | (Value::List(one), Value::Tuple { items: two, .. })
                if one.len() != 2 =>
            {
                self.in_order(one, two)
            }
            (Value::List(one), Value::List(two)) if self.strict.order => self.in_order(one, two),
            (Value::List(one) | Value::Set(one), Value::List(two) | Value::Set(two)) => {
                self.in_any_order(one, two)
            }
            (Value::Matrix(one), Value::Matrix(two)) => self.matrices(one, two),
            (Value::Matrix(rows), Value::Tuple { items, .. }) => self.in_order(&flat(rows), items),
            (Value::Tuple { items, .. }, Value::Matrix(rows)) => self.in_order(items, &flat(rows)),
            (Value::Set(one), two @ (Value::Scalar(_) | Value::Tuple { .. })) => {
                self.in_any_order(one, std::slice::from_ref(two))
            }
            (one @ (Value::Scalar(_) | Value::Tuple { .. }), Value::Set(two)) => {
                self.in_any_order(std::slice::from_ref(one), two)
            }
            _ => Ok(Equivalence::Unequal),
        }
    }

    pub(crate) fn in_order(&mut self, one: &[Value], two: &[Value]) -> Result<Equivalence, Stop> {
        if one.len() != two.len() {
            return Ok(Equivalence::Unequal);
        }
        let mut whole = Equivalence::Equal(Rung::Bytes);
        for (one, two) in one.iter().zip(two) {
            whole = both(whole, self.members(one, two)?);
            if whole == Equivalence::Unequal {
                break;
            }
        }
        Ok(whole)
    }

    /// Whether the elements of both sides can be paired so that each pair is equal.
    fn in_any_order(&mut self, one: &[Value], two: &[Value]) -> Result<Equivalence, Stop> {
        let points =
            |values: &[Value]| values.iter().all(|value| matches!(value, Value::Tuple { .. }));
        if one.len() != two.len() && points(one) && points(two) {
            // A repeated solution counts once.
            let (first, second) = (self.distinct(one)?, self.distinct(two)?);
            if first.len() == second.len() {
                return self.in_any_order(&first, &second);
            }
        }
        if one.len() != two.len() || one.len() > PIECES_MAX {
            return Ok(if one.len() == two.len() {
                Equivalence::Undecided
            } else {
                Equivalence::Unequal
            });
        }
        let mut free: Vec<&Value> = two.iter().collect();
        let mut whole = Equivalence::Equal(Rung::Bytes);
        for one in one {
            let mut found = None;
            for (at, two) in free.iter().enumerate() {
                match self.members(one, two)? {
                    Equivalence::Unequal => {}
                    Equivalence::Undecided => whole = Equivalence::Undecided,
                    Equivalence::Equal(rung) => {
                        found = Some((at, rung));
                        break;
                    }
                }
            }
            let Some((at, rung)) = found else {
                return Ok(if whole == Equivalence::Undecided {
                    whole
                } else {
                    Equivalence::Unequal
                });
            };
            free.swap_remove(at);
            whole = both(whole, Equivalence::Equal(rung));
        }
        Ok(whole)
    }

    /// Compares members of two containers: a set of one number is another member than the number.
    pub(crate) fn members(&mut self, one: &Value, two: &Value) -> Result<Equivalence, Stop> {
        let set = |value: &Value| matches!(value, Value::Set(_));
        let other = |value: &Value| matches!(value, Value::Scalar(_) | Value::Tuple { .. });
        if (set(one) && other(two)) || (other(one) && set(two)) {
            return Ok(Equivalence::Unequal);
        }
        self.compare(one, two)
    }

    /// The values without duplicates.
    fn distinct(&mut self, values: &[Value]) -> Result<Vec<Value>, Stop> {
        let mut kept: Vec<Value> = Vec::with_capacity(values.len());
        for value in values.iter().take(PIECES_MAX) {
            let mut known = false;
            for have in &kept {
                known = known || matches!(self.members(have, value)?, Equivalence::Equal(_));
            }
            if !known {
                kept.push(value.clone());
            }
        }
        Ok(kept)
    }

    fn matrices(&mut self, one: &[Vec<Value>], two: &[Vec<Value>]) -> Result<Equivalence, Stop> {
        if one.len() != two.len() {
            return Ok(Equivalence::Unequal);
        }
        let mut whole = Equivalence::Equal(Rung::Bytes);
        for (one, two) in one.iter().zip(two) {
            whole = both(whole, self.in_order(one, two)?);
        }
        Ok(whole)
    }
}

fn flat(rows: &[Vec<Value>]) -> Vec<Value> {
    rows.iter().flatten().cloned().collect()
}
