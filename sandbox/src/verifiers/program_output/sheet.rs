//! Several answers in one completion: a JSON object with an answer under each id, or tags.

use std::collections::BTreeMap;
use std::ops::Range;

use assay_verifiers::{Fault, Meter};

use super::find::{Answer, Find, Placed};
use super::question::Question;
use crate::answer;
use crate::value::PyValue;
use crate::value::literal::{self, Words};

/// Objects that are tried, so that no text is read over and over.
const TRIED_MAX: usize = 10_000;

/// The answers in the order of the questions. `None`: there is no sheet, or one that answers a
/// question twice.
pub(super) fn answers<'a>(
    text: &'a str,
    questions: &[Question],
    how: &Find,
    meter: &mut Meter<'_>,
) -> Result<Option<Vec<Option<Answer<'a>>>>, Fault> {
    meter.spend(4 * text.len() as u64)?;
    let Some(part) = answer::part(text, how.thinking) else { return Ok(None) };
    let sheets = objects(text, part.clone(), meter)?;
    let ids = ids(questions);
    // A list may be anything, so an object that names questions comes first.
    let is_dict = |value: &PyValue| matches!(value, PyValue::Dict(_));
    let (dicts, lists): (Vec<_>, Vec<_>) = sheets.iter().rev().partition(|at| is_dict(&at.0));
    let mut sheets = dicts.into_iter().chain(lists);
    let sheet = sheets.find_map(|(value, at)| Some((sheet(value, &ids)?, *at)));
    let found = match sheet {
        Some((Sheet::Answers(values), at)) => {
            let of = |value: Option<&PyValue>| value.map(|value| from_value(value, at));
            Some(values.into_iter().map(of).collect())
        }
        Some((Sheet::Twice, _)) => None,
        None => tags(text, part, questions, meter)?,
    };
    Ok(found)
}

/// Objects of JSON (or of Python) in the text, those within others aside.
fn objects(
    text: &str,
    part: Range<usize>,
    meter: &mut Meter<'_>,
) -> Result<Vec<Placed<PyValue>>, Fault> {
    let mut found = Vec::new();
    let mut at = part.start;
    for _ in 0..TRIED_MAX {
        let rest = &text[at..part.end];
        let Some(open) = rest.find(['{', '[']) else { break };
        let rest = &rest[open..];
        let length = match literal::prefix(rest, Words::Json) {
            Ok((value, length)) => {
                found.push((value, (at + open, at + open + length)));
                length
            }
            Err(literal::NotLiteral(length)) => {
                meter.spend(length as u64)?;
                1
            }
        };
        meter.spend(length as u64)?;
        at += open + length;
    }
    Ok(found)
}

/// The place of each question by its id.
type Ids<'a> = BTreeMap<&'a str, usize>;

fn ids(questions: &[Question]) -> Ids<'_> {
    questions.iter().enumerate().map(|(at, question)| (question.id.as_str(), at)).collect()
}

/// What a value says of the questions.
enum Sheet<'a> {
    /// Answers in the order of the questions.
    Answers(Vec<Option<&'a PyValue>>),
    /// An id is there twice.
    Twice,
}

/// The sheet that a value is, if it has an answer to any of the questions.
fn sheet<'a>(value: &'a PyValue, ids: &Ids<'_>) -> Option<Sheet<'a>> {
    match value {
        PyValue::Dict(pairs) => {
            let inner = pairs.iter().find(|(key, _)| id(key).as_deref() == Some("answers"));
            if let Some((_, value)) = inner {
                return sheet(value, ids);
            }
            let mut answers = vec![None; ids.len()];
            for (key, value) in pairs {
                let place = id(key).and_then(|id| place(&id, ids));
                let Some(slot) = place.and_then(|place| answers.get_mut(place)) else { continue };
                if slot.replace(value).is_some() {
                    return Some(Sheet::Twice);
                }
            }
            answers.iter().any(Option::is_some).then_some(Sheet::Answers(answers))
        }
        PyValue::List(items) if items.len() == ids.len() => {
            Some(Sheet::Answers(items.iter().map(Some).collect()))
        }
        _ => None,
    }
}

fn id(key: &PyValue) -> Option<String> {
    match key {
        PyValue::Int(number) => Some(number.to_string()),
        key => key.as_str().map(str::to_owned),
    }
}

/// The question that is meant. An id that is a number may have a word before it: `q1`, `answer_1`.
fn place(written: &str, ids: &Ids<'_>) -> Option<usize> {
    let written = written.trim();
    if let Some(place) = ids.get(written) {
        return Some(*place);
    }
    let lower = written.to_ascii_lowercase();
    let words = ["question", "answer", "q", "a"];
    let number = words.iter().find_map(|word| lower.strip_prefix(word))?;
    let number = number.trim_start_matches(['_', '-', ' ']);
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    ids.get(number).filter(|_| is_number).copied()
}

fn from_value(value: &PyValue, span: (usize, usize)) -> Answer<'static> {
    match value {
        PyValue::Str(text) => {
            let text = String::from_utf8_lossy(text).into_owned().into();
            Answer { text, value: None, span, from: "json", quoted: true }
        }
        value => {
            let text = if *value == PyValue::None { "None" } else { "" };
            Answer {
                text: text.into(),
                value: Some(value.clone()),
                span,
                from: "json",
                quoted: false,
            }
        }
    }
}

fn tags<'a>(
    text: &'a str,
    part: Range<usize>,
    questions: &[Question],
    meter: &mut Meter<'_>,
) -> Result<Option<Vec<Option<Answer<'a>>>>, Fault> {
    let ids = ids(questions);
    let mut found = Vec::new();
    for at in 0..questions.len() {
        meter.spend(part.len() as u64)?;
        let inside = answer::tagged(text, part.clone(), |name| place(name, &ids) == Some(at));
        let answer = inside.and_then(|range| {
            let span = (range.start, range.end);
            let text = text.get(range)?;
            Some(Answer { text: text.into(), value: None, span, from: "tag", quoted: false })
        });
        found.push(answer.filter(|answer| !answer.text.trim().is_empty()));
    }
    Ok(found.iter().any(Option::is_some).then_some(found))
}
