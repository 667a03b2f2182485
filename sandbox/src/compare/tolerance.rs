//! How far numbers may be off.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or a table of absolute and relative")]
pub enum Tolerance {
    /// By this much, or by this part of the expected number.
    Both(f64),
    /// Each on its own.
    Each(Errors),
}

/// Errors that are forgiven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// By this much.
    pub absolute: f64,
    /// By this part of the expected number.
    pub relative: f64,
}

impl Tolerance {
    pub(super) fn errors(self) -> Errors {
        match self {
            Self::Both(both) => Errors { absolute: both, relative: both },
            Self::Each(errors) => errors,
        }
    }
}
