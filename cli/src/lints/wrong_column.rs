//! A column is read as what it is not: answers that are wrong, all choices, labels or the prompt as the reference, one
//! column as prompt and completion, the reference as the completion of every row, text as the metadata.
//!
//! Looks at the names in [data] and at the values beside them. Fix: [data] reference names the column of the right
//! answers, completion that of what the policy answered, prompt that of the questions; `--labels COLUMN` compares
//! rewards with labels.

use assay::verifiers::Content;
use serde_json::Value;

use super::look::{Finding, Look};

/// How words begin by which columns call answers that are not right.
const WRONG: [&str; 6] = ["rejected", "incorrect", "distractor", "wrong", "negative", "corrupted"];
/// Columns that hold every answer there is to choose from, and columns that say whether an answer is right.
const CHOICES: &str = " options choices candidates alternatives answer_choices ";
const LABELS: &str =
    " label labels correct is_correct is_right passed pass score reward correctness ";

pub(super) fn find(look: Look<'_>) -> Vec<Finding> {
    let columns = &look.plan.config.data;
    let (reference, prompt) = (columns.reference.as_str(), columns.prompt.as_str());
    let mut found = Vec::new();
    if let Some(what) = misread(look) {
        found.push(
            Finding::new("data.reference", "misread").with("what", what).with("column", reference),
        );
    }
    // A conversation has both.
    let mut contents = look.rows.iter().map(|row| row.sample.completion_content());
    if prompt == columns.completion && contents.any(|own| matches!(own, Content::Text(_))) {
        found.push(Finding::new("data.completion", "prompt").with("column", prompt));
    }
    let copies = look.rows_with(|row| {
        let (text, completion) = (row.sample.reference_text(), row.sample.completion());
        !completion.is_empty() && text.is_some_and(|own| own == completion)
    });
    if copies.len() > 1 && copies.len() == look.rows.len() {
        found.push(Finding::new("data.completion", "copies").with("rows", copies.len()));
    }
    if let Some(column) = &columns.meta {
        let is_other = |value: Option<&Value>| value.is_some_and(|own| !own.is_object());
        let other = look.rows_with(|row| is_other(row.sample.meta().get(column)));
        found.extend(other.first().map(|first| {
            let own = Finding::new("data.meta", "meta").with("column", column.as_str());
            own.with("rows", other.len()).with("row", first.number)
        }));
    }
    found
}

/// What the column of references is read as, and hardly is.
fn misread(look: Look<'_>) -> Option<&'static str> {
    let columns = &look.plan.config.data;
    let lower = columns.reference.to_lowercase();
    let mut words = lower.split(|char: char| !char.is_alphanumeric());
    let is_wrong = words.any(|word| WRONG.iter().any(|start| word.starts_with(start)));
    let pays = look
        .rewards()
        .any(|(at, planned, _)| look.aspect(at).is_answer() && planned.weight.at(look.step) > 0.0);
    let all = |is_it: fn(&Value) -> bool| {
        look.rows.iter().all(|row| row.sample.reference().is_some_and(is_it))
    };
    let is_in = |names: &str, name: &str| names.contains(&format!(" {name} "));
    let is_list = |own: &Value| match own {
        Value::Array(values) => values.len() > 1,
        Value::Object(members) => members.values().any(Value::is_array),
        _ => false,
    };
    let is_label =
        |own: &Value| own.is_boolean() || own.as_f64().is_some_and(|own| [0.0, 1.0].contains(&own));
    if look.rows.iter().all(|row| row.sample.reference().is_none()) {
        return None;
    }
    if columns.reference == columns.prompt {
        return Some("the prompt and as the reference");
    }
    if is_wrong && (pays || lower.contains("rejected")) {
        return Some("the reference: an answer that equals it is right");
    }
    if pays && is_in(CHOICES, lower.rsplit('.').next()?) && all(is_list) {
        return Some("the reference: each of the choices is right");
    }
    (is_in(LABELS, &columns.reference) && all(is_label))
        .then_some("the reference, and says whether an answer is right")
}
