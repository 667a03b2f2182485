//! The names under which judges write a verdict: before a colon, as a tag, as a member of an object.
//! Which name it is never decides what the verdict is.

use std::sync::LazyLock;

use super::value::says;

/// What a name says of the value behind it.
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

/// The names of each class.
static NAMES: LazyLock<Vec<(&str, Class)>> = LazyLock::new(|| {
    let named =
        |(class, names): (Class, &'static str)| names.split('|').map(move |name| (name, class));
    let all = [
        (
            Class::Verdict,
            "verdict|grade|score|rating|decision|judgement|judgment|criteria met|criterion met|met|correct|\
             correctness|is correct|pass|passed|passes|satisfied|satisfies|fulfilled|fulfils|fulfills|meets|\
             meets criteria|meets criterion|valid|meet|satisfy|true|accepted|acceptable|right|requirement met|\
             criteria satisfied|criterion satisfied|判断|判定|评分|得分|分数|评级|打分|总分|裁决|是否正确|是否满足|正确|\
             urteil|bewertung|punktzahl|veredicto|puntuación|calificación|verdetto|punteggio|jugement|décision|\
             оценка|вердикт",
        ),
        (
            Class::Heading,
            "result|overall|total|final|correction|revision|update|conclusion|assessment|evaluation|label|points|mark|outcome|status|ruling|ranking|\
             classification|判断结果|结论|结果|评价|评估|评判|ergebnis|fazit|resultado|conclusión|résultat|risultato|\
             результат|вывод",
        ),
        (
            Class::Answer,
            "answer|choice|option|selection|response|output|答案|回答|antwort|respuesta|réponse|risposta|ответ",
        ),
        (
            Class::Contrary,
            "incorrect|wrong|fail|failed|fails|unmet|not met|false|no|invalid|unsatisfied|violated",
        ),
    ];
    all.into_iter().flat_map(named).collect()
});

/// Words before a name that leave it what it is.
const QUALIFIERS: &[&str] = &[
    "the",
    "my",
    "our",
    "your",
    "its",
    "this",
    "a",
    "so",
    "and",
    "but",
    "therefore",
    "thus",
    "hence",
    "here",
    "is",
    "final",
    "revised",
    "overall",
    "total",
    "judge",
    "judge's",
    "evaluation",
    "grading",
    "quality",
    "integer",
    "最终",
    "我的",
    "总",
    "总体",
    "finales",
    "mein",
];
/// Those that say it is the last word.
const LAST: [&str; 8] =
    ["final", "overall", "total", "correction", "revision", "revised", "最终", "finales"];

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

/// Subjects before a name that says something of them: "the answer is correct", "is it correct".
const SUBJECTS: [&str; 14] = [
    "answer",
    "response",
    "submission",
    "solution",
    "completion",
    "output",
    "criterion",
    "criteria",
    "requirement",
    "requirements",
    "it",
    "does",
    "did",
    "are",
];
/// Objects behind a name.
const OBJECTS: [&str; 7] = [
    " the criterion",
    " the criteria",
    " the requirement",
    " the requirements",
    " criterion",
    " criteria",
    " it",
];

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
    if let Some(object) = OBJECTS.iter().find(|object| name.ends_with(*object)) {
        let verbs = ["meets", "satisfies", "fulfils", "fulfills", "passes", "meet", "satisfy"];
        let verb = name.strip_suffix(object).unwrap_or_default();
        name = if verbs.iter().any(|known| verb.ends_with(known)) { verb } else { name };
    }
    let (mut is_final, mut has_subject) = (false, false);
    loop {
        if !own.is_empty() && name == own {
            return Some(Label { name: own, class: Class::Verdict, is_final });
        }
        let found = NAMES.iter().find(|(known, _)| *known == name);
        if let Some((_, class)) = found {
            let class = *class;
            is_final |= LAST.contains(&name);
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
            None => QUALIFIERS
                .iter()
                .filter(|word| !word.is_ascii())
                .find_map(|word| Some((*word, name.strip_prefix(word)?)))?,
        };
        let is_subject = SUBJECTS.contains(&first);
        if !is_subject && !QUALIFIERS.contains(&first.trim_end_matches([',', ':'])) {
            return None;
        }
        has_subject |= is_subject;
        is_final |= LAST.contains(&first);
        name = rest;
    }
}
