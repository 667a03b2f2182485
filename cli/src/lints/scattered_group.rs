//! Rows of a group do not stand together, where rewards are compared within groups: an error.
//!
//! Looks at the order of the rows. Fix: sort the rows by their group.

use std::collections::BTreeSet;

use assay::engine::group_key;

use super::look::{Finding, Look};

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let (mut seen, mut key) = (BTreeSet::new(), None);
    let again = look.rows.iter().filter(|_| look.plan.needs_groups()).find(|row| {
        let own = group_key(&row.sample);
        let is_new = key != Some(own);
        key = Some(own);
        is_new && !seen.insert(own)
    });
    let found = again.map(|row| {
        let (group, row) = (group_key(&row.sample), row.number);
        let message = format!("the group {group:?} goes on at row {row}, behind rows of another group");
        let help = "rewards are compared within groups, so the rows of a group stand together: sort the rows by their \
                    group";
        Finding::at("data.group", message, help).with("row", row).with("group", group).error_if(true)
    });
    found.into_iter().collect()
}
