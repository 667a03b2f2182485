//! What can be wrong with a configuration, or with the numbers that are given.

use assay_verifiers::BuildError;

/// Why nothing was computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainerError {
    /// A setting that is unknown, of another type, or out of range.
    #[error(transparent)]
    Setting(#[from] BuildError),
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
        Self::Setting(BuildError::new(setting, message))
    }

    /// The error of a setting as that of one within a table.
    #[must_use]
    pub fn within(self, table: &str) -> Self {
        match self {
            Self::Setting(error) => Self::Setting(error.within(table)),
            input @ Self::Input { .. } => input,
        }
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
