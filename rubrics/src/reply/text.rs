//! Reading verdicts from words, for judges that write no structure.
//!
//! Labelled values come first (`Verdict: yes`, `[RESULT] 4`, `<score>4</score>`), with an answer that
//! stands alone on the first or the last line. All of them must agree, unless what comes between takes
//! back the first. Then names that may also be those of the answer which is judged (`Answer: no`), and
//! then sentences.

use std::collections::BTreeSet;

use super::asked::{AskedCriteria, CriterionVerdict, Told};
use super::error::ReplyError;
use super::label::{Class, Label};
use super::marks::{Level, Mark, scan};
use super::prose;
use super::revision;
use super::seen::{Material, visible};
use super::value::{self, AROUND, Value};
use crate::rubric::{Answer, AnswerKind, Criterion};

/// The name of an answer that stands alone on a line.
const ALONE: &str = "alone on its line";

/// The verdicts of a reply without structure; `None` where there is none on some criterion. Where the
/// reply `copies` a part of the material, bare answers may be copied too: labels alone are read.
///
/// # Errors
/// Verdicts that disagree.
pub(super) fn verdicts(
    reply: &str,
    asked: &AskedCriteria<'_>,
    copies: bool,
) -> Result<Option<Vec<CriterionVerdict>>, ReplyError> {
    let reply = visible(reply);
    let material: Vec<String> = asked.material.iter().map(|text| visible(text)).collect();
    let material: Vec<&str> = material.iter().map(String::as_str).collect();
    let told = |told: Told| CriterionVerdict {
        answer: told.known(),
        reasons: reply.trim().to_owned(),
        ..CriterionVerdict::default()
    };
    if let [criterion] = asked.criteria {
        return Ok(one(&reply, criterion, &material, copies)?.map(|answer| vec![told(answer)]));
    }
    let each = asked.criteria.iter().enumerate();
    each.map(|(at, criterion)| Ok(by_line(&reply, at, criterion, &material)?.map(told))).collect()
}

/// What the words of a member stand for.
pub(super) fn answer(words: &str, kind: &AnswerKind) -> Value {
    if let Some(answer) = kind.answer(words.trim_matches(AROUND)) {
        return Value::Told(Told::Answer(answer), words.len());
    }
    let labelled = scan(words, kind, "").into_iter().map(|mark| mark.value);
    let mut said = std::iter::once(value::leading(words, kind))
        .chain(labelled)
        .filter(|value| *value != Value::None);
    let Some(first) = said.next() else {
        return prose::read(words, kind, &[])
            .map_or(Value::None, |told| Value::Told(told, words.len()));
    };
    let agrees =
        said.all(|other| answer_of(&other).is_some() && answer_of(&other) == answer_of(&first));
    if agrees { first } else { Value::Hedge }
}

/// The verdict on one criterion. Where the material announces verdicts in the same way, the reply may
/// have copied it, and nothing is read: whichever verdict the material announces, so that no completion
/// can rule out a verdict by writing it.
fn one(
    reply: &str,
    criterion: &Criterion,
    material: &[&str],
    copies: bool,
) -> Result<Option<Told>, ReplyError> {
    let kind = &criterion.kind;
    let (weak, mut strong): (Vec<Mark>, Vec<Mark>) = scan(reply, kind, &criterion.name)
        .into_iter()
        .filter(|mark| !copies || mark.level == Level::Line)
        .partition(|mark| mark.label.class == Class::Answer);
    if !copies {
        add_alone(reply, kind, &mut strong);
    }
    for marks in [&strong, &weak] {
        match decided(reply, marks, kind)? {
            Decided::Unclear => return Ok(None),
            Decided::None => {}
            Decided::Told(told, names) => {
                let own = names.iter().any(|name| !is_announced(name, criterion, material));
                // An answer on the first line alone opens what is said after it.
                let opens =
                    names.iter().all(|name| name == ALONE) && !ends_with_answer(reply, kind);
                if opens && prose::denies(reply, &told, kind) {
                    return Err(ReplyError::Disagree);
                }
                return Ok(own.then_some(told));
            }
        }
    }
    Ok(if copies { None } else { prose::read(reply, kind, material) })
}

