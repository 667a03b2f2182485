//! Slips in the rows of which `validate` and `score` both warn: references that stand for nothing,
//! completions that are more than the answer, groups of several prompts.

use std::collections::{BTreeMap, BTreeSet};

use assay::data::escape;
use assay::engine::{Planned, RIGHT_FROM};
use assay::verifiers::extract::{Thinking, thinking};
use assay::verifiers::{Lane, Sample};
use assay::{Config, Plan};
use serde_json::Value;

use super::read::Row;
use super::trial;
use crate::output::count;

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

/// Notes in the place of an answer that is a value.
const NOTES: [&str; 6] =
    ["proof", "notfound", "not found", "problem", "omitted", "no answer given"];
/// What to do about references that stand for nothing.
pub(super) const NO_REFERENCE: &str =
    "a row without a reference has null, or no such column: its rewards abstain";
/// The most labels that are named.
const SCALE_SHOWN: usize = 4;

/// Verifiers that compare the reference with an answer.
const ANSWER_VERIFIERS: [&str; 8] =
    ["math", "number", "choice", "exact", "contains", "regex", "string_check", "text_similarity"];
/// How arrays and numbers of Python begin as text.
const OBJECTS: [&str; 12] = [
    "array(",
    "np.array(",
    "[array(",
    "tensor(",
    "[tensor(",
    "np.float64(",
    "np.float32(",
    "np.int64(",
    "np.int32(",
    "np.str_(",
    "Decimal('",
    "Fraction(",
];
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

/// What ends a text of a policy that was decoded with its special tokens.
const END_MARKS: [&str; 10] = [
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "<eos>",
    "<pad>",
    "[PAD]",
    "</s>",
];

/// One row in so many never ends its thinking at least; fewer are truncated now and then.
const UNCLOSED_SHARE: usize = 4;

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
        placeholders(rows, plan),
        empty_references(rows, plan, step),
        scales(rows),
        lists_as_text(rows, plan),
        bytes_as_text(rows, plan),
        alternatives(rows, plan),
        prompts_repeated(rows, plan, step),
        template_marks(rows),
        unclosed_thinking(rows),
        mixed_group(rows, &plan.config),
        meta_without_members(rows, &plan.config),
    ];
    all.into_iter().flatten().collect()
}

fn placeholders(rows: &[Row], plan: &Plan) -> Option<Slip> {
    let has = |id: &str| plan.rewards.iter().any(|planned| planned.built.spec.id == id);
    // What a program gives back may be None.
    if has("program_output") {
        return None;
    }
    let is_math = has("math") || has("number");
    let lower = |row: &Row| Some(row.sample.reference()?.as_str()?.trim().to_lowercase());
    // It may be the name of a class.
    let is_answered = |row: &Row, word: &str| {
        let answer = row.sample.completion().to_lowercase();
        answer.trim_end_matches(['.', ' ', '\n']).ends_with(word)
    };
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut stands_for_nothing = |row: &Row| {
        let Some(word) = lower(row) else { return false };
        let is_word = PLACEHOLDERS.contains(&word.as_str());
        let is_note = is_math && (NOTES.contains(&word.as_str()) || is_pointer(&word));
        let mut is_class = || {
            let answered =
                |row: &Row| lower(row).as_ref() == Some(&word) && is_answered(row, &word);
            *known.entry(word.clone()).or_insert_with(|| rows.iter().any(answered))
        };
        (is_word || is_note) && !is_class()
    };
    let slipped: Vec<&Row> = rows.iter().filter(|row| stands_for_nothing(row)).collect();
    let first = slipped.first()?;
    let place = which(slipped.len(), first.number);
    let text = shown(first.sample.reference()?.as_str()?.trim());
    let message = if PLACEHOLDERS.contains(&lower(first)?.as_str()) {
        format!("{place}: the reference is a word for nothing, such as \"{text}\"")
    } else {
        format!("{place}: the reference is a note in the place of an answer, such as \"{text}\"")
    };
    Some(Slip { key: "reference", message, help: NO_REFERENCE })
}

/// References that are empty texts, where an answer is compared.
fn empty_references(rows: &[Row], plan: &Plan, step: u64) -> Option<Slip> {
    let is_answer = |planned: &Planned| {
        ["math", "number", "choice", "exact"].contains(&planned.built.spec.id.as_ref())
    };
    let is_compared = |row: &Row| {
        let mut rewards = plan.rewards.iter().enumerate();
        rewards.any(|(at, own)| is_answer(own) && trial::applies(plan, at, &row.sample, step))
    };
    let is_empty = |row: &Row| match row.sample.reference() {
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(values)) => values.is_empty(),
        _ => false,
    };
    let (place, _) = slipped(rows, |row| is_empty(row) && is_compared(row))?;
    let message = format!("{place}: the reference is empty, and no answer is right");
    Some(Slip { key: "reference", message, help: NO_REFERENCE })
}

