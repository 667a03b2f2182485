//! A group holds rows of different prompts, or of different references.
//!
//! Looks at the column that [data] group names. Fix: the samples of one prompt share a group: name another column, or
//! leave group out.

use std::collections::{BTreeMap, BTreeSet};

use assay::data::escape;

use super::look::{Finding, Look};

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<&str, [BTreeSet<String>; 2]> = BTreeMap::new();
    for row in look.rows.iter().filter(|_| look.plan.config.data.group.is_some()) {
        if let Some(group) = row.sample.group() {
            let [prompts, references] = groups.entry(group).or_default();
            prompts.insert(row.sample.prompt().to_owned());
            references.extend(row.sample.reference().map(ToString::to_string));
        }
    }
    let mixed = groups.into_iter().find_map(|(group, all)| {
        let (own, what) =
            all.into_iter().zip(["prompts", "references"]).find(|(own, _)| own.len() > 1)?;
        Some((group, own.len(), what))
    });
    let found = mixed.map(|(group, amount, what)| {
        let message =
            format!("group \"{}\" holds rows of {amount} different {what}", escape(group));
        let help =
            "the samples of one prompt share a group: name another column, or leave group out";
        Finding::at("data.group", message, help).with("group", group).with("count", amount)
    });
    found.into_iter().collect()
}
