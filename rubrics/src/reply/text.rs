//! Reading verdicts from words, for judges that write no structure.
//!
//! A verdict is announced by a mark: `[RESULT] 4`, `[[4]]`, `GRADE: C` or `Verdict: yes` at the start
//! of a line. The last mark decides, and where nothing can be read behind it, nothing is read at all:
//! an earlier mark may belong to the reasoning. Without such a mark the reply is read that begins or
//! ends with the bare answer.

use std::sync::LazyLock;

use assay_verifiers::Pattern;

use super::asked::{AskedCriteria, CriterionVerdict, Told};
use crate::rubric::{Answer, AnswerChoice, AnswerKind, Criterion};

/// Marks that announce a verdict.
const MARK: &str = concat!(
    r"(?im)\[RESULT\]|\[\[|^[ \t>*_#`\-]*(?:(?:the|my|final|overall|total)[ \t]+)*",
    r"(?:verdict|grade|score|rating|result|decision|judge?ment|answer|choice|criteria[ _]met|met)",
    r"[ \t*_`]*(?:[:=]|[ \t]is\b)",
);
/// Marks in the middle of a sentence.
const WEAK_MARK: &str = concat!(
    r"(?i)\b(?:verdict|grade|score|rating|answer|choice|judge?ment)\b",
    r"(?:[ \t]+(?:is|of|would[ \t]+be)(?:[ \t]+therefore)?\b[ \t]*:?|[ \t]*[:=])",
);
/// Words for yes and no beside those that every answer knows, longer ones first.
const WORDS: [(&str, f64); 18] = [
    ("not satisfied", 0.0),
    ("not fulfilled", 0.0),
    ("not met", 0.0),
    ("incorrect", 0.0),
    ("satisfied", 1.0),
    ("fulfilled", 1.0),
    ("correct", 1.0),
    ("passed", 1.0),
    ("failed", 0.0),
    ("unmet", 0.0),
    ("false", 0.0),
    ("true", 1.0),
    ("pass", 1.0),
    ("fail", 0.0),
    ("met", 1.0),
    ("yes", 1.0),
    ("no", 0.0),
    ("y", 1.0),
];
/// Words of a judge that cannot tell.
const UNKNOWN: [&str; 8] = [
    "cannot be determined",
    "cannot determine",
    "can't tell",
    "cannot tell",
    "not applicable",
    "unknown",
    "unclear",
    "n/a",
];
/// What stands around an answer.
const AROUND: &[char] =
    &[' ', '\t', '\n', '\r', '*', '_', '`', '"', '\'', '[', ']', '(', ')', '<', '>', '{', '}', ':'];

static MARK_PATTERN: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::new(MARK).ok());
static WEAK_PATTERN: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::new(WEAK_MARK).ok());

/// The verdicts of a reply without structure; `None` where there is none on some criterion. Where the
/// reply `copies` a part of the material, bare answers may be copied too: marks alone are read.
pub(super) fn verdicts(
    reply: &str,
    asked: &AskedCriteria<'_>,
    copies: bool,
) -> Option<Vec<CriterionVerdict>> {
    let reply = visible(reply);
    let material: Vec<String> = asked.material.iter().map(|text| visible(text)).collect();
    let material: Vec<&str> = material.iter().map(String::as_str).collect();
    let told = |told: Told| CriterionVerdict {
        answer: told.known(),
        reasons: reply.trim().to_owned(),
        ..CriterionVerdict::default()
    };
    if let [criterion] = asked.criteria {
        return one(&reply, &criterion.kind, &material, copies).map(|answer| vec![told(answer)]);
    }
    let each = asked.criteria.iter().enumerate();
    each.map(|(at, criterion)| by_line(&reply, at, criterion, &material).map(told)).collect()
}

/// What words stand for; `None` where they are no answer. All of the words must belong to it, up to a break.
pub(super) fn answer(words: &str, kind: &AnswerKind) -> Option<Told> {
    let words = words.trim_matches(AROUND);
    kind.answer(words).map(Told::Answer).or_else(|| leading(words, kind))
}

