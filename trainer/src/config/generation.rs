//! The table `[train.generation]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

/// How completions are sampled. The names are those of transformers' `GenerationConfig`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct GenerationConfig {
    /// What logits are divided by; 0 takes the most probable token (the one of the lowest id among
    /// equals).
    #[default(1.0)]
    pub temperature: f64,
    /// Only so many of the most probable tokens are drawn from; 0 is all of them.
    pub top_k: usize,
    /// Only the most probable tokens whose probabilities reach this sum are drawn from, from above 0
    /// to 1.
    #[default(1.0)]
    pub top_p: f64,
    /// The most tokens of a completion.
    #[default(256)]
    pub max_new_tokens: usize,
    /// A completion ends with the first of these, which belongs to it. By default the end-of-sequence
    /// tokens of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_tokens: Vec<u32>,
}
