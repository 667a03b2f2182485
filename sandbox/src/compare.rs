//! What a program printed against what it should have.

mod compared;
mod difference;
mod lines;
mod number;
mod script;
#[cfg(test)]
mod tests;
mod tolerance;

use assay_verifiers::{BuildError, Fault, Meter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::suite::StdioCase;

pub use compared::Compared;
pub use difference::Difference;
use lines::Lines;
use script::Comparator;
pub use tolerance::{Errors, Tolerance};

/// How the output of a program is compared.
///
/// Both sides must match from their first byte to their last: what is a part of the expected
/// output, or holds it, is different. Tokens are equal as text, so that `7` is neither `7.0` nor
/// `07`, and integers of any length are exact. Output that is not UTF-8 equals nothing.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Comparison {
    /// What must be equal.
    pub how: CompareBy,
    /// How far a number may be off, where one of the two is written with a point or an exponent:
    /// one number for the absolute and the relative error, either of which suffices, or
    /// `{ absolute = 1e-9, relative = 1e-6 }`. The relative one is measured against the expected
    /// number. `nan`, `inf`, hexadecimal numbers and those beyond the range of a float, as
    /// `1e1000`, are text.
    pub float_tolerance: Option<Tolerance>,
    /// Compare without regard to case.
    pub ignore_case: bool,
    /// The lines may come in any order; blank ones are not looked at. With `float_tolerance` the
    /// lines of both sides are paired in the order of their values.
    pub unordered_lines: bool,
    /// A rhai script that decides instead. It sees `expected`, `got` and `stdin`, and ends in a
    /// truth value or in a number from 0 to 1. Where it fails on the program's output but not on
    /// the expected output in its place, the program is wrong; else it is a fault.
    pub comparator: Option<String>,
    #[serde(skip)]
    loaded: Option<Comparator>,
}

/// What must be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompareBy {
    /// The words, however they are set apart.
    #[default]
    Tokens,
    /// The lines, without blanks at their ends and without blank lines at the end.
    Lines,
    /// Every byte.
    Exact,
}

impl Comparison {
    /// The same as [`Comparison::load`], for a comparison that is itself the setting `name`.
    ///
    /// # Errors
    /// The setting at fault, below `name`.
    pub fn load_in(&mut self, name: &str) -> Result<(), BuildError> {
        let nested =
            |error: BuildError| BuildError::new(format!("{name}.{}", error.setting), error.message);
        self.load().map_err(nested)
    }

    /// Compiles the comparator and looks at the settings, once.
    ///
    /// # Errors
    /// The setting at fault.
    pub fn load(&mut self) -> Result<(), BuildError> {
        if let Some(tolerance) = self.float_tolerance {
            let Errors { absolute, relative } = tolerance.errors();
            if !(absolute >= 0.0 && absolute.is_finite() && (0.0..1.0).contains(&relative)) {
                let why = format!(
                    "the absolute error must be 0 or more and the relative one below 1; found \
                     {absolute} and {relative}"
                );
                return Err(BuildError::new("float_tolerance", why));
            }
        }
        if self.how == CompareBy::Exact && (self.unordered_lines || self.float_tolerance.is_some())
        {
            let why = "exact output has neither unordered lines nor a tolerance";
            return Err(BuildError::new("how", why));
        }
        let compile = |source: &String| Comparator::compile(source);
        self.loaded = self.comparator.as_ref().map(compile).transpose()?;
        Ok(())
    }

    /// Where what a program printed differs from what a case expects.
    pub(crate) fn judge(
        &self,
        case: &StdioCase,
        got: &[u8],
        meter: &mut Meter<'_>,
    ) -> Result<Option<Difference>, Fault> {
        Ok(self.compare(&case.stdout, got, &case.stdin, meter)?.difference)
    }

    /// Compares what a program printed with what it should have.
    ///
    /// # Errors
    /// The meter ran out, or the comparator fails by itself.
    pub fn compare(
        &self,
        expected: &str,
        got: &[u8],
        stdin: &str,
        meter: &mut Meter<'_>,
    ) -> Result<Compared, Fault> {
        meter.spend((expected.len() + got.len()) as u64)?;
        let got = match std::str::from_utf8(got) {
            Ok(got) => got,
            Err(error) => {
                let difference = Difference::not_utf8(expected, got, error.valid_up_to());
                return Ok(Compared::of(Some(difference)));
            }
        };
        match (&self.comparator, &self.loaded) {
            (None, _) => self.differ(expected, got, meter).map(Compared::of),
            (Some(_), Some(comparator)) => comparator.compare([expected, got, stdin], meter),
            (Some(_), None) => Err(Fault::internal("comparator was not loaded")),
        }
    }

    fn differ(
        &self,
        expected: &str,
        got: &str,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Difference>, Fault> {
        let lines = Lines {
            words: self.how == CompareBy::Tokens,
            ignore_case: self.ignore_case,
            errors: self.float_tolerance.map(Tolerance::errors),
        };
        match self.how {
            _ if self.unordered_lines => lines.unordered(expected, got, meter),
            CompareBy::Tokens => Ok(lines.tokens(expected, got)),
            CompareBy::Lines => Ok(lines.ordered(expected, got)),
            CompareBy::Exact => Ok(lines.exact(expected, got)),
        }
    }
}
