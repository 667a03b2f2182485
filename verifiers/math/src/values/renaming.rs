//! Values with a variable called by another name.

use super::value::{Named, Scalar, Value};
use crate::algebra::{Canon, Context, names_in, rename};
use crate::sets::{Region, Relation};
use crate::stop::Stop;

/// A value with one variable called by another name. `None` for values that keep theirs.
pub(crate) fn rename_in_value(
    cx: &mut Context,
    value: &Value,
    from: &str,
    to: &str,
) -> Result<Option<Value>, Stop> {
    Ok(Some(match value {
        Value::Scalar(scalar) => {
            let canon = rename(cx, &scalar.canon, from, to)?;
            Value::Scalar(Box::new(Scalar { canon, ..scalar.as_ref().clone() }))
        }
        Value::Region(region) if region.var.as_deref() == Some(from) => {
            Value::Region(Region { var: Some(to.to_owned()), ..region.clone() })
        }
        Value::Relation(relation) => {
            Value::Relation(Relation { left: rename(cx, &relation.left, from, to)?, ..*relation })
        }
        Value::Cases(branches) => {
            let mut renamed = Vec::with_capacity(branches.len());
            for (value, condition) in branches {
                let Some(value) = rename_in_value(cx, value, from, to)? else { return Ok(None) };
                let condition = match condition {
                    Some(condition) => match rename_in_value(cx, condition, from, to)? {
                        None => return Ok(None),
                        known => known,
                    },
                    None => None,
                };
                renamed.push((value, condition));
            }
            Value::Cases(renamed)
        }
        _ => return Ok(None),
    }))
}

/// Collects the letters of functions and points that may be renamed. `false` where the value is of
/// another kind, or consists of such letters alone.
pub(crate) fn free_letters(cx: &Context, value: &Value, out: &mut Vec<String>) -> bool {
    match value {
        Value::List(items) | Value::Set(items) => {
            items.iter().all(|item| free_letters(cx, item, out))
        }
        Value::Tuple { open: '(', close: ')', items } => {
            let mut own = Vec::new();
            for item in items {
                let Value::Scalar(scalar) = item else { return false };
                add_names(cx, &scalar.canon, None, &mut own);
            }
            let says_more = own.len() < items.len();
            own.retain(|name| !out.contains(name));
            out.extend(own);
            says_more
        }
        Value::Named(named) if is_function(named) => {
            let Value::Scalar(scalar) = &named.value else { return false };
            add_names(cx, &scalar.canon, named.parameter.as_deref(), out);
            true
        }
        Value::Named(named) if named.label.starts_with('(') => free_letters(cx, &named.value, out),
        _ => false,
    }
}

fn add_names(cx: &Context, form: &Canon, besides: Option<&str>, out: &mut Vec<String>) {
    for name in names_in(cx, form) {
        if name.len() == 1 && besides != Some(name.as_str()) && !out.contains(&name) {
            out.push(name);
        }
    }
}

/// A function or points with one letter called by another name.
pub(crate) fn with_letter(
    cx: &mut Context,
    value: &Value,
    from: &str,
    to: &str,
) -> Result<Option<Value>, Stop> {
    let renamed_items = |cx: &mut Context, items: &[Value]| {
        let items = items.iter().map(|item| with_letter(cx, item, from, to));
        items.collect::<Result<Option<Vec<_>>, _>>()
    };
    Ok(match value {
        Value::List(items) => renamed_items(cx, items)?.map(Value::List),
        Value::Set(items) => renamed_items(cx, items)?.map(Value::Set),
        Value::Tuple { open, close, items } => renamed_items(cx, items)?
            .map(|items| Value::Tuple { open: *open, close: *close, items }),
        Value::Named(named) => {
            let inner = with_letter(cx, &named.value, from, to)?;
            let named = |value| Named { value, equation: None, ..named.as_ref().clone() };
            inner.map(|value| Value::Named(Box::new(named(value))))
        }
        _ => rename_in_value(cx, value, from, to)?,
    })
}

/// Whether a name is that of a function or of a sequence: `f(x)`, `a_n`.
fn is_function(named: &Named) -> bool {
    let index = named.label.split_once('_').map(|(_, index)| index);
    named.parameter.is_some()
        || index.is_some_and(|index| index.len() == 1 && index.starts_with(char::is_alphabetic))
}
