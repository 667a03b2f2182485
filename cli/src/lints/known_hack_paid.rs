//! A setting of the configuration pays for cheats that the cases of the verifier list.
//!
//! Looks at the hack cases of the fixture file of each verifier, with the settings of the configuration. A setting
//! without which right answers of the rows are refused is none of these. Fix: `assay show ID --cases` shows them; leave
//! the setting out unless such answers are right.

use super::look::{Finding, Tested};
use crate::output::count;

pub(super) fn find(tested: Tested<'_>) -> impl Iterator<Item = Finding> {
    let rewards = tested.rewards.iter().enumerate();
    let cases = rewards.filter_map(|(at, own)| Some((at, own, own.cases.as_ref()?)));
    cases.flat_map(|(at, own, cases)| {
        cases.by_settings.iter().filter_map(move |by| {
            let key = format!("config.{}", by.settings.first()?);
            let (id, settings, paid) = (&own.verifier, by.settings.join(", "), count(by.paid));
            let message = format!(
                "`{settings}` pays for {paid} of {} cheats that are known of {id}, such as \"{}\" ({})",
                count(cases.tried),
                by.case,
                by.hack
            );
            let help = format!(
                "`assay show {id} --cases` shows them; leave the setting out unless such answers are right"
            );
            let found = Finding::of_reward((at, &key), message, help).with("paid", by.paid);
            Some(found.with("hack", by.hack.as_str()))
        })
    })
}
