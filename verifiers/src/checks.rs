//! The rule checks, one file each. A new one needs its file, its fixture file and one word here.

pub use crate::entry::{Entry, VerifierInfo};

/// Declares the modules and lists the checks. A module, its file, its fixture file and the id of
/// its check share one name.
macro_rules! checks {
    ($($module:ident :: $check:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every check of single samples, in the order of its id.
        pub(crate) const LIST: &[Entry] = &[$(Entry {
            about: VerifierInfo::of::<$module::$check>(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
            ))),
            build: crate::check::build::<$module::$check>,
        }),+];
    };
}

checks! {
    choice::Choice,
    contains::Contains,
    exact::Exact,
    formula::FormulaCheck,
    json::Json,
    length::Length,
    math::Math,
    number::Number,
    regex::Regex,
    rhai::Rhai,
    tags::Tags,
}
