//! One vote.

use serde::{Deserialize, Serialize};

/// One answer of a judge to a criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The answer: a share from 0 to 1, or a number of the scale of the criterion. `None`: the judge
    /// abstained, or its reply could not be read.
    pub value: Option<f64>,
    /// Why it answered so, in words.
    pub critique: String,
}

impl Vote {
    /// A vote without a critique.
    pub fn new(value: f64) -> Self {
        Self { value: Some(value), critique: String::new() }
    }

    /// An abstention.
    pub fn abstained() -> Self {
        Self { value: None, critique: String::new() }
    }
}
