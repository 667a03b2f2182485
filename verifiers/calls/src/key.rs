//! Calls as texts that are equal only for equal calls, so that equal ones are found by sorting.

use std::fmt::Write as _;

use crate::value::{Object, Value};

/// A list of arguments as a text.
pub(crate) struct Key {
    /// Equal for equal arguments alone.
    pub(crate) text: String,
    /// Whether equality of its values is transitive: no text whose type is open, and no number that a
    /// double rounds.
    pub(crate) is_plain: bool,
}

impl Key {
    /// The key of arguments with names and of those without. Linear in them, but for sorting names.
    pub(crate) fn of(arguments: &Object, positional: &[Value]) -> Self {
        let mut key = Self { text: String::new(), is_plain: true };
        key.object(arguments);
        key.list(positional);
        key
    }

    fn value(&mut self, value: &Value) {
        const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
        let is_plain = match value {
            Value::Int(whole) => whole.unsigned_abs() < EXACT,
            #[expect(clippy::cast_precision_loss, reason = "a power of two")]
            Value::Float(number) => number.abs() < EXACT as f64,
            Value::Big(_) | Value::Raw(_) => false,
            _ => true,
        };
        self.is_plain &= is_plain;
        match value {
            Value::List(elements) => self.list(elements),
            Value::Object(members) => self.object(members),
            Value::Tuple(elements) => {
                self.text.push('t');
                self.list(elements);
            }
            // `1.0` is `1`.
            #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
            Value::Float(number) if number.fract() == 0.0 && is_plain => {
                let _ = write!(self.text, "{:?}", Value::Int(*number as i64));
            }
            scalar => {
                let _ = write!(self.text, "{scalar:?}");
            }
        }
    }

    fn list(&mut self, elements: &[Value]) {
        self.text.push('[');
        for element in elements {
            self.value(element);
            self.text.push(',');
        }
        self.text.push(']');
    }

    fn object(&mut self, members: &Object) {
        let mut members: Vec<_> = members.iter().collect();
        members.sort_by_key(|(name, _)| *name);
        self.text.push('{');
        for (name, value) in members {
            let _ = write!(self.text, "{name:?}:");
            self.value(value);
            self.text.push(',');
        }
        self.text.push('}');
    }
}
