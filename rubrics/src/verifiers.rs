//! The verifiers of this crate, one file each.

pub mod rubric;
mod scope;

use assay_verifiers::checks::VerifierInfo;
use assay_verifiers::{BuildError, Built};
use serde_json::Value;

pub use scope::{BuildVerifier, RubricScope};

/// A verifier, as the registry knows it.
pub struct Entry {
    /// What is known of it.
    pub about: VerifierInfo,
    /// Builds it from settings.
    pub build: fn(&RubricScope<'_>, Value) -> Result<Built, BuildError>,
}

/// Lists the verifiers. A module, its fixture file and the id of its verifier share one name.
macro_rules! verifiers {
    ($($module:ident :: $verifier:ident),* $(,)?) => {
        /// Every verifier of this crate, in the order of its id.
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

verifiers! {
    rubric::RubricVerifier,
}