/// Whether a text stands in the material, whatever the white space.
pub(super) fn stands_in(text: &str, material: &[&str]) -> bool {
    let is_seen = |c: &char| !c.is_whitespace() && !is_invisible(*c);
    let dense = |text: &str| text.chars().filter(is_seen).collect::<String>();
    let text = dense(text);
    !text.is_empty() && material.iter().any(|one| dense(one).contains(&text))
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// The verdict on one criterion. Where the material announces verdicts in the same way, the reply may
/// have copied it, and nothing is read: whichever verdict the material announces, so that no completion
/// can rule out a verdict by writing it.
fn one(reply: &str, kind: &AnswerKind, material: &[&str], copies: bool) -> Option<Told> {
    if let Some(answer) = whole(reply, kind).filter(|_| !copies) {
        return Some(answer).filter(|_| !material.iter().any(|text| whole(text, kind).is_some()));
    }
    let (strong, weak) = (MARK_PATTERN.as_ref()?, WEAK_PATTERN.as_ref()?);
    if let Some(mark) = strong.find_iter(reply).last() {
        let answer = leading(behind(reply, mark.end()), kind);
        return answer.filter(|_| !is_announced(mark.as_str(), kind, material));
    }
    if copies {
        return None;
    }
    let mut lines = reply.lines().filter(|line| !line.trim().is_empty());
    let (first, last) = (lines.next()?, lines.next_back());
    let bare = |text: &&str| text.lines().any(|line| whole(line, kind).is_some());
    if let Some(answer) = last.and_then(|line| whole(line, kind)).or_else(|| whole(first, kind)) {
        return Some(answer).filter(|_| !material.iter().any(bare));
    }
    let read = |mark: regex::Match<'_>| {
        Some((mark.as_str().to_owned(), leading(behind(reply, mark.end()), kind)?))
    };
    if let Some((mark, answer)) = weak.find_iter(reply).filter_map(read).last() {
        return Some(answer).filter(|_| !is_announced(&mark, kind, material));
    }
    let opens = |text: &&str| text.lines().any(|line| opening(line, kind).is_some());
    opening(first, kind).filter(|_| !material.iter().any(opens))
}

/// Whether the material announces a verdict of this kind by the same words.
fn is_announced(mark: &str, kind: &AnswerKind, material: &[&str]) -> bool {
    let own = announces(mark);
    let patterns = [MARK_PATTERN.as_ref(), WEAK_PATTERN.as_ref()];
    let same = |text: &str, found: &regex::Match<'_>| {
        announces(found.as_str()) == own && leading(behind(text, found.end()), kind).is_some()
    };
    material.iter().any(|text| {
        let mut patterns = patterns.iter().flatten();
        patterns.any(|pattern| pattern.find_iter(text).any(|found| same(text, &found)))
    })
}

/// The word by which a mark announces.
fn announces(mark: &str) -> Option<&'static str> {
    const MARK_WORDS: [&str; 11] = [
        "[result]", "[[", "verdict", "grade", "score", "rating", "decision", "judg", "answer",
        "choice", "met",
    ];
    let mark = mark.to_lowercase();
    MARK_WORDS.into_iter().find(|word| mark.contains(word))
}

/// The verdict on one of several criteria: a line that starts with its name or its number.
fn by_line(reply: &str, at: usize, criterion: &Criterion, material: &[&str]) -> Option<Told> {
    let number = (at + 1).to_string();
    let read = |line: &str| {
        let line = line.trim_start_matches(|c: char| AROUND.contains(&c) || matches!(c, '-' | '#'));
        let named = line.strip_prefix(criterion.name.as_str());
        let rest =
            named.or_else(|| line.strip_prefix(number.as_str())?.strip_prefix(['.', ')', ':']))?;
        let rest = rest.trim_start_matches(AROUND).trim_start_matches(['-', '=', '–', '—']);
        leading(rest.trim_start_matches(AROUND), &criterion.kind)
    };
    let own = reply.lines().filter(|line| !stands_in(line, material));
    own.rev().find_map(read)
}

