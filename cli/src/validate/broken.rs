//! Rows that were broken on their way: references and prompts that do not belong together, texts that another
//! program cut or rewrote, answers that are errors, rows that are there twice.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assay::Plan;
use assay::engine::Planned;
use serde_json::Value;

use super::read::Row;
use super::slips::{NO_REFERENCE, Slip, compares, shown, slipped, which};
use crate::output::count;

/// One row in so many is no chance.
const SHARE: usize = 4;
/// One prompt in so many with two answers is no noise of labels.
const REFERENCES_SHARE: usize = 10;
/// Fewer prompts may have one answer by chance.
const PROMPTS_MIN: usize = 12;

/// Months as spreadsheets write them.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// How texts begin that a client wrote in the place of an answer.
const ERRORS: [&str; 9] = [
    "Error code: ",
    "[ERROR]",
    "ERROR:",
    "Error: ",
    "Traceback (most recent call last)",
    "Request failed",
    "HTTP Error ",
    "Internal Server Error",
    "Rate limit ",
];
/// What programs write for nothing.
const NOTHING: [&str; 5] = ["None", "nan", "null", "NaN", "undefined"];

/// Whether a reference is of a kind, what it is, and what to do.
type Rewritten = (fn(&str) -> bool, &'static str, &'static str);

/// Kinds of references that stand for nothing.
const REWRITTEN: [Rewritten; 4] = [
    (
        is_spreadsheet_date,
        "a date as a spreadsheet makes of a fraction",
        "write the answers again from where they come, with the column as text",
    ),
    (
        is_timestamp,
        "a time as a table makes of a number or a fraction",
        "write the answers again from where they come, with the column as text",
    ),
    (
        is_cut,
        "cut within braces",
        "write the answers again: the braces of LaTeX close, and a regular expression that ends at the first \
         brace cuts them",
    ),
    (is_marker, "a word in brackets in the place of an answer", NO_REFERENCE),
];

/// What is broken in the rows, each kind once.
pub(super) fn find(rows: &[Row], plan: &Plan) -> Vec<Slip> {
    let all = [
        two_references(rows, plan),
        one_reference(rows, plan),
        rewritten(rows, plan),
        errors(rows, plan),
        nothing(rows),
        twice(rows),
    ];
    all.into_iter().flatten().collect()
}

/// One prompt with several references.
fn two_references(rows: &[Row], plan: &Plan) -> Option<Slip> {
    // An answer may be like several texts.
    let is_one_right = |own: &Planned| compares(own) && own.built.spec.id != "text_similarity";
    // With a column of groups they are told of by group.
    if plan.config.data.group.is_some() || !plan.rewards.iter().any(is_one_right) {
        return None;
    }
    let mut prompts: BTreeMap<Cow<'_, str>, (u64, BTreeSet<String>)> = BTreeMap::new();
    for row in rows {
        let prompt = row.question();
        if let Some(reference) = row.sample.reference_text().filter(|_| !prompt.is_empty()) {
            let (_, references) = prompts.entry(prompt).or_insert((row.number, BTreeSet::new()));
            references.insert(reference.trim().to_lowercase());
        }
    }
    let torn = || prompts.values().filter(|(_, references)| references.len() > 1);
    let first = torn().map(|(row, _)| *row).min()?;
    let (amount, references) =
        torn().fold((0, 0), |(amount, most), (_, own)| (amount + 1, most.max(own.len())));
    (amount * REFERENCES_SHARE >= prompts.len()).then(|| {
        let of = match prompts.len() {
            1 => "the prompt has".to_owned(),
            all => format!("{} of {} prompts have", count(amount as u64), count(all as u64)),
        };
        let message = format!(
            "{of} rows of several references, as many as {references}, first row {first}: what is right for one \
             is wrong for the other"
        );
        let help = "the references are of other rows, or the prompt is not all of the question: [data] prompt \
                    names the column that tells questions apart";
        Slip { key: "prompt", message, help }
    })
}

/// Many prompts with one reference.
fn one_reference(rows: &[Row], plan: &Plan) -> Option<Slip> {
    let own = |row: &Row| row.sample.reference_text().map(|text| text.trim().to_owned());
    let first = own(rows.first()?)?;
    let is_one = rows.iter().all(|row| own(row).as_ref() == Some(&first));
    if !is_one || !plan.rewards.iter().any(compares) {
        return None;
    }
    let prompts: BTreeSet<Cow<'_, str>> = rows.iter().map(Row::question).collect();
    (prompts.len() >= PROMPTS_MIN).then(|| {
        let message = format!(
            "{} different prompts have one reference, {}",
            count(prompts.len() as u64),
            shown(&first)
        );
        let help = "is it the answer of one row, given to all of them? [data] reference names the column of the \
                    right answers";
        Slip { key: "reference", message, help }
    })
}

/// References that a spreadsheet rewrote, that were cut, or that say that there is none.
fn rewritten(rows: &[Row], plan: &Plan) -> Option<Slip> {
    let has = |id: &str| plan.rewards.iter().any(|planned| planned.built.spec.id == id);
    if !(has("math") || has("number")) {
        return None;
    }
    REWRITTEN.into_iter().find_map(|(is_slip, what, help)| {
        let text = |row: &Row| {
            row.sample.reference().and_then(Value::as_str).map(str::trim).map(str::to_owned)
        };
        let (place, first) = slipped(rows, |row| text(row).is_some_and(|own| is_slip(&own)))?;
        let message = format!("{place}: the reference is {what}, such as {}", shown(&text(first)?));
        Some(Slip { key: "reference", message, help })
    })
}

