//! The verifiers that run programs, one file each. A new one costs its file, its fixture file and
//! one word here.

use std::sync::Arc;

use assay_verifiers::check::build_with;
use assay_verifiers::checks::About;
use assay_verifiers::{BuildError, Built, Check, Digest, Files};
use serde_json::Value;

use crate::Sandbox;

/// A check that runs programs: it takes from the sandbox what it needs, once, when it is built.
pub trait Sandboxed: Check {
    /// Takes guests from the sandbox. Returns their digests by name: the same program may behave
    /// otherwise under another guest, so they are part of what the verifier is.
    ///
    /// # Errors
    /// A guest that is not there or cannot be loaded.
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        let _ = sandbox;
        Ok(Vec::new())
    }
}

/// `SQLite` limits its queries itself.
#[cfg(feature = "sql")]
impl Sandboxed for sql::Sql {}

/// The Python guest of a verifier, which it takes from the sandbox when it is built.
#[cfg(feature = "wasm")]
#[derive(Debug, Default)]
struct Python(Option<crate::runtime::Guest>);

#[cfg(feature = "wasm")]
impl Python {
    fn enter(&mut self, sandbox: &Sandbox) -> Result<Vec<(String, Digest)>, BuildError> {
        let guest = sandbox.python()?;
        let identity = ("python.wasm".to_owned(), guest.digest());
        self.0 = Some(guest);
        Ok(vec![identity])
    }

    fn guest<C: Check>(&self) -> Result<&crate::runtime::Guest, assay_verifiers::Fault> {
        let unset = || assay_verifiers::Fault::internal(format!("{} was not loaded", C::ID));
        self.0.as_ref().ok_or_else(unset)
    }
}

/// A verifier, as the registry knows it.
pub struct Entry {
    /// What is known of it.
    pub about: About,
    /// Builds it from settings.
    pub build: fn(&Arc<Sandbox>, Value, &dyn Files) -> Result<Built, BuildError>,
}

#[cfg_attr(
    not(any(feature = "sql", feature = "wasm")),
    expect(dead_code, reason = "without features there is no verifier")
)]
fn build<C: Sandboxed>(
    sandbox: &Arc<Sandbox>,
    settings: Value,
    files: &dyn Files,
) -> Result<Built, BuildError> {
    build_with(settings, files, |check: &mut C| check.enter(sandbox))
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
            about: About::of::<$module::$check>(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            ))),
            build: build::<$module::$check>,
        }),*];
    };
}

verifiers! {
    "wasm" program_output::ProgramOutput,
    "wasm" python_check::PythonCheck,
    "sql" sql::Sql,
    "wasm" stdin_stdout::StdinStdout,
    "wasm" unit_tests::UnitTests,
    "wasm" wasm::Wasm,
}
