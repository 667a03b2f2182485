//! The verifiers of this crate, one file each.

pub mod external_checker;
mod judge_choice;
pub mod pairwise;
mod prompts;
mod reply_schema;
pub mod rubric;
mod scope;
mod shown;
pub mod string_check;
pub mod text_similarity;

use assay_verifiers::checks::{self, VerifierInfo};
use assay_verifiers::{BuildError, Built, check};
use serde_json::Value;

pub use scope::{BuildVerifier, RubricScope};

/// A verifier that asks judges, as the registry knows it.
pub struct Entry {
    /// What is known of it.
    pub about: VerifierInfo,
    /// Builds it from settings.
    pub build: fn(&RubricScope<'_>, Value) -> Result<Built, BuildError>,
}

/// Lists the checks. A module, its fixture file and the id of its check share one name.
macro_rules! checks {
    ($($module:ident :: $check:ident),* $(,)?) => {
        /// The rule checks that formats of others need, in the order of their ids.
        pub static CHECKS: &[checks::Entry] = &[$(checks::Entry {
            about: VerifierInfo::of::<$module::$check>(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            ))),
            build: check::build::<$module::$check>,
        }),*];
    };
}

/// Lists the verifiers. A module, its fixture file and the id of its verifier share one name.
macro_rules! verifiers {
    ($($module:ident :: $verifier:ident),* $(,)?) => {
        /// The verifiers that ask judges, in the order of their ids.
        pub static ALL: &[Entry] = &[$(Entry {
            about: VerifierInfo::new::<$module::$verifier>(
                $module::ID,
                $module::VERSION,
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
                )),
            ),
            build: $module::build,
        }),*];
    };
}

checks! {
    string_check::StringCheck,
    text_similarity::TextSimilarity,
}

verifiers! {
    external_checker::ExternalChecker,
    pairwise::PairwiseVerifier,
    rubric::RubricVerifier,
}
