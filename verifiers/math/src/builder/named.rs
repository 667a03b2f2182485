//! Named values: `x = 3`, `f(t) = ...`.

use crate::algebra::Canon;
use crate::sets::Region;
use crate::values::{Named, Value};

/// A value with the name that is before it.
pub(super) fn named(
    label: String,
    parameter: Option<String>,
    value: Value,
    equation: Option<Canon>,
) -> Value {
    // A region keeps the name of its variable itself.
    if let (Value::Region(region), None) = (&value, &parameter)
        && region.var.is_none()
    {
        return Value::Region(Region { var: Some(label), parts: region.parts.clone() });
    }
    Value::Named(Box::new(Named { label, parameter, value, equation }))
}
