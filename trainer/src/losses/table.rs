//! The table `[loss]` of a configuration, as it is read and written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::TrainerError;
use crate::losses::policy::{PolicyLoss, build};
use crate::presets;

/// The table `[loss]` of a configuration.
///
/// ```
/// use assay_trainer::losses::LossTable;
///
/// let table: LossTable = toml::from_str("kind = \"dapo\"\npreset = \"trl-1.16\"").unwrap();
/// assert_eq!(table.build().unwrap().kind(), "dapo");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LossTable {
    /// The objective; where it is not given, the one that the preset uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The library whose settings are filled in, such as `trl-1.16`. What is given here wins over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// `aggregation`, `kl`, `correction`, `entropy`, and the settings of the objective.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

impl LossTable {
    /// The loss.
    ///
    /// # Errors
    /// Those of [`build`].
    pub fn build(&self) -> Result<PolicyLoss, TrainerError> {
        build(presets::table_of(self.kind.as_ref(), self.preset.as_ref(), &self.settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_and_written() {
        let text = "kind = \"dapo\"\npreset = \"trl-1.16\"\neps_high = 0.28\n";
        let table: LossTable = toml::from_str(text).unwrap();
        assert_eq!(toml::to_string(&table).unwrap(), text);
        assert!(table.build().is_ok(), "{:?}", table.build().err());
        let wrong = LossTable { kind: Some("dapa".into()), ..LossTable::default() };
        let why = wrong.build().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains("dapa"), "{why}");
    }
}