/// Whether the words after a structure say something else than its `answer`, in a label or alone on
/// the last line.
pub(super) fn contradicts(
    behind: &str,
    answer: Option<&Answer>,
    criterion: &Criterion,
    material: &[&str],
) -> bool {
    let is_own = |mark: &Mark| mark.level == Level::Line && mark.label.class == Class::Verdict;
    let mut marks = scan(behind, &criterion.kind, &criterion.name);
    marks.retain(is_own);
    add_alone(behind, &criterion.kind, &mut marks);
    let differs = |mark: &Mark| match &mark.value {
        Value::Told(Told::Answer(told), _) => answer.is_some_and(|answer| told != answer),
        _ => false,
    };
    marks.iter().any(|mark| differs(mark) && !is_announced(&mark.label.name, criterion, material))
}

/// Adds the answers that stand alone on the first and on the last line.
fn add_alone(reply: &str, kind: &AnswerKind, marks: &mut Vec<Mark>) {
    let mut lines = Vec::new();
    let mut from = 0;
    for line in reply.split_inclusive('\n') {
        if !line.trim().is_empty() && !line.trim_start().starts_with("```") {
            lines.push((from, line));
        }
        from += line.len();
    }
    let labelled: Vec<(usize, usize)> = marks
        .iter()
        .filter(|mark| mark.value != Value::None)
        .map(|mark| (mark.at, mark.end))
        .collect();
    let ends = [lines.first(), lines.last().filter(|_| lines.len() > 1)];
    for (from, line) in ends.into_iter().flatten() {
        let end = from + line.len();
        let is_labelled = labelled.iter().any(|(at, to)| to > from && *at <= end);
        if let Some(told) = value::whole(line, kind).filter(|_| !is_labelled) {
            let label = Label { name: ALONE.to_owned(), class: Class::Verdict, is_final: false };
            let value = Value::Told(told, line.len());
            marks.push(Mark { label, level: Level::Line, at: *from, end, value });
        }
    }
    marks.sort_by_key(|mark| mark.at);
}

fn ends_with_answer(reply: &str, kind: &AnswerKind) -> bool {
    let mut lines = reply.lines().rev().filter(|line| !line.trim().is_empty());
    lines
        .find(|line| !line.starts_with("```"))
        .is_some_and(|line| value::whole(line, kind).is_some())
}

/// What labels say together.
enum Decided {
    Told(Told, BTreeSet<String>),
    /// There is a label, and no answer that it stands for.
    Unclear,
    None,
}

fn decided(text: &str, marks: &[Mark], kind: &AnswerKind) -> Result<Decided, ReplyError> {
    let mut told: Vec<(&Mark, &Told)> = Vec::new();
    for (at, mark) in marks.iter().enumerate() {
        let is_last = marks.iter().skip(at + 1).all(|later| later.label.name != mark.label.name);
        // "Answer with yes or no" may be before the answer, on a line of its own.
        let later_line = |mark: &Mark| {
            let next = marks.iter().skip(at + 1).find(|later| later.label.name == mark.label.name);
            next.and_then(|next| text.get(mark.at..next.at))
                .is_some_and(|between| between.contains('\n'))
        };
        match (&mark.value, mark.label.class) {
            (Value::None, Class::Contrary) => {}
            (_, Class::Contrary) => return Ok(Decided::Unclear),
            (Value::Told(answer, _), _) => told.push((mark, answer)),
            (Value::Hedge, _) if is_last || !later_line(mark) => return Ok(Decided::Unclear),
            (Value::None, Class::Verdict) if is_last && is_unread(text, mark, kind, &told) => {
                return Ok(Decided::Unclear);
            }
            _ => {}
        }
    }
    let Some((last, answer)) = told.last() else { return Ok(Decided::None) };
    if let Some((earlier, _)) = told.iter().rev().find(|(_, other)| other != answer) {
        let between = &text[earlier.end.min(last.at)..last.at];
        let is_final = last.label.is_final && !earlier.label.is_final;
        let head = text[..last.at].rsplit('\n').next().unwrap_or_default();
        if !is_final && !revision::takes_back(between) && !revision::takes_back(head) {
            return Err(ReplyError::Disagree);
        }
    }
    let same = told.iter().filter(|(_, other)| other == answer);
    let names = same.map(|(mark, _)| mark.label.name.clone()).collect();
    Ok(Decided::Told((*answer).clone(), names))
}

