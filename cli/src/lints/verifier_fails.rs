//! A verifier fails, abstains on every row, or used up its limits before all rows were tried. An error where no row has a
//! reward from it.
//!
//! Looks at the verdicts of the rows. Fix: a fault of the reference names what the verifier reads, of which `assay show ID`
//! has an example; a fault of a script names its line. A script gives its reward as the last line, a function of Python by
//! `return`: write else { 0.0 } behind an `if`, and return 0.0 at the end.

use assay::verifiers::{FaultKind, cases};

use super::look::{Finding, Tested};
use super::script::Role;
use crate::trial::EXHAUSTED_MAX;
use crate::trial::tally::{Example, RowsTally};

/// Columns that hold references in the data of others.
const REFERENCES: &str = "answer ground_truth solution gold target final_answer expected expected_output answers label gts \
    test_list tests test_cases unit_tests verification_info input_output";

pub(super) fn find(tested: Tested<'_>) -> Vec<Finding> {
    let rewards = tested.rewards.iter().enumerate();
    let tallies = rewards.filter_map(|(at, own)| Some((at, own.rows.as_ref()?)));
    let found = tallies.flat_map(|(at, tally)| {
        let place = |part| tested.place_of(Role::Reward(at), part);
        let failed = tally.first_failed.as_ref().map(|first| {
            let (place, failures) = (place(first.place), (tally.failed, tally.judged()));
            let found = Finding::of_failures(place, "the verifier", failures, first);
            found.help(help(tested, at, first))
        });
        let silent = tally.first_abstained.as_ref().filter(|_| tally.scored == 0);
        let silent = silent.map(|first| silent_on_all(tested, at, tally, first));
        let spent = (tested.trial.exhausted == Some(at)).then(|| {
            let found = Finding::new(place(None), "spent").with("most", EXHAUSTED_MAX);
            let deadline_ms = tested.plan().config.limits.deadline_ms;
            found.with("deadline_ms", deadline_ms).with("rows", tally.rows)
        });
        [failed, silent, spent].into_iter().flatten()
    });
    found.collect()
}

/// No row has a reward from it.
fn silent_on_all(tested: Tested<'_>, at: usize, tally: &RowsTally, first: &Example) -> Finding {
    let rows = tested.look.rows_of(at);
    let has_references = rows.iter().any(|row| row.sample.reference().is_some());
    let column = column_of_references(tested).filter(|_| !has_references);
    let is_script = tested.scripts.iter().any(|script| script.role == Role::Reward(at));
    let is_told = column.is_some() || is_script;
    let found = Finding::new(tested.place_of(Role::Reward(at), None), "silent").of_example(first);
    let found = found.with("abstained", tally.abstained).with("column", column);
    let help = if is_told { String::new() } else { tested.shows(first.row) };
    found.with("rows", tally.judged()).help(help).error_if(true)
}

/// The rows that the verifier reads, where the reference is at fault; else the command that shows the row.
fn help(tested: Tested<'_>, at: usize, first: &Example) -> String {
    let example = || {
        let id = &tested.plan().rewards.get(at)?.built.spec.id;
        let row = cases::head(tested.registry.about(id)?.fixtures).ok()?.example?.row;
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
