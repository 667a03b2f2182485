//! Products, powers, inverses and determinants of matrices.

use super::{Builder, Canon, Ctx, Id, Node, Stop, Value};
use crate::checks::math::algebra::negated;
use crate::checks::math::number;

/// Larger determinants are not computed.
const DETERMINANT_MAX: usize = 5;
/// Higher powers are not computed.
const POWER_MAX: i64 = 64;

/// The entries of a matrix, row by row.
type Rows = Vec<Vec<Canon>>;

impl Builder<'_, '_, '_> {
    /// Whether a node is a matrix, or arithmetic with one: no row of numbers in brackets.
    pub(super) fn is_matrix(&self, id: Id) -> Result<bool, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Matrix(_) => true,
            Node::Neg(inner) | Node::Div(inner, _) | Node::Pow(inner, _) => {
                self.is_matrix(*inner)?
            }
            Node::Mul(parts) | Node::Add(parts) => {
                for part in parts {
                    if self.is_matrix(*part)? {
                        return Ok(true);
                    }
                }
                false
            }
            _ => false,
        })
    }
}

impl Ctx<'_, '_> {
    /// One matrix times another. Points have no such product.
    pub(super) fn array_product(&mut self, one: &Value, two: &Value) -> Result<Value, Stop> {
        let (Value::Matrix(one), Value::Matrix(two)) = (one, two) else {
            return Err(Stop::Unreadable);
        };
        let product = self.rows_product(&entries(one)?, &entries(two)?)?;
        Ok(matrix(product))
    }

    /// A matrix to a whole power; to a negative one where it has an inverse.
    pub(super) fn matrix_power(
        &mut self,
        rows: &[Vec<Value>],
        exponent: &Canon,
    ) -> Result<Value, Stop> {
        let exponent = exponent.as_rational().and_then(|value| number::whole(&value));
        let exponent = exponent.filter(|value| value.abs() <= POWER_MAX).ok_or(Stop::Unreadable)?;
        let mut square = entries(rows)?;
        if square.iter().any(|row| row.len() != square.len()) {
            return Err(Stop::Unreadable);
        }
        if exponent < 0 {
            square = self.inverse(&square)?;
        }
        let mut left = exponent.abs();
        let mut power = identity(square.len());
        while left > 0 {
            if left % 2 == 1 {
                power = self.rows_product(&power, &square)?;
            }
            left /= 2;
            if left > 0 {
                square = self.rows_product(&square, &square)?;
            }
        }
        Ok(matrix(power))
    }

    fn rows_product(&mut self, one: &[Vec<Canon>], two: &[Vec<Canon>]) -> Result<Rows, Stop> {
        let width = two.first().map_or(0, Vec::len);
        let fits = one.iter().all(|row| row.len() == two.len())
            && two.iter().all(|row| row.len() == width)
            && width > 0;
        if !fits {
            return Err(Stop::Unreadable);
        }
        let mut product = Vec::with_capacity(one.len());
        for row in one {
            let mut line = Vec::with_capacity(width);
            for column in 0..width {
                let mut sum = Canon::int(0);
                for (left, others) in row.iter().zip(two) {
                    self.meter.spend(20)?;
                    let right = others.get(column).ok_or(Stop::Unreadable)?;
                    let term = self.mul(left, right)?;
                    sum = self.add(&sum, &term)?;
                }
                line.push(sum);
            }
            product.push(line);
        }
        Ok(product)
    }

    /// The determinant of a square matrix.
    pub(in crate::checks::math) fn determinant_of(&mut self, array: &Value) -> Result<Canon, Stop> {
        let Value::Matrix(rows) = array else { return Err(Stop::Unreadable) };
        self.determinant(&entries(rows)?)
    }

    /// The determinant, along its first row.
    fn determinant(&mut self, rows: &[Vec<Canon>]) -> Result<Canon, Stop> {
        self.meter.spend(20)?;
        if rows.len() > DETERMINANT_MAX || rows.iter().any(|row| row.len() != rows.len()) {
            return Err(Stop::Unreadable);
        }
        let Some(first) = rows.first() else { return Ok(Canon::int(1)) };
        let mut sum = Canon::int(0);
        for (at, entry) in first.iter().enumerate() {
            let minor = self.determinant(&without(rows, 0, at))?;
            let term = self.mul(entry, &minor)?;
            sum = if at % 2 == 0 { self.add(&sum, &term)? } else { self.sub(&sum, &term)? };
        }
        Ok(sum)
    }

    /// The inverse, by the determinants of its minors.
    fn inverse(&mut self, rows: &[Vec<Canon>]) -> Result<Rows, Stop> {
        let whole = self.determinant(rows)?;
        let mut inverse = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let mut line = Vec::with_capacity(rows.len());
            for column in 0..rows.len() {
                let minor = self.determinant(&without(rows, column, row))?;
                let minor = if (row + column) % 2 == 0 { minor } else { negated(&minor) };
                line.push(self.div(&minor, &whole)?);
            }
            inverse.push(line);
        }
        Ok(inverse)
    }
}

fn identity(size: usize) -> Rows {
    let row = |at: usize| (0..size).map(|column| Canon::int(i64::from(column == at))).collect();
    (0..size).map(row).collect()
}

/// The rows without one row and one column.
fn without(rows: &[Vec<Canon>], row: usize, column: usize) -> Rows {
    let others = rows.iter().enumerate().filter(|(at, _)| *at != row);
    others
        .map(|(_, line)| {
            let kept = line.iter().enumerate().filter(|(at, _)| *at != column);
            kept.map(|(_, entry)| entry.clone()).collect()
        })
        .collect()
}

fn matrix(rows: Rows) -> Value {
    Value::Matrix(rows.into_iter().map(|row| row.into_iter().map(Value::plain).collect()).collect())
}

/// The entries, where all are plain values.
fn entries(rows: &[Vec<Value>]) -> Result<Rows, Stop> {
    let entry = |value: &Value| match value {
        Value::Scalar(scalar) if scalar.unit.is_none() => Ok(scalar.canon.clone()),
        _ => Err(Stop::Unreadable),
    };
    rows.iter().map(|row| row.iter().map(entry).collect()).collect()
}
