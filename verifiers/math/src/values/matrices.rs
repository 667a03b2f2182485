//! Arithmetic of vectors and matrices: sums, multiples, products, powers, determinants.

use super::value::Value;
use crate::algebra::{Canon, Context, negated};
use crate::stop::Stop;

/// Larger determinants are not computed.
const DETERMINANT_MAX: usize = 5;
/// Higher powers are not computed.
const POWER_MAX: i64 = 64;
/// The entries of a matrix, row by row.
type Rows = Vec<Vec<Canon>>;

/// The product of two matrices. Points have none.
pub(crate) fn array_product(cx: &mut Context, one: &Value, two: &Value) -> Result<Value, Stop> {
    let (Value::Matrix(one), Value::Matrix(two)) = (one, two) else {
        return Err(Stop::Unreadable);
    };
    let product = rows_product(cx, &entries(one)?, &entries(two)?)?;
    Ok(matrix(product))
}

/// A matrix to an integer power; to a negative one where it has an inverse.
pub(crate) fn matrix_power(
    cx: &mut Context,
    rows: &[Vec<Value>],
    exponent: &Canon,
) -> Result<Value, Stop> {
    let exponent = exponent.as_integer().filter(|value| value.abs() <= POWER_MAX);
    let exponent = exponent.ok_or(Stop::Unreadable)?;
    let mut square = entries(rows)?;
    if square.iter().any(|row| row.len() != square.len()) {
        return Err(Stop::Unreadable);
    }
    if exponent < 0 {
        square = inverse(cx, &square)?;
    }
    let mut left = exponent.abs();
    let mut power = identity(square.len());
    while left > 0 {
        if left % 2 == 1 {
            power = rows_product(cx, &power, &square)?;
        }
        left /= 2;
        if left > 0 {
            square = rows_product(cx, &square, &square)?;
        }
    }
    Ok(matrix(power))
}

fn rows_product(cx: &mut Context, one: &[Vec<Canon>], two: &[Vec<Canon>]) -> Result<Rows, Stop> {
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
                cx.meter.spend(20)?;
                let right = others.get(column).ok_or(Stop::Unreadable)?;
                let term = cx.mul(left, right)?;
                sum = cx.add(&sum, &term)?;
            }
            line.push(sum);
        }
        product.push(line);
    }
    Ok(product)
}

/// The determinant of a square matrix.
pub(crate) fn determinant_of(cx: &mut Context, array: &Value) -> Result<Canon, Stop> {
    let Value::Matrix(rows) = array else { return Err(Stop::Unreadable) };
    determinant(cx, &entries(rows)?)
}

/// The determinant, along its first row.
fn determinant(cx: &mut Context, rows: &[Vec<Canon>]) -> Result<Canon, Stop> {
    cx.meter.spend(20)?;
    if rows.len() > DETERMINANT_MAX || rows.iter().any(|row| row.len() != rows.len()) {
        return Err(Stop::Unreadable);
    }
    let Some(first) = rows.first() else { return Ok(Canon::int(1)) };
    let mut sum = Canon::int(0);
    for (at, entry) in first.iter().enumerate() {
        let minor = determinant(cx, &without(rows, 0, at))?;
        let term = cx.mul(entry, &minor)?;
        sum = if at % 2 == 0 { cx.add(&sum, &term)? } else { cx.sub(&sum, &term)? };
    }
    Ok(sum)
}

/// The inverse, by the determinants of its minors.
fn inverse(cx: &mut Context, rows: &[Vec<Canon>]) -> Result<Rows, Stop> {
    let whole = determinant(cx, rows)?;
    let mut inverse = Vec::with_capacity(rows.len());
    for row in 0..rows.len() {
        let mut line = Vec::with_capacity(rows.len());
        for column in 0..rows.len() {
            let minor = determinant(cx, &without(rows, column, row))?;
            let minor = if (row + column) % 2 == 0 { minor } else { negated(&minor) };
            line.push(cx.div(&minor, &whole)?);
        }
        inverse.push(line);
    }
    Ok(inverse)
}

pub(crate) fn scaled_array(cx: &mut Context, array: &Value, scale: &Canon) -> Result<Value, Stop> {
    cx.meter.spend(20)?;
    Ok(match array {
        Value::Scalar(scalar) => Value::plain(cx.mul(&scalar.canon, scale)?),
        Value::Tuple { open: '(', close: ')', items } => {
            let items = items.iter().map(|item| scaled_array(cx, item, scale));
            Value::point(items.collect::<Result<_, _>>()?)
        }
        Value::Matrix(rows) => {
            let mut scaled = Vec::with_capacity(rows.len());
            for row in rows {
                let row = row.iter().map(|item| scaled_array(cx, item, scale));
                scaled.push(row.collect::<Result<Vec<_>, _>>()?);
            }
            Value::Matrix(scaled)
        }
        _ => return Err(Stop::Unreadable),
    })
}

pub(crate) fn added_arrays(cx: &mut Context, one: &Value, two: &Value) -> Result<Value, Stop> {
    cx.meter.spend(20)?;
    Ok(match (one, two) {
        (Value::Scalar(one), Value::Scalar(two)) => Value::plain(cx.add(&one.canon, &two.canon)?),
        (
            Value::Tuple { open: '(', items: one, .. },
            Value::Tuple { open: '(', items: two, .. },
        ) => Value::point(added_items(cx, one, two)?),
        (Value::Matrix(one), Value::Matrix(two)) if one.len() == two.len() => {
            let rows = one.iter().zip(two).map(|(one, two)| added_items(cx, one, two));
            Value::Matrix(rows.collect::<Result<_, _>>()?)
        }
        _ => return Err(Stop::Unreadable),
    })
}

fn added_items(cx: &mut Context, one: &[Value], two: &[Value]) -> Result<Vec<Value>, Stop> {
    if one.len() != two.len() {
        return Err(Stop::Unreadable);
    }
    one.iter().zip(two).map(|(one, two)| added_arrays(cx, one, two)).collect()
}

/// The transpose.
pub(crate) fn transposed(rows: &[Vec<Value>]) -> Result<Vec<Vec<Value>>, Stop> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width)
        .map(|at| rows.iter().map(|row| row.get(at).cloned().ok_or(Stop::Unreadable)).collect())
        .collect()
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
