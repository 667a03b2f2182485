//! The table `[select]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The table `[select]` of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelectConfig {
    /// The kind of selection; not needed with a preset that has a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The library and version whose settings are filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The settings of the kind.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}
