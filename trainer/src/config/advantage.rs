//! The table `[advantage]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The table `[advantage]` of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdvantageConfig {
    /// The estimator; where it is not given, the one that the preset uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The library whose settings are filled in, such as `trl-1.16`. What is given here wins over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The settings of the estimator.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}
