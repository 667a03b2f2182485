//! Defaults and bounds that the settings of several shapes share.

use crate::prelude::*;

/// Refuses a setting below `least`.
///
/// # Errors
/// The setting, what it is and what it may be.
pub(crate) fn at_least(setting: &str, value: f64, least: f64) -> Result<(), BuildError> {
    if value >= least {
        return Ok(());
    }
    Err(BuildError::new(setting, format!("{setting} is {value}, expected {least} or more")))
}

/// Refuses a setting that is not above zero.
///
/// # Errors
/// The setting, what it is and what it may be.
pub(crate) fn positive(setting: &str, value: f64) -> Result<(), BuildError> {
    if value > 0.0 {
        return Ok(());
    }
    Err(BuildError::new(setting, format!("{setting} is {value}, expected more than 0")))
}

/// Refuses a setting outside 0 to 1.
///
/// # Errors
/// The setting, what it is and what it may be.
pub(crate) fn unit(setting: &str, value: f64) -> Result<(), BuildError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(BuildError::new(setting, format!("{setting} is {value}, expected 0 to 1")))
}

/// Which rewards of a verdict are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Target {
    /// The reward of the sample.
    #[default]
    Reward,
    /// The rewards of its steps.
    Steps,
    /// The reward of the sample and those of its steps.
    Both,
}
