//! Arithmetic with vectors and matrices, and values that branch on conditions.

use super::Builder;
use crate::algebra::{Canon, Context};
use crate::sets::{Region, complement, union};
use crate::stop::Stop;
use crate::syntax::{Id, Join, Node};
use crate::values::{Value, added_arrays, array_product, matrix_power, scaled_array, transposed};

impl Builder<'_> {
    /// Whether a node is a vector or a matrix, or arithmetic with one.
    pub(crate) fn is_array(&self, id: Id) -> Result<bool, Stop> {
        self.has_array(id, true)
    }

    /// Whether a node is a matrix or, with `tuples`, a vector, or arithmetic with one. The power of
    /// a vector is not an array, unless it is its transpose.
    fn has_array(&self, id: Id, tuples: bool) -> Result<bool, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Matrix(_) => true,
            Node::Group { open: '(', close: ')', items } => tuples && items.len() > 1,
            Node::Neg(inner) | Node::Div(inner, _) => self.has_array(*inner, tuples)?,
            Node::Pow(base, exponent) => {
                let tuples =
                    tuples && matches!(self.tree.get(*exponent)?, Node::Var(name) if name == "T");
                self.has_array(*base, tuples)?
            }
            Node::Mul(parts) | Node::Add(parts) => {
                for part in parts {
                    if self.has_array(*part, tuples)? {
                        return Ok(true);
                    }
                }
                false
            }
            _ => false,
        })
    }

    /// The value of arithmetic with a vector or a matrix.
    pub(crate) fn array(&mut self, id: Id) -> Result<Value, Stop> {
        let tree = self.tree;
        match tree.get(id)? {
            Node::Neg(inner) => {
                let inner = self.value(*inner)?;
                scaled_array(self.cx, &inner, &Canon::int(-1))
            }
            Node::Div(inner, below) => {
                let (inner, below) = (self.value(*inner)?, self.canon(*below)?);
                let scale = self.cx.div(&Canon::int(1), &below)?;
                scaled_array(self.cx, &inner, &scale)
            }
            Node::Pow(base, exponent) => match self.value(*base)? {
                Value::Matrix(rows) => match self.tree.get(*exponent)? {
                    Node::Var(name) if name == "T" => transposed(&rows).map(Value::Matrix),
                    _ => {
                        let exponent = self.canon(*exponent)?;
                        matrix_power(self.cx, &rows, &exponent)
                    }
                },
                Value::Tuple { items, .. } => {
                    Ok(Value::Matrix(items.into_iter().map(|item| vec![item]).collect()))
                }
                _ => Err(Stop::Unreadable),
            },
            Node::Mul(factors) => {
                let (mut scale, mut array) = (Canon::int(1), None);
                for factor in factors {
                    if self.is_array(*factor)? {
                        let factor = self.value(*factor)?;
                        array = Some(match array {
                            Some(before) => array_product(self.cx, &before, &factor)?,
                            None => factor,
                        });
                    } else {
                        let factor = self.canon(*factor)?;
                        scale = self.cx.mul(&scale, &factor)?;
                    }
                }
                scaled_array(self.cx, &array.ok_or(Stop::Unreadable)?, &scale)
            }
            Node::Add(terms) => {
                let mut sum = None;
                for term in terms {
                    let term = self.value(*term)?;
                    sum = Some(match sum {
                        Some(sum) => added_arrays(self.cx, &sum, &term)?,
                        None => term,
                    });
                }
                sum.ok_or(Stop::Unreadable)
            }
            _ => Err(Stop::Unreadable),
        }
    }

    /// The branches of a case distinction; without conditions, clauses that all hold.
    pub(crate) fn cases(&mut self, branches: &[(Id, Option<Id>)]) -> Result<Value, Stop> {
        let mut values = Vec::with_capacity(branches.len());
        for (value, condition) in branches {
            let value = self.value(*value)?;
            let condition = match condition {
                Some(condition) => Some(self.value(*condition)?),
                None => None,
            };
            values.push((value, condition));
        }
        close_cases(self.cx, &mut values)?;
        if values.iter().any(|(_, condition)| condition.is_some()) {
            return Ok(Value::Cases(values));
        }
        self.joined(values.into_iter().map(|(value, _)| value).collect(), Join::And)
    }
}

/// Gives the last branch the complement of the other conditions, where it has none of its own.
fn close_cases(cx: &mut Context, branches: &mut [(Value, Option<Value>)]) -> Result<(), Stop> {
    let Some(((_, last @ None), others)) = branches.split_last_mut() else { return Ok(()) };
    let mut taken = Region::empty();
    for (_, condition) in others.iter() {
        let Some(Value::Region(region)) = condition else { return Ok(()) };
        if taken.var.is_some() && taken.var != region.var {
            return Ok(());
        }
        taken = union(cx, taken, region.clone())?;
    }
    if taken.var.is_some() {
        *last = Some(Value::Region(complement(cx, &taken)?));
    }
    Ok(())
}
