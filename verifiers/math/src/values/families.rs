//! Values as families over integers, and the integers in a range.

use super::value::Value;
use crate::algebra::{Canon, Context, Exp, Kind, floor_or_ceil, names_in};
use crate::sets::{
    Family, Parameter, Range, Region, joined, natural_numbers, progression, whole_numbers,
};
use crate::stop::Stop;

/// The value as a family over one of `parameters`.
pub(crate) fn family_of(
    cx: &mut Context,
    value: &Value,
    parameters: &[Parameter],
) -> Result<Option<Family>, Stop> {
    cx.meter.spend(20)?;
    match value {
        Value::Family(family) => Ok(Some(family.clone())),
        Value::Scalar(scalar) if is_variable(cx, &scalar.canon, "Z") => Ok(Some(whole_numbers())),
        Value::Scalar(scalar) if is_variable(cx, &scalar.canon, "N") => Ok(Some(natural_numbers())),
        Value::Scalar(scalar) => progression(cx, &scalar.canon, parameters),
        // A function or a sequence has a value for each index, in this order.
        Value::Named(named) if named.parameter.is_some() || indexed(&named.label, parameters) => {
            Ok(None)
        }
        Value::Named(named) => {
            let family = family_of(cx, &named.value, parameters)?;
            Ok(family.map(|family| Family { var: Some(named.label.clone()), ..family }))
        }
        Value::List(items) | Value::Set(items) => {
            let mut whole: Option<Family> = None;
            for item in items {
                let Some(next) = family_of(cx, item, parameters)? else { return Ok(None) };
                whole = match whole {
                    None => Some(next),
                    Some(before) => joined(cx, before, next)?,
                };
                if whole.is_none() {
                    return Ok(None);
                }
            }
            Ok(whole)
        }
        _ => Ok(None),
    }
}

fn is_variable(cx: &Context, value: &Canon, name: &str) -> bool {
    value.den.is_one()
        && matches!(value.num.0.as_slice(), [(mono, coef)] if coef.is_one()
            && matches!(mono.as_slice(), [(atom, Exp::ONE)]
                if matches!(cx.kind(*atom), Some(Kind::Var(have)) if have == name)))
}

/// Whether a value is a family of multiples of pi by its form: with `k`, since `n` may also be a
/// given number, as in `(n - 2) pi`.
pub(crate) fn repeats(cx: &Context, value: &Value) -> bool {
    let canon = match value {
        Value::Scalar(scalar) => &scalar.canon,
        Value::Named(named) => return repeats(cx, &named.value),
        Value::List(items) | Value::Set(items) => {
            return items.iter().all(|item| repeats(cx, item));
        }
        _ => return false,
    };
    let mut atoms = canon.num.0.iter().flat_map(|(mono, _)| mono.iter().map(|(atom, _)| *atom));
    if !atoms.any(|atom| cx.kind(atom) == Some(&Kind::Pi)) {
        return false;
    }
    matches!(names_in(cx, canon).as_slice(), [name] if name == "k")
}

/// Whether a label has one of the parameters for its index: `a_n`.
fn indexed(label: &str, parameters: &[Parameter]) -> bool {
    let index = label.split_once('_').map(|(_, index)| index);
    index.is_some_and(|index| parameters.iter().any(|known| index.contains(&known.name)))
}

/// The most integers of a range that is listed.
const MEMBERS_MAX: i64 = 200;

/// The value over integers, where its variable is one of `parameters`.
pub(crate) fn over_integers(
    cx: &mut Context,
    value: &Value,
    parameters: &[Parameter],
) -> Result<Option<Value>, Stop> {
    if let Value::Region(region) = value
        && let Some(parameter) =
            parameters.iter().find(|known| region.var.as_ref() == Some(&known.name))
    {
        return integers_in(cx, region, parameter.range)?.ok_or(Stop::Cap).map(Some);
    }
    Ok(family_of(cx, value, parameters)?.map(Value::Family))
}

/// The integers in a region: a set, or all from one on.
pub(crate) fn integers_in(
    cx: &mut Context,
    region: &Region,
    range: Range,
) -> Result<Option<Value>, Stop> {
    let least = match range {
        Range::From(first) => Some(first),
        _ => None,
    };
    let mut members = Vec::new();
    for part in &region.parts {
        let low = match &part.low {
            Some(low) => integer_end(cx, low, part.low_closed, true)?,
            None => least,
        };
        let Some(low) = low else { return Ok(None) };
        let low = least.map_or(low, |least| low.max(least));
        let Some(high) = &part.high else {
            if !members.is_empty() {
                return Ok(None);
            }
            let (period, term) = (Canon::int(1), Canon::int(low));
            let family = Family {
                var: region.var.clone(),
                period,
                terms: vec![term],
                range: Range::From(low),
            };
            return Ok(Some(Value::Family(family)));
        };
        let Some(high) = integer_end(cx, high, part.high_closed, false)? else {
            return Ok(None);
        };
        if high.saturating_sub(low) > MEMBERS_MAX {
            return Ok(None);
        }
        members.extend((low..=high).map(|member| Value::plain(Canon::int(member))));
    }
    Ok(Some(if members.is_empty() { Value::Region(Region::empty()) } else { Value::Set(members) }))
}

/// The first integer inside an end.
fn integer_end(
    cx: &mut Context,
    end: &Canon,
    closed: bool,
    low: bool,
) -> Result<Option<i64>, Stop> {
    let rounded = floor_or_ceil(cx, end, low)?;
    let Some(near) = rounded.as_integer() else { return Ok(None) };
    let on_it = cx.equal(end, &rounded)?;
    let step = i64::from(on_it && !closed);
    Ok(if low { near.checked_add(step) } else { near.checked_sub(step) })
}
