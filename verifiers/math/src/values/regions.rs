//! Values as sets of real numbers.

use super::value::{Named, Value};
use crate::algebra::Context;
use crate::sets::{Interval, Region, solution, union};
use crate::stop::Stop;

/// The value as a set of real numbers, where it can be read as one.
pub(crate) fn region_of(cx: &mut Context, value: &Value) -> Result<Option<Region>, Stop> {
    Ok(match value {
        Value::Region(region) => Some(region.clone()),
        Value::Tuple { open, close, items } => match items.as_slice() {
            [low, high] => interval(low, high, *open == '[', *close == ']'),
            _ => None,
        },
        Value::Named(named) => {
            let inner = match &named.value {
                point @ Value::Scalar(_) => region_of_points(cx, std::slice::from_ref(point))?,
                other => region_of(cx, other)?,
            };
            inner.map(|region| Region { var: Some(named.label.clone()), ..region })
        }
        Value::Set(items) => region_of_points(cx, items)?,
        Value::Relation(relation) => solution(cx, relation)?,
        _ => None,
    })
}

fn region_of_points(cx: &mut Context, items: &[Value]) -> Result<Option<Region>, Stop> {
    let mut region = Region::empty();
    for item in items {
        let Value::Scalar(scalar) = item else { return Ok(None) };
        region = union(cx, region, Interval::point(scalar.canon.clone()).into())?;
    }
    Ok(Some(region))
}

fn interval(low: &Value, high: &Value, low_closed: bool, high_closed: bool) -> Option<Region> {
    let end = |value: &Value, lower: bool| match value {
        Value::Scalar(scalar) => Some(Some(scalar.canon.clone())),
        Value::Infinity { negative } if *negative == lower => Some(None),
        _ => None,
    };
    let (low, high) = (end(low, true)?, end(high, false)?);
    let (low_closed, high_closed) = (low_closed && low.is_some(), high_closed && high.is_some());
    Some(Interval { low, high, low_closed, high_closed }.into())
}

/// Intervals that stand side by side, as one part of the line.
pub(crate) fn united(cx: &mut Context, items: &[Value]) -> Result<Option<Region>, Stop> {
    let mut whole = Region::empty();
    for item in items {
        if !matches!(item, Value::Region(_) | Value::Tuple { .. }) {
            return Ok(None);
        }
        let Some(part) = region_of(cx, item)? else { return Ok(None) };
        whole = union(cx, whole, part)?;
    }
    Ok(Some(whole))
}

/// A set or a list of values of one variable as points.
pub(crate) fn solutions_named(
    cx: &mut Context,
    value: &Value,
    name: &str,
) -> Result<Option<Region>, Stop> {
    let label = |named: &Named| named.label == name && named.parameter.is_none();
    Ok(match value {
        Value::Scalar(_) => region_of(cx, &Value::Set(vec![value.clone()]))?,
        Value::Named(named) if label(named) => solutions_named(cx, &named.value, name)?,
        Value::Set(items) | Value::List(items) => {
            let mut whole = Region::empty();
            for item in items {
                let Some(points) = solutions_named(cx, item, name)? else { return Ok(None) };
                whole = union(cx, whole, points)?;
            }
            Some(whole)
        }
        _ => None,
    })
}

/// The points of a region that has nothing else.
pub(crate) fn points_of(region: &Region) -> Option<Vec<Value>> {
    let point = |part: &Interval| match (&part.low, &part.high) {
        (Some(low), Some(high)) if low == high => Some(Value::plain(low.clone())),
        _ => None,
    };
    let points: Option<Vec<Value>> = region.parts.iter().map(point).collect();
    points.filter(|points| !points.is_empty())
}
