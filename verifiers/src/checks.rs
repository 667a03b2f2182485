//! The rule checks, one file each. A new one needs its file, its fixture file and one word here.

pub use crate::entry::{Entry, VerifierInfo};
use crate::group_checks;

/// Declares the modules and lists the checks. A module, its file, its fixture file and the id of
/// its check share one name.
macro_rules! checks {
    ($($module:ident :: $check:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// The checks of single samples, in the order of their ids.
        const SAMPLE_CHECKS: &[Entry] = &[$(Entry {
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
    json::Json,
    length::Length,
    math::Math,
    number::Number,
    regex::Regex,
    rhai::Rhai,
    tags::Tags,
}

/// Every check: those of single samples, then those of groups, each in the order of their ids.
pub static ALL: &[Entry] = &joined::<{ SAMPLE_CHECKS.len() + group_checks::LIST.len() }>(
    SAMPLE_CHECKS,
    group_checks::LIST,
);

/// The check called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.about.id == id)
}

/// Whether the check called `id` is one of groups.
pub fn is_of_groups(id: &str) -> bool {
    group_checks::LIST.iter().any(|entry| entry.about.id == id)
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler, which refuses a bad index")]
const fn joined<const N: usize>(one: &[Entry], other: &[Entry]) -> [Entry; N] {
    let mut all = [one[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < one.len() { one[at] } else { other[at - one.len()] };
        at += 1;
    }
    all
}
