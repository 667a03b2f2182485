//! stub
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// stub
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// stub
    pub group: Option<String>,
}
