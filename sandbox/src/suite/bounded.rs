//! JSON values that were read already, as Python data within bounds.

use serde_json::{Number, Value};

use super::error::SuiteError;
use super::limits::{BYTES_MAX, DEPTH_MAX, VALUES_MAX};
use crate::value::{PyValue, from_json};

/// Counts values and bytes, so that no suite takes all memory.
#[derive(Default)]
pub(super) struct Size {
    values: usize,
    bytes: usize,
}

impl Size {
    pub(super) fn add(&mut self, bytes: usize, key: &str) -> Result<(), SuiteError> {
        self.values += 1;
        self.bytes += bytes;
        let too_much =
            |what, found, limit| SuiteError::TooMuch { key: key.to_owned(), what, found, limit };
        if self.values > VALUES_MAX {
            return Err(too_much("values", self.values, VALUES_MAX));
        }
        if self.bytes > BYTES_MAX {
            return Err(too_much("bytes", self.bytes, BYTES_MAX));
        }
        Ok(())
    }
}

/// The data in a value that was read already.
pub(super) fn from_value(value: &Value) -> Result<PyValue, SuiteError> {
    Checker::default().check(value)?;
    Ok(from_json(value))
}

#[derive(Default)]
struct Checker {
    size: Size,
    /// The keys and indices that lead to the value at hand.
    path: Vec<String>,
}

impl Checker {
    fn check(&mut self, value: &Value) -> Result<(), SuiteError> {
        self.size.add(value.as_str().map_or(0, str::len), "")?;
        if self.path.len() > DEPTH_MAX {
            return Err(self.refused(format!("nests deeper than {DEPTH_MAX}")));
        }
        match value {
            Value::Number(number) if has_lost_digits(number) => Err(self.refused(format!(
                "the number {number} may have lost digits, as it is beyond 64 bits; give the \
                 tests as JSON text, in which integers of any size are kept"
            ))),
            Value::Array(items) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, item)| self.within(format!("[{index}]"), item))
            }
            Value::Object(members) => {
                let mut members = members.iter();
                members.try_for_each(|(key, value)| self.within(format!(".{key}"), value))
            }
            _ => Ok(()),
        }
    }

    fn within(&mut self, step: String, value: &Value) -> Result<(), SuiteError> {
        self.path.push(step);
        self.check(value)?;
        self.path.pop();
        Ok(())
    }

    fn refused(&self, why: String) -> SuiteError {
        let key = self.path.concat().trim_start_matches('.').to_owned();
        SuiteError::Refused { key, why }
    }
}

/// A whole number beyond 64 bits was read as a float: its digits are gone, and nothing tells it
/// from one that was a float from the start.
fn has_lost_digits(number: &Number) -> bool {
    const LOST: (f64, f64) = (-9_223_372_036_854_775_808.0, 18_446_744_073_709_551_616.0);
    let is_kept = |float| LOST.0 < float && float < LOST.1;
    !(number.is_i64() || number.is_u64() || number.as_f64().is_some_and(is_kept))
}