/// 3-Feb, Feb-03: what Excel makes of 3/2.
fn is_spreadsheet_date(text: &str) -> bool {
    let Some((one, other)) = text.split_once('-') else { return false };
    let is_day = |part: &str| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    MONTHS.contains(&one) && is_day(other) || is_day(one) && MONTHS.contains(&other)
}

/// 2024-01-02T00:00:00, 2024-01-02 00:00:00.
fn is_timestamp(text: &str) -> bool {
    let shape: String =
        text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    let day = shape.strip_prefix("0000-00-00").and_then(|rest| rest.strip_prefix(['T', ' ']));
    day.is_some_and(|time| time.starts_with("00:00:00"))
}

/// \frac{1}{2 without its end.
fn is_cut(text: &str) -> bool {
    let (mut open, mut is_escaped) = (0_usize, false);
    for char in text.chars() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    open > 0 && text.contains('\\')
}

/// [INVALID], <UNK>: capitals in brackets.
fn is_marker(text: &str) -> bool {
    let inner = [('[', ']'), ('<', '>')]
        .into_iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    inner.is_some_and(|word| {
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

/// Errors of a client in the place of answers.
fn errors(rows: &[Row], plan: &Plan) -> Option<Slip> {
    let begins = |text: &str| ERRORS.iter().any(|start| text.starts_with(start));
    let references = || rows.iter().flat_map(|row| row.sample.references());
    // What a program prints may be an error.
    if plan.rewards.iter().any(|planned| planned.built.spec.id == "program_output")
        || references().any(|own| begins(own.trim()))
    {
        return None;
    }
    let wanted: BTreeSet<String> = references().map(|own| own.trim().to_lowercase()).collect();
    let is_error = |row: &Row| {
        let text = row.sample.completion().trim();
        let is_nothing = NOTHING.contains(&text) && !wanted.contains(&text.to_lowercase());
        is_nothing || begins(text)
    };
    let amount = rows.iter().filter(|row| is_error(row)).count();
    if amount < 2 || amount * SHARE < rows.len() {
        return None;
    }
    let (place, first) = slipped(rows, is_error)?;
    let message = format!(
        "{place}: the completion is no answer of a policy, but what a program wrote in its place, such as {}",
        shown(first.sample.completion().trim())
    );
    let help = "leave such rows out, or ask again: what was never answered is no wrong answer";
    Some(Slip { key: "completion", message, help })
}

/// Completions that are empty, on many rows.
fn nothing(rows: &[Row]) -> Option<Slip> {
    let empty: Vec<&Row> = rows.iter().filter(|row| row.is_blank() && !row.has_calls()).collect();
    // Where all are empty, that is an error of the columns.
    let is_many = empty.len() > 1 && empty.len() * SHARE >= rows.len() && empty.len() < rows.len();
    let first = empty.first().filter(|_| is_many)?;
    let message = format!("{}: the completion is empty", which(empty.len(), first.number));
    let help = "what thought and did not answer needs more tokens; what was never answered is no wrong answer: \
                leave such rows out";
    Some(Slip { key: "completion", message, help })
}

/// Rows that are there twice, each of them, under their own ids.
fn twice(rows: &[Row]) -> Option<Slip> {
    let mut ids: BTreeMap<&str, (&Row, usize)> = BTreeMap::new();
    let mut again = None;
    for row in rows {
        let (first, copies) = ids.entry(row.sample.id()).or_insert((row, 0));
        let is_copy = first.sample.prompt_content() == row.sample.prompt_content()
            && first.sample.completion_content() == row.sample.completion_content()
            && first.sample.reference() == row.sample.reference();
        if !is_copy {
            return None;
        }
        *copies += 1;
        if *copies > 1 && again.is_none() {
            again = Some((first.number, row.number));
        }
    }
    let (first, second) = again?;
    // Answers that are alike may be equal where there are no ids; all of them are not.
    let is_all = ids.len() > 2 && ids.values().all(|(_, copies)| *copies > 1);
    is_all.then(|| {
        let message = format!(
            "every row is there more than once, with its id, prompt and completion: {} rows are {} different ones, \
             and row {second} is row {first}",
            count(rows.len() as u64),
            count(ids.len() as u64)
        );
        let help = "a file was read under two names, or written twice: name each one once";
        Slip { key: "id", message, help }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_were_rewritten_are_told() {
        for (text, expected) in [
            ("3-Feb", true),
            ("Feb-03", true),
            ("3-2", false),
            ("x-Feb", false),
            ("2024-01-02T00:00:00", true),
            ("2024-01-02", false),
            (r"\frac{1}{2", true),
            (r"\frac{1}{2}", false),
            (r"\{1, 2\}", false),
            (r"\left\{ x", false),
            ("[INVALID]", true),
            ("[A]", false),
            ("[1, 2]", false),
        ] {
            let kinds = [is_spreadsheet_date, is_timestamp, is_cut, is_marker];
            assert_eq!(kinds.iter().any(|is_slip| is_slip(text)), expected, "{text}");
        }
    }
}