/// Whether a label has a value after it that should be an answer and is none: a few words, or the
/// same label that had an answer before. Numbers and letters may be grades of another kind.
fn is_unread(text: &str, mark: &Mark, kind: &AnswerKind, told: &[(&Mark, &Told)]) -> bool {
    let line = text[mark.at..].lines().next().unwrap_or_default();
    let line = line.split("</").next().unwrap_or_default();
    let words = line.trim_matches(AROUND).trim_end_matches(['.', '|', ' ']);
    if mark.level != Level::Line
        || words.is_empty()
        || words.trim_matches(['|', '-', ' ']).is_empty()
    {
        return false;
    }
    if told.iter().any(|(earlier, _)| earlier.label.name == mark.label.name) {
        return true;
    }
    let is_number = words.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let is_other_grade = match kind {
        AnswerKind::Scale(_) => !is_number,
        _ => is_number || words.len() <= 2,
    };
    words.split_whitespace().count() <= 3 && (told.is_empty() || !is_other_grade)
}

/// Whether the material announces a verdict of this kind under the same name.
fn is_announced(name: &str, criterion: &Criterion, material: &[&str]) -> bool {
    let kind = &criterion.kind;
    if name == ALONE {
        let bare = |text: &&str| {
            value::whole(text, kind).is_some()
                || text.lines().any(|line| value::whole(line, kind).is_some())
        };
        return material.iter().any(bare);
    }
    material.iter().any(|text| {
        let marks = scan(text, kind, &criterion.name);
        marks.iter().any(|mark| mark.label.name == name && mark.value != Value::None)
    })
}

/// The verdict on one of several criteria: a line that starts with its name or its number.
fn by_line(
    reply: &str,
    at: usize,
    criterion: &Criterion,
    material: &[&str],
) -> Result<Option<Told>, ReplyError> {
    let number = (at + 1).to_string();
    let read = |line: &str| {
        let line = line.trim_start_matches(|c: char| AROUND.contains(&c) || matches!(c, '-' | '#'));
        let named = value::strip_word(line, &criterion.name.to_lowercase());
        let rest =
            named.or_else(|| line.strip_prefix(number.as_str())?.strip_prefix(['.', ')', ':']))?;
        let rest = rest.trim_start_matches(AROUND);
        // "1. polite: yes".
        let rest = value::strip_word(rest, &criterion.name.to_lowercase())
            .unwrap_or(rest)
            .trim_start_matches(AROUND);
        let rest = rest.trim_start_matches(['-', '=', '–', '—', '|']);
        match value::leading(rest, &criterion.kind) {
            Value::None => None,
            value => Some(value),
        }
    };
    let material = Material::of(material);
    let own: Vec<Value> =
        reply.lines().filter(|line| !material.contains(line)).filter_map(read).collect();
    let Some(last) = own.last() else { return Ok(None) };
    if own.iter().any(|other| answer_of(other) != answer_of(last)) && !revision::takes_back(reply) {
        return Err(ReplyError::Disagree);
    }
    Ok(answer_of(last).cloned())
}

fn answer_of(value: &Value) -> Option<&Told> {
    match value {
        Value::Told(told, _) => Some(told),
        _ => None,
    }
}
