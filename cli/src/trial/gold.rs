//! Gold answers: what the reference earns when it is the completion.

use std::borrow::Cow;

use assay::verifiers::{Sample, Verdict};

use super::finding::Finding;
use super::probe::{Probe, is_full, variant};
use super::read::Row;

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

/// The most answers of a row that are tried: it takes one that is right.
const ANSWERS_MAX: usize = 32;

/// What became of one row.
pub(crate) struct Gold {
    /// Whether taking the reference away changes a verdict.
    pub(crate) uses_reference: bool,
    /// What came of the gold answers: where no wrapping earned full reward, why. `None` where none can be
    /// made of the reference.
    pub(crate) judged: Option<Result<(), Finding>>,
}

/// The right answers of a row; none where none can be made of its reference.
pub(crate) fn answers<'a>(probe: &Probe<'_>, row: &'a Row) -> Vec<Cow<'a, str>> {
    let made = probe.gold(&row.sample);
    let made = made.map(|texts| texts.into_iter().map(Cow::Owned).collect());
    made.unwrap_or_else(|| row.sample.references())
}

/// Right answers of a row, in every wrapping.
fn wrapped<'a>(answers: &'a [Cow<'_, str>]) -> impl Iterator<Item = String> + 'a {
    let answers = answers.iter().take(ANSWERS_MAX);
    answers.flat_map(|answer| WRAPPINGS.iter().map(move |own| own.replace("{}", answer)))
}

/// Whether a right answer of a row earns full reward from `judge` in some wrapping.
pub(crate) fn is_accepted(
    probe: &Probe<'_>,
    row: &Row,
    judge: impl Fn(&Sample) -> Verdict,
) -> bool {
    let Some(reference) = row.sample.reference() else { return false };
    let answers = answers(probe, row);
    let mut samples = wrapped(&answers).map(|own| variant(&row.sample, &own, reference.clone()));
    samples.any(|sample| is_full(&judge(&sample)))
}

/// Whether the reference earns full reward in some wrapping. `None` where there is no reference,
/// or the verifier does not apply.
pub(crate) fn verify(probe: &Probe<'_>, row: &Row) -> Option<Gold> {
    let reference = row.sample.reference()?;
    let mut answers = answers(probe, row);
    let is_none = answers.is_empty();
    if is_none {
        answers = row.sample.references();
    }
    let mut first: Option<(String, Verdict)> = None;
    let mut uses_reference = false;
    for completion in wrapped(&answers) {
        if probe.is_over() {
            return None;
        }
        let verdict = probe.verdict(&row.sample, &completion, Some(reference));
        if !uses_reference {
            let without = probe.verdict(&row.sample, &completion, None);
            uses_reference = without.outcome != verdict.outcome;
        }
        if is_full(&verdict) {
            return Some(Gold { uses_reference, judged: Some(Ok(())) });
        }
        first.get_or_insert((completion, verdict));
    }
    let (completion, verdict) = first?;
    let rejected = Finding::of(row, None, completion, &verdict);
    Some(Gold { uses_reference, judged: (!is_none).then_some(Err(rejected)) })
}
