//! The verifiers that run programs, one file each. A new one costs its file, its fixture file and
//! one word here.

#[cfg(feature = "wasm")]
mod packages;
mod sandboxed;

use std::sync::Arc;

use assay_verifiers::checks::VerifierInfo;
use assay_verifiers::{BuildError, Built, Files};
use serde_json::Value;

use crate::Sandbox;
pub use sandboxed::Sandboxed;

/// A verifier, as the registry knows it.
pub struct Entry {
    /// What is known of it.
    pub about: VerifierInfo,
    /// Builds it from settings.
    pub build: fn(&Arc<Sandbox>, Value, &dyn Files) -> Result<Built, BuildError>,
}

/// Declares the modules and lists the verifiers, each behind its feature. A module, its file, its
/// fixture file and the id of its verifier share one name.
macro_rules! verifiers {
    ($($feature:literal $module:ident :: $check:ident),* $(,)?) => {
        $(
            #[cfg(feature = $feature)]
            pub mod $module;
        )*

        /// Every verifier of this crate, in the order of its id.
        pub static ALL: &[Entry] = &[$(#[cfg(feature = $feature)] Entry {
            about: VerifierInfo::of::<$module::$check>(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            ))),
            build: sandboxed::build::<$module::$check>,
        }),*];
    };
}

verifiers! {
    "wasm" program_output::ProgramOutput,
    "wasm" python_check::PythonCheck,
    "wasm" repo_tests::RepoTests,
    "sql" sql::Sql,
    "wasm" stdin_stdout::StdinStdout,
    "wasm" unit_tests::UnitTests,
    "wasm" wasm::Wasm,
}