/// Whether a text sends the reader elsewhere, as "see solution above".
fn is_pointer(text: &str) -> bool {
    let text = text.trim_start_matches(['(', '[', '\\', '$']);
    let text = text.strip_prefix("text{").unwrap_or(text);
    ["see ", "refer to ", "as shown "].iter().any(|start| text.starts_with(start))
}

/// Labels that are on a scale of their own.
fn scales(rows: &[Row]) -> Option<Slip> {
    let number = |label: &Value| match label {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let labels: Vec<f64> = rows
        .iter()
        .filter_map(|row| number(row.label.as_ref()?))
        .filter(|own| own.is_finite())
        .collect();
    let is_scaled = labels.iter().any(|label| ![0.0, 1.0, -1.0].contains(label));
    let mut values: Vec<f64> = labels;
    values.sort_by(f64::total_cmp);
    values.dedup();
    is_scaled.then(|| {
        let few: Vec<String> = values.iter().take(SCALE_SHOWN).map(f64::to_string).collect();
        let more = if values.len() > SCALE_SHOWN { ", ..." } else { "" };
        let message = format!(
            "labels are {}{more}, and {RIGHT_FROM} and more counts as right",
            few.join(", ")
        );
        let help = "write true and false, by the value from which on an answer is right";
        Slip { key: "label", message, help }
    })
}

/// Bytes that `str` of Python wrote.
fn bytes_as_text(rows: &[Row], plan: &Plan) -> Option<Slip> {
    // What a program gives back may be bytes.
    if plan.rewards.iter().any(|planned| planned.built.spec.id == "program_output") {
        return None;
    }
    let is_bytes = |text: &str| {
        let text = text.trim();
        let quotes = [("b'", "'"), ("b\"", "\"")];
        text.len() > 2
            && quotes.iter().any(|(open, end)| text.starts_with(open) && text.ends_with(end))
    };
    let of = |key: &'static str, text: for<'a> fn(&'a Sample) -> Option<&'a str>| {
        let (place, first) = slipped(rows, |row| text(&row.sample).is_some_and(is_bytes))?;
        let shown = shown(text(&first.sample)?);
        let message = format!("{place}: the {key} is bytes written as text, such as {shown}");
        Some(Slip { key, message, help: "write text: `.decode()` takes it out of bytes" })
    };
    of("completion", |sample| Some(sample.completion()))
        .or_else(|| of("reference", |sample| sample.reference()?.as_str()))
}

/// Several right answers in one text, where an answer is compared: `2|2.0`, `1/2 or 0.5`.
fn alternatives(rows: &[Row], plan: &Plan) -> Option<Slip> {
    if !plan.rewards.iter().any(compares) {
        return None;
    }
    let is_slip = |row: &Row| {
        let text = row.sample.reference().and_then(Value::as_str).unwrap_or_default();
        let parts = |sign: &str| -> Vec<f64> {
            let read = |part: &str| number(part.trim().trim_matches('$'));
            text.split(sign).map(read).collect::<Option<_>>().unwrap_or_default()
        };
        let equal = parts(" or ");
        // "x = 2 or x = 3" is one answer: both are wanted.
        parts("|").len() > 1
            || equal.len() > 1 && equal.iter().all(|part| equal.first() == Some(part))
    };
    let (place, first) = slipped(rows, is_slip)?;
    let shown = shown(&first.sample.reference_text()?);
    let message = format!("{place}: the reference is several answers in one text, such as {shown}");
    Some(Slip {
        key: "reference",
        message,
        help: "write a list of answers: any of them is then right",
    })
}

/// A decimal number or a fraction of two.
fn number(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((above, below)) => {
            Some(above.trim().parse::<f64>().ok()? / below.trim().parse::<f64>().ok()?)
        }
        None => text.parse().ok(),
    }
}

/// Whether a reward compares answers with the reference.
pub(super) fn compares(planned: &Planned) -> bool {
    let (id, settings) = (planned.built.spec.id.as_ref(), &planned.built.spec.settings);
    let is_set = |key: &str| match settings.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::Array(values)) => !values.is_empty(),
        Some(_) => true,
    };
    ANSWER_VERIFIERS.contains(&id)
        && match id {
            "contains" => !["all", "any", "none"].into_iter().any(is_set),
            "regex" => is_set("group"),
            _ => true,
        }
}

