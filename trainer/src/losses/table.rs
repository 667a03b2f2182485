//! The loss that the table `[loss]` of a configuration describes.

use crate::config::LossTable;
use crate::error::TrainerError;
use crate::losses::policy::{PolicyLoss, build};
use crate::presets;

impl LossTable {
    /// The loss.
    ///
    /// ```
    /// use assay_trainer::losses::LossTable;
    ///
    /// let table: LossTable = toml::from_str("kind = \"dapo\"\npreset = \"trl-1.16\"").unwrap();
    /// assert_eq!(table.build().unwrap().kind(), "dapo");
    /// ```
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
