//! A `when` holds on no row, or gives neither true nor false. An error where it never works on rows that were all read.
//!
//! Looks at the rows as they are. Fix: the values that the rows have where it looks are named; `--step N` tries another step
//! of the training, `--limit N` more rows.

use std::collections::BTreeSet;

use super::look::{Finding, Tested, listed};
use super::script::{Role, Script};

/// Values that are named.
const VALUES_MAX: usize = 5;

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for script in tested.scripts {
        let Role::When(at) = script.role else { continue };
        let Some(tally) = tested.rewards.get(at).and_then(|own| own.rows.as_ref()) else {
            continue;
        };
        if let Some(first) = &tally.first_when_failed {
            let (place, failures) =
                (tested.place_of(script.role, first.place), (tally.when_failed, tally.tried()));
            let own = Finding::of_failures(place, "`when`", failures, first);
            found.push(own.help(tested.shows(first.row)));
        }
        if tally.judged() + tally.not_asked > 0 || tally.not_applicable == 0 {
            continue;
        }
        let when = tested.plan().rewards.get(at).and_then(|own| own.when.as_ref());
        let reads_step = when.is_some_and(|when| when.script().mentions("step"));
        let place = tested.place_of(script.role, None);
        let own = if reads_step {
            Finding::new(place, "at_step").with("step", tested.look.step)
        } else {
            Finding::new(place, "never").help(values(tested, script))
        };
        let own = own.with("rows", tally.not_applicable).with("partial", tested.is_partial);
        found.push(own.error_if(!reads_step && !tested.is_partial));
    }
    found
}

/// The values that the rows have where a condition looks.
fn values(tested: Tested<'_>, script: &Script) -> String {
    let told = script.facts.paths.iter().filter_map(|path| {
        let values = tested.look.rows.iter().filter_map(|row| path.value_in(&row.sample));
        let values: BTreeSet<String> = values
            .filter(|value| !value.is_object() && !value.is_array())
            .map(|value| value.to_string().chars().take(40).collect())
            .collect();
        let more = if values.len() > VALUES_MAX { ", ..." } else { "" };
        let shown = listed(values.iter().take(VALUES_MAX).map(String::as_str));
        (!values.is_empty())
            .then(|| format!("{} is {shown}{more} in the rows", path.names.join(".")))
    });
    told.collect::<Vec<_>>().join("; ")
}
