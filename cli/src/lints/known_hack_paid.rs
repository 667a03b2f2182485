//! A setting of the configuration pays for cheats that the cases of the verifier list.
//!
//! Looks at the hack cases of the fixture file of each verifier, with the settings of the configuration. A setting
//! without which right answers of the rows are refused is none of these. Fix: `assay show ID --cases` shows them; leave
//! the setting out unless such answers are right.

use super::look::{Finding, Tested};
use crate::output::count;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, reward) in tested.rewards.iter().enumerate() {
        for by in reward.cases.iter().flat_map(|cases| &cases.by_settings) {
            let Some(first) = by.settings.first() else { continue };
            let tried = reward.cases.as_ref().map_or(0, |cases| cases.tried);
            let message = format!(
                "`{}` pays for {} of {} cheats that are known of {}, such as \"{}\" ({})",
                by.settings.join(", "),
                count(by.paid),
                count(tried),
                reward.verifier,
                by.case,
                by.hack
            );
            let help = format!(
                "`assay show {} --cases` shows them; leave the setting out unless such answers are right",
                reward.verifier
            );
            let key = format!("config.{first}");
            found.push(
                Finding::of_reward((at, &key), message, help)
                    .with("paid", by.paid)
                    .with("hack", by.hack.as_str()),
            );
        }
    }
    found
}
