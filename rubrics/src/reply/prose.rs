//! Yes and no in sentences, where nothing is labelled: only what agrees with itself is a verdict.

use std::cell::LazyCell;
use std::sync::LazyLock;

use assay_verifiers::Pattern;
use assay_verifiers::language::judge;

use super::asked::Told;
use super::label::{self, Class};
use super::marks::is_reported;
use super::pair::sentence;
use super::seen::Material;
use super::value::{self, AROUND, Value};
use crate::rubric::{Answer, AnswerKind};

/// The most sentences that are read.
const STATEMENTS_MAX: usize = 200;

/// What is said of the answer or of the criterion.
static STATEMENT: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)(?P<subject>\b(?:it|this|(?:the|this|that|its|their|his|her|all|both)\s+(?:(?:final|student|candidate|given|
            submitted|proposed|provided|model|generated|assistant|user)(?:['’]s)?\s+){0,2}(?:answers?|responses?|solution|
            submission|completion|output|result|letter|text|criterion|criteria|requirements?|conditions?|rubric|
            assistant|candidate|student|model))\s+)?
        \b(?:(?:is|was|are|were|remains|seems|appears|has\ been|have\ been|has\ not\ been|have\ not\ been|ha(?:s|ve)n['’]t\ been|be)(?:n['’]t|\s+not|\s+never)?
            (?P<adverb>(?:\s+(?:\w+ly|also|in\ fact|indeed|all|both|now|thus)){0,3})\s+
            (?:(?P<good>correct|right|met|satisfied|fulfilled|valid|true|acceptable)|
                (?P<bad>incorrect|wrong|unmet|unsatisfied|unfulfilled|invalid|false|unacceptable))
        |(?P<does_not>(?:do|does|did)(?:n['’]t|\s+not)\s+(?:\w+ly\s+)?(?:meet|satisfy|fulfill?|pass)|
            fails?\s+to\s+(?:meet|satisfy|fulfill?|pass)|failed\s+to\s+(?:meet|satisfy|fulfill?|pass)|fails\s+the\s+criteri\w+)
        |(?P<does>(?:\w+ly\s+)?(?:meets|satisfies|fulfill?s|passes)\s+(?:\w+\s+){0,3}?(?:criteri\w+|requirements?|conditions?|rubric)))\b",
    )
    .ok()
});
/// What takes back a part of a sentence.
static BUT: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)\b(?:but|however|although|though|except|yet|if|unless|only|in\ (?:form|part|some|most|spirit|principle)|
        apart\ from|partial\w*|partly|mostly|largely|almost|nearly|somewhat|not\ sure|unsure|maybe|perhaps)\b",
    )
    .ok()
});

/// The verdict of sentences.
pub(super) fn read(text: &str, kind: &AnswerKind, material: &[&str]) -> Option<Told> {
    if !kind.is_yes_no() {
        return None;
    }
    let mut said = Vec::new();
    match opening(text, kind, material) {
        Ok(opening) => said.extend(opening),
        Err(Hedged) => return None,
    }
    said.extend(closing(text, kind, material));
    said.extend(statements(text, kind, material).ok()?);
    let (first, _) = said.first()?.clone();
    let agrees = said.iter().all(|(told, _)| *told == first);
    (agrees && said.iter().any(|(_, states)| *states)).then_some(first)
}

/// Whether a sentence about the answer says something else.
pub(super) fn denies(text: &str, told: &Told, kind: &AnswerKind) -> bool {
    let said = statements(text, kind, &[]);
    kind.is_yes_no()
        && said.is_ok_and(|said| said.iter().any(|(other, states)| *states && other != told))
}

/// What each sentence says, and whether it is said of the answer or the criterion.
fn statements(
    text: &str,
    kind: &AnswerKind,
    material: &[&str],
) -> Result<Vec<(Told, bool)>, Hedged> {
    let mut said = Vec::new();
    let (Some(pattern), Some(but)) = (STATEMENT.as_ref(), BUT.as_ref()) else { return Ok(said) };
    let material = LazyCell::new(|| Material::of(material));
    for found in pattern.captures_iter(text).take(STATEMENTS_MAX) {
        said.extend(statement(text, &found, but, kind, &material)?);
    }
    Ok(said)
}

