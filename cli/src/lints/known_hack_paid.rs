//! A setting of the configuration pays for cheats that the cases of the verifier list.
//!
//! Looks at the hack cases of the fixture file of each verifier, with the settings of the configuration. A setting
//! without which right answers of the rows are refused is none of these. Fix: `assay show VERIFIER --cases` shows them; leave
//! the setting out unless such answers are right.

use super::look::{Finding, Tested};

pub(super) fn find(tested: Tested<'_>) -> impl Iterator<Item = Finding> {
    let rewards = tested.rewards.iter().enumerate();
    let cases = rewards.filter_map(|(at, own)| Some((at, own, own.cases.as_ref()?)));
    cases.flat_map(|(at, own, cases)| {
        cases.by_settings.iter().filter_map(move |by| {
            let key = format!("config.{}", by.settings.first()?);
            let found = Finding::new((at, key.as_str()), "paid").with("paid", by.paid);
            let found = found.with("settings", by.settings.join(", ")).with("tried", cases.tried);
            let found = found.with("verifier", own.verifier.as_str());
            Some(found.with("case", by.case.as_str()).with("hack", by.hack.as_str()))
        })
    })
}
