//! How two answers are compared: decimals, relations, units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is compared by its form, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Strict {
    /// A unit is on both sides or on none.
    pub(crate) units: bool,
    /// The parts of a list are in the order of the reference.
    pub(crate) order: bool,
    /// `x = 5` is not `5`, and `x > 2` is not an interval.
    pub(crate) relations: bool,
}

/// What an equation or inequality may stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relations {
    /// For its solutions where it is solved for its variable: `x > 2`, but not `2x + 1 > 5`.
    #[default]
    Solved,
    /// For its solutions in any form.
    Equivalent,
}

/// Which number of `05/01/2021` is the month. Dates with the year first or with dots
/// (`05.01.2021`, day first) do not depend on it, nor do those that are dates in one order alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dates {
    /// The first: May 1.
    #[default]
    MonthFirst,
    /// The second: January 5.
    DayFirst,
}

/// How numbers written as decimals are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decimals {
    /// Within half a unit of the last digit of a reference that was written as a decimal.
    #[default]
    ReferenceDigits,
    /// Never rounded.
    Exact,
    /// Within this share of the reference, where one side was written as a decimal.
    Relative(f64),
}
