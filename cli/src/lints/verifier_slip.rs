//! What a verifier says of the rows and of its own settings, each under a code of its own.
//!
//! Looks at what `Check::slips` of the verifiers finds in the rows to which they apply.

use assay::verifiers::Sample;

use super::look::{Finding, Look};

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    const SAYS: &str = "{% if row %}{{ rows | which(row) }}: {% endif %}{{ what }}";
    let of_reward = |at: usize| {
        let (rows, verifier) = (look.rows_of(at), look.verifier(at));
        let samples: Vec<&Sample> = rows.iter().map(|row| &row.sample).collect();
        let slips = verifier.map(|verifier| verifier.slips(&samples)).unwrap_or_default();
        let found = slips.into_iter().map(|slip| {
            let first = slip.samples.first().and_then(|at| rows.get(*at)).map(|row| row.number);
            let key = if slip.setting.is_empty() {
                String::new()
            } else {
                format!("config.{}", slip.setting)
            };
            let found = Finding::new((at, key.as_str()), SAYS).help(slip.help).with("row", first);
            let found = found.with("what", slip.message).with("rows", slip.samples.len());
            Finding { code: Some(slip.code), ..found }
        });
        found.collect::<Vec<_>>()
    };
    (0..look.plan.rewards.len()).flat_map(of_reward).collect()
}
