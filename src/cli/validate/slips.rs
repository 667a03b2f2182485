//! Slips in the rows of which `validate` and `score` both warn: references that stand for nothing,
//! completions that are more than the answer, groups of several prompts.

use std::collections::{BTreeMap, BTreeSet};

use assay::data::escape;
use assay::engine::Planned;
use assay::verifiers::{Lane, Sample};
use assay::{Config, Plan};
use serde_json::Value;

use super::read::Row;
use super::trial;
use crate::cli::output::count;

/// References that stand for nothing, or for an answer that was never filled in.
const PLACEHOLDERS: [&str; 19] = [
    "none",
    "null",
    "nan",
    "n/a",
    "na",
    "nil",
    "undefined",
    "?",
    "??",
    "-",
    "--",
    "...",
    "…",
    "todo",
    "tbd",
    "unknown",
    "[answer]",
    "<answer>",
    "answer",
];

/// Verifiers that compare the reference with an answer.
const ANSWER_VERIFIERS: [&str; 5] = ["math", "number", "choice", "exact", "contains"];
/// How the arrays of others begin as text.
const ARRAYS: [&str; 5] = ["array(", "np.array(", "[array(", "tensor(", "[tensor("];
/// Characters of a reference that are shown.
const SHOWN_CHARS: usize = 40;

/// What chat templates put between messages.
const TEMPLATE_MARKS: [&str; 8] = [
    "<|im_start|>",
    "<|start_header_id|>",
    "<|start|>assistant",
    "<start_of_turn>",
    "<|assistant|>",
    "<|user|>",
    "[/INST]",
    "[INST]",
];

/// A shorter prompt may begin an answer by chance.
const PROMPT_CHARS_MIN: usize = 8;

/// What is most likely not meant.
pub(super) struct Slip {
    /// The key of `[data]`.
    pub(super) key: &'static str,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// The slips of rows, each kind once, at a step of the training.
pub(super) fn find(rows: &[Row], plan: &Plan, step: u64) -> Vec<Slip> {
    let all = [
        placeholders(rows),
        lists_as_text(rows, plan),
        prompts_repeated(rows, plan, step),
        template_marks(rows),
        mixed_group(rows, &plan.config),
        meta_without_members(rows, &plan.config),
    ];
    all.into_iter().flatten().collect()
}

fn placeholders(rows: &[Row]) -> Option<Slip> {
    let text = |row: &Row| {
        let text = row.sample.reference().and_then(Value::as_str)?.trim();
        PLACEHOLDERS.contains(&text.to_lowercase().as_str()).then(|| text.to_owned())
    };
    let first = rows.iter().find(|row| text(row).is_some())?;
    let amount = rows.iter().filter(|row| text(row).is_some()).count();
    let message = format!(
        "{}: the reference is a word for nothing, such as \"{}\"",
        which(amount, first.number),
        escape(&text(first)?)
    );
    let help = "a row without a reference has null, or no such column: its rewards abstain";
    Some(Slip { key: "reference", message, help })
}

/// Lists that `str` of Python and arrays wrote, where an answer is compared.
fn lists_as_text(rows: &[Row], plan: &Plan) -> Option<Slip> {
    let compares = |planned: &Planned| ANSWER_VERIFIERS.contains(&planned.built.spec.id.as_ref());
    if !plan.rewards.iter().any(compares) {
        return None;
    }
    let text = |row: &&Row| {
        let text = row.sample.reference().and_then(Value::as_str).unwrap_or_default().trim();
        let is_quoted = [("['", "']"), ("[\"", "\"]")];
        is_quoted.iter().any(|(open, end)| text.starts_with(open) && text.ends_with(end))
            || ARRAYS.iter().any(|open| text.starts_with(open))
    };
    let amount = rows.iter().filter(text).count();
    let first = rows.iter().find(text)?;
    let shown: String = first.sample.reference_text()?.chars().take(SHOWN_CHARS).collect();
    let place = which(amount, first.number);
    let message =
        format!("{place}: the reference is a list written as text, such as {}", escape(&shown));
    let help = "write the answer itself, or a list of answers: `answers.tolist()` of NumPy, and json.dumps \
                once, over the whole row";
    Some(Slip { key: "reference", message, help })
}

fn prompts_repeated(rows: &[Row], plan: &Plan, step: u64) -> Option<Slip> {
    let begins = |row: &&Row| {
        let (prompt, completion) = (row.sample.prompt().trim(), row.sample.completion().trim());
        prompt.chars().count() >= PROMPT_CHARS_MIN
            && completion.len() > prompt.len()
            && completion.starts_with(prompt)
            && !is_program(plan, &row.sample, step)
    };
    let amount = rows.iter().filter(begins).count();
    // An answer may restate its question; a file of them is made of whole texts.
    (amount > 0 && 2 * amount >= rows.len()).then(|| {
        let (amount, all) = (count(amount as u64), count(rows.len() as u64));
        let message = format!("{amount} of {all} completions begin with their prompt");
        Slip { key: "completion", message, help: "pass only the new text" }
    })
}

/// Whether each reward that reads the completion runs it on tests: a program may begin as its prompt does.
fn is_program(plan: &Plan, sample: &Sample, step: u64) -> bool {
    let rewards = plan.rewards.iter().enumerate();
    let mut readers = rewards.filter(|(at, planned)| {
        !planned.built.spec.reads_verdicts && trial::applies(plan, *at, sample, step)
    });
    readers.all(|(_, planned)| match &planned.built.lane {
        Lane::Compute(verifier) => verifier.trivial(sample).is_some(),
        _ => false,
    })
}

fn template_marks(rows: &[Row]) -> Option<Slip> {
    let mark = |row: &Row| {
        let completion = row.sample.completion();
        TEMPLATE_MARKS.into_iter().find(|mark| completion.contains(mark))
    };
    let first = rows.iter().find_map(mark)?;
    let amount = rows.iter().filter(|row| mark(row).is_some()).count();
    let (amount, all) = (count(amount as u64), count(rows.len() as u64));
    let message =
        format!("{amount} of {all} completions hold `{first}`, a mark of a chat template");
    let help = "pass only the new text, decoded without special tokens";
    Some(Slip { key: "completion", message, help })
}

fn mixed_group(rows: &[Row], config: &Config) -> Option<Slip> {
    config.data.group.as_ref()?;
    let mut prompts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        if let Some(group) = row.sample.group() {
            prompts.entry(group).or_default().insert(row.sample.prompt());
        }
    }
    let (group, prompts) = prompts.into_iter().find(|(_, prompts)| prompts.len() > 1)?;
    let (group, amount) = (escape(group), prompts.len());
    let message = format!("group \"{group}\" holds rows of {amount} different prompts");
    let help = "the samples of one prompt share a group: name another column, or leave group out";
    Some(Slip { key: "group", message, help })
}

fn meta_without_members(rows: &[Row], config: &Config) -> Option<Slip> {
    let column = config.data.meta.as_ref()?;
    let is_other = |row: &&Row| row.sample.meta().get(column).is_some_and(|own| !own.is_object());
    let first = rows.iter().find(is_other)?;
    let amount = rows.iter().filter(is_other).count();
    let place = which(amount, first.number);
    let message =
        format!("{place}: \"{}\" is no object, and has no members to read", escape(column));
    let help = "leave meta out: every other column is metadata by its own name";
    Some(Slip { key: "meta", message, help })
}

/// Which rows have a slip.
pub(super) fn which(amount: usize, first: u64) -> String {
    match amount {
        1 => format!("row {first}"),
        amount => format!("{} rows, first row {first}", count(amount as u64)),
    }
}
