//! Which format a value is of, and where in a row the rubric stands.

use serde_json::Value;

use super::format::Format;
use super::found::Found;
use super::place::At;

/// Members of a row that may hold a rubric, in the order in which they are looked at.
const HOLDERS: [&str; 12] = assay_verifiers::words::list(
    "rubrics rubric score_rubric tree grader criteria scorers scorer method reinforcement \
     testing_criteria reference",
);
/// The deepest that a rubric is within a row.
const HOLDERS_MAX: usize = 4;
/// The types of graders of `OpenAI`.
const GRADERS: [&str; 6] =
    ["string_check", "text_similarity", "score_model", "label_model", "python", "multi"];

/// The value with the JSON that is in its texts opened: the value itself, and what may hold a
/// rubric.
pub(super) fn opened(value: Value) -> Value {
    opened_to(value, HOLDERS_MAX)
}

fn opened_to(value: Value, depth: usize) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text.trim()) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) if depth > 0 => {
                opened_to(inner, depth - 1)
            }
            _ => Value::String(text),
        },
        // Our own rubric is read as it is: its reference may well be JSON.
        Value::Object(members) if members.get("criterion").is_some_and(Value::is_array) => {
            Value::Object(members)
        }
        Value::Object(mut members) if depth > 0 => {
            for key in HOLDERS.into_iter().chain(["checklist"]) {
                if let Some(held) = members.get_mut(key) {
                    *held = opened_to(held.take(), depth - 1);
                }
            }
            Value::Object(members)
        }
        other => other,
    }
}

/// The rubric within a value, of the format that is wanted, if one is.
pub(super) fn find(at: At<'_>, wanted: Option<Format>) -> Option<(Format, Found<'_>)> {
    find_within(at, wanted, Vec::new())
}

fn find_within<'a>(
    at: At<'a>,
    wanted: Option<Format>,
    around: Vec<At<'a>>,
) -> Option<(Format, Found<'a>)> {
    if let Some(format) = shape(&at).filter(|format| wanted.is_none_or(|want| want == *format)) {
        return Some((format, Found { at, around }));
    }
    if around.len() == HOLDERS_MAX {
        return None;
    }
    HOLDERS.iter().find_map(|key| {
        let around = around.iter().cloned().chain([at.clone()]).collect();
        find_within(at.key(key)?, wanted, around)
    })
}

fn shape(at: &At<'_>) -> Option<Format> {
    match at.value {
        Value::Array(items) => list_shape(items),
        Value::Object(_) => object_shape(at),
        Value::String(text) => {
            let is_shown = text.trim_start().starts_with('[') && text.contains("Score 1:");
            is_shown.then_some(Format::Prometheus)
        }
        _ => None,
    }
}

fn list_shape(items: &[Value]) -> Option<Format> {
    // One criterion that lacks a key is of the format of the others.
    let has = |key: &str| items.iter().any(|item| item.get(key).is_some());
    let has_any = |keys: &[&str]| keys.iter().any(|key| has(key));
    let has_scorer = items.iter().any(is_scorer);
    if items.is_empty() {
        return None;
    }
    if items.iter().all(Value::is_string) {
        return Some(Format::Wildbench);
    }
    if has_scorer && items.len() == 1 {
        return Some(Format::Inspect);
    }
    let is_checklists = items.iter().any(Value::is_array) || has_any(&["turns", "checklist"]);
    if is_checklists || has("items") {
        return Some(Format::Cm2);
    }
    if has("type") {
        let of_openai = items.iter().any(is_grader);
        return Some(if of_openai { Format::OpenaiGrader } else { Format::Promptfoo });
    }
    if has("name") && has("text") {
        return Some(Format::Verifiers);
    }
    if has("description") && has_any(&["weight", "category", "title"]) {
        return Some(Format::RubricsAsRewards);
    }
    if has("points") && has("criterion") {
        return Some(Format::Healthbench);
    }
    if has("weight") && has_any(&["criterion", "criteria", "text"]) {
        return Some(Format::ResearchRubrics);
    }
    (has("id") && has_any(&["criteria", "criterion"])).then_some(Format::NemoGym)
}

fn object_shape(at: &At<'_>) -> Option<Format> {
    let has = |key: &str| at.key(key).is_some();
    let is_list = |key: &str| at.key(key).is_some_and(|member| member.value.is_array());
    // Rows of code have `tests` too.
    let is_test = |key: &str| {
        let Some(held) = at.key(key) else { return false };
        let first = held.value.get(0).unwrap_or(held.value);
        first.get("assert").is_some() || first.get("vars").is_some()
    };
    let objects = [
        (is_list("criterion"), Format::Assay),
        (is_grader(at.value) || has("calculate_output"), Format::OpenaiGrader),
        (is_list("assert") || is_test("defaultTest") || is_test("tests"), Format::Promptfoo),
        (is_scorer(at.value), Format::Inspect),
        (has("requirements"), Format::Paperbench),
        (has("score1_description"), Format::Biggen),
        (has("orig_criteria") || (has("levels") && has("criterion")), Format::Prometheus),
        (has("checklist") && !has("turns"), Format::Wildbench),
        (has("turns") || has("checklists"), Format::Cm2),
        (has("type") && (has("value") || has("metric")), Format::Promptfoo),
    ];
    objects.into_iter().find(|(is, _)| *is).map(|(_, format)| format)
}

/// Whether it is a grader of `OpenAI`; `promptfoo` has a type `python` too.
fn is_grader(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    GRADERS.contains(&kind) && (kind != "python" || value.get("source").is_some())
}

fn is_scorer(value: &Value) -> bool {
    let named = |key: &str| {
        let name = value.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        ["model_graded_qa", "model_graded_fact"].contains(&name)
    };
    named("scorer") || named("name") || named("type")
}