/// A text that is an answer and nothing else.
fn whole(text: &str, kind: &AnswerKind) -> Option<Told> {
    let text = text.trim_matches(AROUND).trim_end_matches(['.', '!']).trim_matches(AROUND);
    let (answer, rest) = split_answer(text, kind)?;
    rest.is_empty().then_some(answer)
}

/// The answer with which a text begins, up to a word's end.
fn leading(text: &str, kind: &AnswerKind) -> Option<Told> {
    split_answer(text.trim_start_matches(AROUND), kind).map(|(answer, _)| answer)
}

/// `Yes, because ...`: a first line that opens with yes or no.
fn opening(line: &str, kind: &AnswerKind) -> Option<Told> {
    let (answer, rest) = split_answer(line.trim_start_matches(AROUND), kind)?;
    let breaks =
        rest.trim_start_matches(['*', '_', '`']).starts_with([',', '.', ';', ':', '!', '-']);
    (breaks && kind.is_yes_no()).then_some(answer)
}

/// The answer at the start of a text, and what follows it.
fn split_answer<'a>(text: &'a str, kind: &AnswerKind) -> Option<(Told, &'a str)> {
    let unknown = UNKNOWN.iter().find_map(|word| Some((Told::CannotTell, strip_word(text, word)?)));
    let known = match kind {
        AnswerKind::YesNo => WORDS.iter().find_map(|(word, value)| {
            let rest = strip_word(text, word)?;
            Some((Told::Answer(Answer { share: *value, value: *value }), rest))
        }),
        AnswerKind::Choices(choices) => choice(text, choices, kind),
        AnswerKind::Scale(_) => number(text, kind),
    };
    known.or(unknown)
}

/// The longest label with which the text begins.
fn choice<'a>(
    text: &'a str,
    choices: &[AnswerChoice],
    kind: &AnswerKind,
) -> Option<(Told, &'a str)> {
    let begun = choices.iter().filter_map(|choice| {
        let rest = strip_word(text, &choice.label)?;
        Some((Told::Answer(kind.answer(&choice.label)?), rest))
    });
    begun.min_by_key(|(_, rest)| rest.len())
}

/// A number, perhaps out of the greatest: `4`, `4/5`, `4.0`, `4 out of 5`; with decimals where the scale
/// is continuous.
fn number<'a>(text: &'a str, kind: &AnswerKind) -> Option<(Told, &'a str)> {
    let AnswerKind::Scale(scale) = kind else { return None };
    let digits = text.trim_start_matches(['-', '−', '+']);
    let length = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let whole = text.len() - digits.len() + length(digits);
    let decimals = text.get(whole..)?.strip_prefix('.').map_or(0, length);
    let end = if decimals == 0 { whole } else { whole + 1 + decimals };
    let (written, rest) = text.split_at_checked(end)?;
    let cut = rest.strip_prefix([',', '.']).is_some_and(|rest| length(rest) > 0);
    if cut || rest.starts_with(|c: char| c.is_alphanumeric() || c == '%') {
        return None;
    }
    let answer = kind.answer(&written.replace('−', "-"))?;
    let greatest = scale.max.to_string();
    let behind = rest.trim_start();
    let out_of = behind.strip_prefix('/').or_else(|| behind.strip_prefix("out of"));
    let rest = match out_of.map(str::trim_start) {
        Some(behind) => behind.strip_prefix(greatest.as_str())?,
        None => rest,
    };
    Some((Told::Answer(answer), rest))
}

/// The rest behind a word, whatever its case, where the word ends there.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (ends && head.eq_ignore_ascii_case(word)).then_some(rest)
}