fn statement(
    text: &str,
    found: &regex::Captures<'_>,
    but: &Pattern,
    kind: &AnswerKind,
    material: &Material,
) -> Result<Option<(Told, bool)>, Hedged> {
    let whole = found.get_match();
    let (before, after) = (&text[..whole.start()], &text[whole.end()..]);
    let (from, to) = sentence::bounds(text, whole.start(), whole.end());
    let rest = &text[whole.end()..to];
    let is_elsewhere = is_reported(before)
        || sentence::is_conditional(before, after)
        || rest.trim_end().ends_with('?')
        || material.contains(&text[from..to]);
    if is_elsewhere {
        return Ok(None);
    }
    let joined = after.trim_start_matches(['*', '_', '`', ' ', ')']);
    let is_hedged = sentence::is_denied(before)
        || (joined.starts_with([':', '=', '-', '–', '—'])
            && value::leading(joined.trim_start_matches(['=', '-', '–', '—']), kind)
                != Value::None)
        || but.is_match(rest)
        || but.is_match(found.name("adverb").map_or("", |adverb| adverb.as_str()));
    if is_hedged {
        return Err(Hedged);
    }
    let word = found.name("good").or_else(|| found.name("bad"));
    let lead = word.and_then(|word| text.get(whole.start()..word.start())).unwrap_or_default();
    let is_negated = judge::NEGATIONS.iter().any(|not| lead.contains(not));
    // "Correct, no".
    if word.is_some_and(|word| {
        text.get(word.start()..).is_some_and(|rest| value::leading(rest, kind) == Value::Hedge)
    }) {
        return Err(Hedged);
    }
    // "Not wrong" is not a yes.
    if is_negated && found.name("bad").is_some() {
        return Err(Hedged);
    }
    let is_yes = found.name("does").is_some() || (found.name("good").is_some() && !is_negated);
    let value = if is_yes { 1.0 } else { 0.0 };
    let states = ["subject", "does", "does_not"].iter().any(|name| found.name(name).is_some());
    Ok(Some((Told::Answer(Answer { share: value, value }), states)))
}

/// The words are a yes and a no at once.
struct Hedged;

/// `Yes, because ...`: a first line that opens with yes or no.
fn opening(
    text: &str,
    kind: &AnswerKind,
    material: &[&str],
) -> Result<Option<(Told, bool)>, Hedged> {
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else { return Ok(None) };
    let Some((told, _)) = opens(first, kind)? else { return Ok(None) };
    let copied = |text: &&str| {
        text.lines().any(|line| matches!(opens(line, kind), Ok(Some(_)) | Err(Hedged)))
    };
    Ok((!material.iter().any(copied)).then_some((told, true)))
}

fn opens<'t>(line: &'t str, kind: &AnswerKind) -> Result<Option<(Told, &'t str)>, Hedged> {
    let words =
        line.trim_start_matches(|c: char| AROUND.contains(&c) || matches!(c, '#' | '-' | '>'));
    let (told, end) = match value::leading(words, kind) {
        Value::Told(told, end) => (told, end),
        Value::Hedge => return Err(Hedged),
        Value::None => return Ok(None),
    };
    let (word, rest) = words.split_at(end);
    let behind = rest.trim_start_matches(['*', '_', '`']);
    // "Correct:" is a label, and says nothing; "Incorrect:" and "No:" open a sentence.
    let joins = behind.trim_start().starts_with([':', '-', '–', '—', '=']);
    let is_label = joins && label::of(word, "").is_some_and(|label| label.class == Class::Verdict);
    let breaks = behind.starts_with([',', '.', ';', ':', '!', '-', '–', '—', '。', '，'])
        || behind.starts_with(" -")
        || behind.starts_with(" –")
        || behind.starts_with(" —")
        || behind.starts_with(" (");
    let is_word = word.eq_ignore_ascii_case("yes") || word.eq_ignore_ascii_case("no");
    let goes_on = is_word && behind.starts_with(' ') && !behind.trim_start().starts_with("doubt");
    Ok((!is_label && (breaks || goes_on)).then_some((told, rest)))
}

/// The last sentence, where it is an answer and nothing else.
fn closing(text: &str, kind: &AnswerKind, material: &[&str]) -> Option<(Told, bool)> {
    let line = text.trim_end().lines().next_back()?;
    let line = line.trim_end_matches(['.', '*', ' ']);
    let last = [". ", "? ", "! "].iter().filter_map(|stop| Some(line.rsplit_once(stop)?.1));
    let last = last.min_by_key(|sentence| sentence.len())?;
    let told = value::whole(last, kind)?;
    let copied = |text: &&str| {
        text.lines().any(|line| value::whole(line, kind).is_some() || line.contains(last.trim()))
    };
    (!material.iter().any(copied)).then_some((told, true))
}
