//! What is wrong with a suite.

use assay_verifiers::Fault;

/// Why tests could not be read: the key at fault, what was expected there and what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// A value of another type or form.
    #[error("{}: expected {expected}, found {found}", named(.key))]
    Wrong {
        /// The key, as a dotted path; empty for the tests as a whole.
        key: String,
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A key that is not there.
    #[error("{}: key \"{missing}\" missing; has: {has}", named(.key))]
    Missing {
        /// The object without it, as a dotted path.
        key: String,
        /// The key.
        missing: &'static str,
        /// The keys that are there.
        has: String,
    },
    /// A key that no shape has.
    #[error("{}: unknown key \"{unknown}\"; may have: {known}", named(.key))]
    Unknown {
        /// The object with it, as a dotted path.
        key: String,
        /// The key.
        unknown: String,
        /// The keys that may be there.
        known: String,
    },
    /// Text that is not JSON.
    #[error("{}: not JSON: {why}", named(.key))]
    NotJson {
        /// The key, as a dotted path.
        key: String,
        /// Where it breaks off, and what was found there.
        why: String,
    },
    /// More than is read.
    #[error("{}: {found} {what}; at most {limit} are read", named(.key))]
    TooMuch {
        /// The key, as a dotted path.
        key: String,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many may be.
        limit: usize,
    },
    /// Something that cannot be taken as it is.
    #[error("{}: {why}", named(.key))]
    Refused {
        /// The key, as a dotted path.
        key: String,
        /// Why, and what helps.
        why: String,
    },
}

fn named(key: &str) -> String {
    if key.is_empty() { "tests".to_owned() } else { format!("tests: key \"{key}\"") }
}

impl From<SuiteError> for Fault {
    fn from(error: SuiteError) -> Self {
        Self::bad_reference(error.to_string())
    }
}
