//! Gold answers: what the reference earns when it is the completion.

use assay::verifiers::Verdict;

use super::finding::Finding;
use super::probe::{Probe, is_full};
use super::read::Row;
use crate::cli::verdict;

/// The ways in which a right answer is commonly written; `{}` is the answer.
const WRAPPINGS: [&str; 9] = [
    "{}",
    "\\boxed{{}}",
    "The answer is {}.",
    "#### {}",
    "Answer: {}",
    "The answer is ({}).",
    "<answer>{}</answer>",
    "<think>\nLet me work it out.\n</think>\n\nThe answer is \\boxed{{}}.",
    "<think>\nLet me work it out.\n</think>\n<answer>{}</answer>",
];

/// What became of one row.
pub(super) struct Gold {
    /// Whether taking the reference away changes a verdict.
    pub(super) uses_reference: bool,
    /// Why no wrapping earned full reward, where none did.
    pub(super) rejected: Option<Finding>,
}

/// Whether the reference earns full reward in some wrapping. `None` where there is no reference,
/// or the verifier does not apply.
pub(super) fn verify(probe: &Probe<'_>, row: &Row) -> Option<Gold> {
    let reference = row.sample.reference()?;
    let mut first: Option<(String, Verdict)> = None;
    let mut uses_reference = false;
    for answer in row.sample.references() {
        for wrapping in WRAPPINGS {
            if probe.is_over() {
                return None;
            }
            let completion = wrapping.replace("{}", &answer);
            let verdict = probe.verdict(&row.sample, &completion, Some(reference));
            if !uses_reference {
                let without = probe.verdict(&row.sample, &completion, None);
                uses_reference = without.outcome != verdict.outcome;
            }
            if is_full(&verdict) {
                return Some(Gold { uses_reference, rejected: None });
            }
            first.get_or_insert((completion, verdict));
        }
    }
    let (completion, verdict) = first?;
    let rejected = Some(Finding {
        id: row.sample.id().to_owned(),
        row: row.number,
        hack: None,
        completion,
        verdict: verdict::outcome(&verdict.outcome),
    });
    Some(Gold { uses_reference, rejected })
}
