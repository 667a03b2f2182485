//! The rule checks of groups, one file each. A new one needs its file, its fixture file and one
//! word here.

mod answers;
mod grams;
mod members;
mod words;

use crate::entry::{Entry, VerifierInfo};

/// Declares the modules and lists the checks. A module, its file, its fixture file and the id of
/// its check share one name.
macro_rules! group_checks {
    ($($module:ident :: $check:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every check of groups, in the order of its id.
        pub(crate) const LIST: &[Entry] = &[$(Entry {
            about: VerifierInfo::new::<$module::$check>(
                <$module::$check as crate::GroupCheck>::ID,
                <$module::$check as crate::GroupCheck>::VERSION,
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
                )),
            ),
            build: crate::group_check::build::<$module::$check>,
        }),+];
    };
}

group_checks! {
    contrast::IntraGroupContrast,
    diversity::TextDiversity,
    duplicates::Duplicates,
    majority_vote::MajorityVote,
    pass_at_k::PassAtKCredit,
    rank::GroupRank,
    relative_length::RelativeLength,
    self_consistency::SelfConsistency,
}
