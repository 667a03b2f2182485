//! The names under which judges write a verdict: before a colon, as a tag, as a member of an object.
//! Which name it is never decides what the verdict is.

use assay_verifiers::language::judge;

use super::value::says;

/// What a name says of the value after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It is the verdict: `verdict`, `score`, `correct`.
    Verdict,
    /// It is the verdict, or the heading of a text: `result`, `evaluation`.
    Heading,
    /// It is the verdict, or the answer that is judged. Any other name comes first.
    Answer,
    /// It is the contrary of the verdict: `incorrect: yes` says two things.
    Contrary,
}

/// The class of a name.
fn class_of(name: &str) -> Option<Class> {
    let classes = [
        (judge::VERDICTS, Class::Verdict),
        (judge::HEADINGS, Class::Heading),
        (judge::ANSWERS, Class::Answer),
        (judge::CONTRARIES, Class::Contrary),
    ];
    classes.into_iter().find_map(|(names, class)| names.contains(&name).then_some(class))
}

/// A name: its words, and whether it is said to be the last word.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) class: Class,
    pub(super) is_final: bool,
}

/// The words of a name in lower case, without markup: `finalScore`, `**Final score**`, `FINAL_SCORE`.
pub(super) fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        before = c;
        match c {
            '_' | '-' | '–' | '*' | '#' | '`' | '"' | '\'' | '>' | '|' | '“' | '”' | '•' | '\t'
            | '?' | '[' | ']' => {
                out.push(' ');
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name that lists what may be answered: "yes/no", "true or false".
fn alternatives(name: &str) -> Option<&str> {
    let parts = name.split('/').flat_map(|part| part.split(" or ")).map(str::trim);
    let is_list = name.contains('/') || name.contains(" or ");
    let said: Option<Vec<bool>> = parts.map(says).collect();
    said.filter(|said| is_list && said.contains(&true) && said.contains(&false)).map(|_| name)
}

/// The label that a text is; `own`: what the request calls the verdict.
pub(super) fn of(text: &str, own: &str) -> Option<Label> {
    // A longer text is not a name.
    if text.len() > 80 + own.len() {
        return None;
    }
    let plain_text = plain(text);
    let own = plain(own);
    let mut name = plain_text
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '(' | ' '));
    if let Some(object) = judge::OBJECTS.iter().find(|object| name.ends_with(*object)) {
        let verb = name.strip_suffix(object).unwrap_or_default();
        name = if judge::MEETING.iter().any(|known| verb.ends_with(known)) { verb } else { name };
    }
    let (mut is_final, mut has_subject) = (false, false);
    loop {
        if !own.is_empty() && name == own {
            return Some(Label { name: own, class: Class::Verdict, is_final });
        }
        if let Some(class) = class_of(name) {
            is_final |= judge::LAST.contains(&name);
            // "Student's answer" is not a verdict, "is the answer correct" asks for one.
            return (!has_subject || class == Class::Verdict).then(|| Label {
                name: name.to_owned(),
                class,
                is_final,
            });
        }
        if let Some(listed) = alternatives(name) {
            return Some(Label { name: listed.to_owned(), class: Class::Verdict, is_final });
        }
        let (first, rest) = match name.split_once(' ') {
            Some(split) => split,
            None => judge::QUALIFIERS
                .iter()
                .filter(|word| !word.is_ascii())
                .find_map(|word| Some((*word, name.strip_prefix(word)?)))?,
        };
        let is_subject = judge::SUBJECTS.contains(&first);
        if !is_subject && !judge::QUALIFIERS.contains(&first.trim_end_matches([',', ':'])) {
            return None;
        }
        has_subject |= is_subject;
        is_final |= judge::LAST.contains(&first);
        name = rest;
    }
}
