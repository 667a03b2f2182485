//! The rule checks, one file each. A new one costs its file, its fixture file and one word here.

use serde_json::Value;

use crate::check::{BuildError, Check, Files};
use crate::verifier::Built;

/// A check, as the registry knows it.
pub struct Entry {
    /// The id by which a configuration names the check.
    pub id: &'static str,
    /// Raised whenever the same sample may get another verdict.
    pub version: u32,
    /// Its cases, as TOML: `fixtures/checks/<id>.toml`.
    pub fixtures: &'static str,
    /// Builds it from settings.
    pub build: fn(Value, &dyn Files) -> Result<Built, BuildError>,
    /// The JSON Schema of its settings; the `description` is its manual page.
    pub schema: fn() -> schemars::Schema,
}

/// Declares the modules and lists the checks. A module, its file, its fixture file and the id of
/// its check share one name.
macro_rules! checks {
    ($($module:ident :: $check:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every check, in the order of its id.
        pub static ALL: &[Entry] = &[$(Entry {
            id: $module::$check::ID,
            version: $module::$check::VERSION,
            fixtures: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            )),
            build: crate::check::build::<$module::$check>,
            schema: || schemars::schema_for!($module::$check),
        }),+];
    };
}

checks! { choice::Choice, contains::Contains, exact::Exact, math::Math, number::Number, regex::Regex }

/// The check called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.id == id)
}
