//! The standard deviation by which rewards are divided, and what is added to it: one default each,
//! for shapes, combination, advantages and selection. Settings and presets override them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Std {
    /// The squares divided by one less than the count, as `torch.std` has it.
    #[default]
    Unbiased,
    /// The squares divided by the count, as `numpy.std` has it.
    Biased,
}

/// What is added to a standard deviation.
pub const EPS: f64 = 1e-6;

/// What is added to a variance under its root.
pub const VARIANCE_EPS: f64 = 1e-8;