/// Lists that `str` of Python and arrays wrote, where an answer is compared; for `json` objects too.
fn lists_as_text(rows: &[Row], plan: &Plan) -> Option<Slip> {
    let is_json = plan.rewards.iter().any(|planned| planned.built.spec.id == "json");
    if !(is_json || plan.rewards.iter().any(compares)) {
        return None;
    }
    let is_math = plan.rewards.iter().any(|planned| planned.built.spec.id == "math");
    let quotes = [("['", "']"), ("[\"", "\"]"), ("{'", "}")];
    let is_slip = |row: &Row| {
        let text = row.sample.reference().and_then(Value::as_str).unwrap_or_default().trim();
        let is_quoted = |(open, end): &(&str, &str)| text.starts_with(open) && text.ends_with(end);
        // `json` takes text that is JSON, and everybody else an object.
        let is_value = if is_json {
            quotes.iter().any(is_quoted) && serde_json::from_str::<Value>(text).is_err()
        } else {
            // A list of one text is read as the text.
            let is_one = serde_json::from_str::<[String; 1]>(text).is_ok();
            quotes.iter().take(2).any(is_quoted) && !(is_one && is_math)
        };
        is_value || OBJECTS.iter().any(|open| text.starts_with(open))
    };
    let (place, first) = slipped(rows, is_slip)?;
    let shown = shown(&first.sample.reference_text()?);
    let message =
        format!("{place}: the reference is a value of Python written as text, such as {shown}");
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
        let completion = row.sample.completion().trim_end();
        let within = TEMPLATE_MARKS.into_iter().find(|mark| completion.contains(mark));
        within.or_else(|| END_MARKS.into_iter().find(|mark| completion.ends_with(mark)))
    };
    let first = rows.iter().find_map(mark)?;
    let amount = rows.iter().filter(|row| mark(row).is_some()).count();
    let (amount, all) = (count(amount as u64), count(rows.len() as u64));
    let message = format!(
        "{amount} of {all} completions hold `{first}`, a mark of a tokenizer or its template"
    );
    let help = "pass only the new text, decoded without special tokens";
    Some(Slip { key: "completion", message, help })
}

/// Completions that begin to think and never end.
fn unclosed_thinking(rows: &[Row]) -> Option<Slip> {
    let is_open = |row: &&Row| thinking::answer(row.sample.completion(), Thinking::Skip).is_none();
    let amount = rows.iter().filter(is_open).count();
    (amount > 0 && amount * UNCLOSED_SHARE >= rows.len()).then(|| {
        let (amount, all) = (count(amount as u64), count(rows.len() as u64));
        let message = format!("{amount} of {all} completions never end their thinking");
        let help = "an answer within it is none; give the policy more tokens, or stop no generation at the \
                    mark that ends it";
        Slip { key: "completion", message, help }
    })
}

fn mixed_group(rows: &[Row], config: &Config) -> Option<Slip> {
    config.data.group.as_ref()?;
    let mut groups: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<String>)> = BTreeMap::new();
    for row in rows {
        if let Some(group) = row.sample.group() {
            let (prompts, references) = groups.entry(group).or_default();
            prompts.insert(row.sample.prompt());
            references.extend(row.sample.reference().map(Value::to_string));
        }
    }
    let (group, (prompts, references)) = groups
        .into_iter()
        .find(|(_, (prompts, references))| prompts.len() > 1 || references.len() > 1)?;
    let (amount, what) = match prompts.len() {
        0 | 1 => (references.len(), "references"),
        prompts => (prompts, "prompts"),
    };
    let message = format!("group \"{}\" holds rows of {amount} different {what}", escape(group));
    let help = "the samples of one prompt share a group: name another column, or leave group out";
    Some(Slip { key: "group", message, help })
}

fn meta_without_members(rows: &[Row], config: &Config) -> Option<Slip> {
    let column = config.data.meta.as_ref()?;
    let is_other = |row: &Row| row.sample.meta().get(column).is_some_and(|own| !own.is_object());
    let (place, _) = slipped(rows, is_other)?;
    let message =
        format!("{place}: \"{}\" is no object, and has no members to read", escape(column));
    let help = "leave meta out: every other column is metadata by its own name";
    Some(Slip { key: "meta", message, help })
}

/// Which rows have a slip, and the first of them.
pub(super) fn slipped(rows: &[Row], is_slip: impl Fn(&Row) -> bool) -> Option<(String, &Row)> {
    let mut all = rows.iter().filter(|row| is_slip(row));
    let first = all.next()?;
    Some((which(1 + all.count(), first.number), first))
}

/// The beginning of a text.
pub(super) fn shown(text: &str) -> String {
    escape(&text.chars().take(SHOWN_CHARS).collect::<String>())
}

/// Which rows have a slip.
pub(super) fn which(amount: usize, first: u64) -> String {
    match amount {
        1 => format!("row {first}"),
        amount => format!("{} rows, first row {first}", count(amount as u64)),
    }
}
