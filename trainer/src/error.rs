//! What can be wrong with a configuration, or with the numbers that are given.

/// Why nothing was computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainerError {
    /// A setting that is unknown, of another type, or out of range.
    #[error("{message}")]
    Setting {
        /// The setting at fault, as a dotted path within its table; empty where it is not one setting.
        setting: String,
        /// Lower case, no final dot.
        message: String,
    },
    /// Numbers that do not fit together.
    #[error("{what}: {have}, expected {expected}")]
    Input {
        /// Which numbers.
        what: String,
        /// What they are.
        have: String,
        /// What they had to be.
        expected: String,
    },
}

impl TrainerError {
    /// The setting at fault, and what is wrong with it.
    pub fn setting(setting: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Setting { setting: setting.into(), message: message.into() }
    }

    /// Which numbers do not fit, what they are and what they had to be.
    pub fn input(
        what: impl Into<String>,
        have: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Input { what: what.into(), have: have.into(), expected: expected.into() }
    }
}

impl From<assay_verifiers::BuildError> for TrainerError {
    fn from(error: assay_verifiers::BuildError) -> Self {
        Self::Setting { setting: error.setting, message: error.message }
    }
}
