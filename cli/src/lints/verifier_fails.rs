//! A verifier fails, abstains on every row, or used up its limits before all rows were tried. An error where no row has a
//! reward from it.
//!
//! Looks at the verdicts of the rows. Fix: a fault of the reference names what the verifier reads, of which `assay show ID`
//! has an example; a fault of a script names its line. A script that ends without `return` or `else` gives nothing, and
//! the row abstains.

use assay::verifiers::{FaultKind, cases};

use super::look::{Finding, Tested, failing, tried_on};
use super::script::Role;
use crate::output::count;
use crate::trial::EXHAUSTED_MAX;
use crate::trial::tally::{Example, RowsTally};

/// A lower deadline was hardly meant.
const DEADLINE_MS_LOW: u64 = 100;
/// Columns that hold references in the data of others.
const REFERENCES: &str = "answer ground_truth solution gold target final_answer expected expected_output answers label gts \
    test_list tests test_cases unit_tests verification_info input_output";

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, tally) in
        tested.rewards.iter().enumerate().filter_map(|(at, own)| Some((at, own.rows.as_ref()?)))
    {
        let all = tally.judged();
        if let Some(first) = &tally.first_failed {
            let message = failing("the verifier", tally.failed, all, first);
            let help = help(tested, at, first);
            let place = tested.place_of(at, first.place);
            found.push(
                Finding::new(place, message, help)
                    .with("rows", tally.failed)
                    .with("row", first.row)
                    .error_if(tally.failed == all),
            );
        }
        if let Some(first) = tally.first_abstained.as_ref().filter(|_| tally.scored == 0) {
            found.push(silent(tested, at, tally, first));
        }
        if tested.trial.exhausted == Some(at) {
            let message = format!(
                "the trial ended after {} rows: {EXHAUSTED_MAX} verdicts ran out of fuel, memory or time",
                count(tally.rows)
            );
            let deadline_ms = tested.plan().config.limits.deadline_ms;
            let help = if deadline_ms < DEADLINE_MS_LOW {
                format!("raise limits.deadline_ms: a row has {deadline_ms} ms")
            } else {
                "lower its limits or limits.deadline_ms to try more rows".to_owned()
            };
            found.push(
                Finding::new(tested.place_of(at, None), message, help).with("rows", tally.rows),
            );
        }
    }
    found
}

/// No row has a reward from it.
fn silent(tested: Tested<'_>, at: usize, tally: &RowsTally, first: &Example) -> Finding {
    let why = &first.reason;
    let message = match tally.failed {
        0 => format!("the verifier abstains on {}: {why}", tried_on(tally.judged())),
        failed => format!(
            "no row has a reward: it abstains on {} and fails on {}: {why}",
            tried_on(tally.abstained),
            tried_on(failed)
        ),
    };
    let rows = tested.look.rows_of(at);
    let has_references = rows.iter().any(|row| row.sample.reference().is_some());
    let column = column_of_references(tested).filter(|_| !has_references);
    let is_script = tested.scripts.iter().any(|script| script.role == Role::Reward(at));
    let help = match column {
        Some(column) => format!("write the column that holds it: [data] reference = \"{column}\""),
        None if is_script => "a script gives its reward as the last line, a function of Python by `return`: write else { 0.0 } \
                              behind an `if`, and return 0.0 at the end"
            .to_owned(),
        None => tested.shows(first.row),
    };
    Finding::new(tested.place_of(at, None), message, help)
        .with("rows", tally.judged())
        .with("row", first.row)
        .error_if(true)
}

/// The rows that the verifier reads, where the reference is at fault; else the command that shows the row.
fn help(tested: Tested<'_>, at: usize, first: &Example) -> String {
    let example = || {
        let id = &tested.plan().rewards.get(at)?.built.spec.id;
        let row = cases::parse(tested.registry.about(id)?.fixtures).ok()?.example?.row;
        Some(format!("`{id}` reads {row}; `assay show {id}` says more"))
    };
    let is_of_row = matches!(first.kind, Some(FaultKind::BadReference | FaultKind::BadInput));
    example().filter(|_| is_of_row).unwrap_or_else(|| tested.shows(first.row))
}

/// The column that most likely holds the references.
fn column_of_references(tested: Tested<'_>) -> Option<String> {
    let meta = tested.trial.rows.first()?.row.sample.meta();
    let own = tested.plan().config.data.reference.trim();
    let alike = meta.keys().find(|key| key.trim().eq_ignore_ascii_case(own)).cloned();
    let known = REFERENCES.split(' ').find(|name| meta.contains_key(*name)).map(str::to_owned);
    let nested = || {
        let (key, _) = meta.iter().find(|(_, value)| value.get("ground_truth").is_some())?;
        Some(format!("{key}.ground_truth"))
    };
    alike.or(known).or_else(nested)
}