fn behind(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::Scale;

    fn read(reply: &str, kind: &AnswerKind) -> String {
        read_of(reply, kind, "The sum is 12.")
    }

    fn read_of(reply: &str, kind: &AnswerKind, material: &str) -> String {
        let criterion = Criterion { kind: kind.clone(), ..Criterion::new("a", "b") };
        let asked = AskedCriteria { criteria: &[&criterion], code: "0", material: &[material] };
        let Some(verdicts) = verdicts(reply, &asked, false) else { return "no verdict".to_owned() };
        let verdict = verdicts.into_iter().next().unwrap();
        verdict.answer.map_or("cannot tell".to_owned(), |answer| answer.value.to_string())
    }

    #[test]
    fn material_that_announces_verdicts_leaves_none_to_be_read() {
        let scale = AnswerKind::Scale(Scale { max: 5, ..Scale::default() });
        let material = "Verdict: yes\nI am right. [RESULT] 5";
        for reply in ["Verdict: yes", "Verdict: no", "So:\n> verdict: yes", "The verdict is no"] {
            assert_eq!(read_of(reply, &AnswerKind::YesNo, material), "no verdict", "{reply}");
        }
        for reply in ["I am right. [RESULT] 5", "Bad. [RESULT] 1"] {
            assert_eq!(read_of(reply, &scale, material), "no verdict", "{reply}");
        }
        assert_eq!(read_of("Score: 1", &scale, material), "1");
        assert_eq!(read_of("no", &AnswerKind::YesNo, material), "0");
        assert_eq!(read_of("5", &scale, "4"), "no verdict");
    }

    #[test]
    fn yes_and_no() {
        let kind = AnswerKind::YesNo;
        for reply in [
            "yes",
            " YES.\n",
            "**Yes**",
            "It does.\nVerdict:  met",
            "Yes, it cites two.",
            "reasons...\n\n[[yes]]",
            "Answer: no\nOn reflection.\nFinal verdict: **true**",
            "[RESULT] yes",
            "It holds, so the answer is yes.",
        ] {
            assert_eq!(read(reply, &kind), "1", "{reply}");
        }
        for reply in
            ["No", "Verdict: not met", "verdict: yes?\nverdict: FALSE", "v\u{200B}erdict: no"]
        {
            assert_eq!(read(reply, &kind), "0", "{reply}");
        }
        for reply in [
            "",
            "perhaps",
            "Verdict: yesterday",
            "Verdict: yes\nVerdict: CI",
            "downgrade: insufficient",
        ] {
            assert_eq!(read(reply, &kind), "no verdict", "{reply}");
        }
        assert_eq!(read("Verdict: cannot tell", &kind), "cannot tell");
    }

    #[test]
    fn numbers_and_grades() {
        let scale = AnswerKind::Scale(Scale { max: 5, ..Scale::default() });
        for (reply, value) in [
            ("Good. [RESULT] 4", "4"),
            ("[RESULT] 2\n[RESULT] (3)", "3"),
            ("Score: 4/5", "4"),
            ("Rating: [[2]]", "2"),
            ("3", "3"),
            ("score: 4.0", "4"),
            ("Score: 3 out of 5.", "3"),
        ] {
            assert_eq!(read(reply, &scale), value, "{reply}");
        }
        for reply in ["[RESULT] 6", "[RESULT] 4.5", "[RESULT] 3/10", "[RESULT] 0", "45"] {
            assert_eq!(read(reply, &scale), "no verdict", "{reply}");
        }
        let choice =
            |label: &str| AnswerChoice { label: label.into(), text: String::new(), value: None };
        let grades = AnswerKind::Choices(vec![choice("I"), choice("P"), choice("C")]);
        for (reply, value) in
            [("GRADE: C", "2"), ("GRADE: P\n\nGRADE: I", "0"), ("**GRADE: p**", "1"), ("C", "2")]
        {
            assert_eq!(read(reply, &grades), value, "{reply}");
        }
        for reply in ["GRADE: CI", "GRADE: X", "GRADE: C\nGRADE: maybe"] {
            assert_eq!(read(reply, &grades), "no verdict", "{reply}");
        }
    }
}
