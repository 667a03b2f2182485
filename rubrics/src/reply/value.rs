//! The words that stand for an answer, and what words after them make of it.

use std::sync::LazyLock;

use assay_verifiers::Pattern;
use assay_verifiers::language::judge;

use super::asked::Told;
use crate::rubric::{Answer, AnswerChoice, AnswerKind};

/// How far a clause is followed, in bytes.
const CLAUSE_MAX: usize = 300;
const NUMBERS: [&str; 11] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// What is around an answer.
pub(super) const AROUND: &[char] = &[
    ' ', '\t', '\n', '\r', '*', '_', '`', '"', '\'', '[', ']', '(', ')', '<', '>', '{', '}', ':',
    '$', '“', '”', '「', '」', '【', '】', '：', '\u{a0}', '\\',
];
/// Names of commands around an answer.
const COMMANDS: [&str; 6] = ["boxed{", "text{", "textbf{", "mathrm{", "mathbf{", "fbox{"];

/// What follows an answer of two that are on offer: "or no", "/no", ", but no".
static OTHER: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(concat!(
        r#"(?i)^[\s*_`"'”’)\]}]*(?P<weak>[,;.–—\-…→]+|\()?\s*(?P<strong>(?:(?:or|and|but|to|through|vs\.?|versus|then|"#,
        r#"maybe|perhaps|possibly|also|rather|yet|both|bis|ou|oder|或者|或|~|～|/|\||&)(?:\s*,)?\s*)*)[\s*_`"'“‘(\[{]*"#,
    ))
    .ok()
});
/// Words that take a part of a yes, or all certainty, away.
static PART: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)\b(?:partial(?:ly)?|partly|somewhat|in\s+(?:form|principle|spirit|theory)|in\s+part|mostly|largely|almost|nearly|sort\s+of|kind\s+of|maybe|
        perhaps|possibly|probably|not\s+(?:fully|entirely|quite|completely|exactly|sure)|unsure|half)\b",
    )
    .ok()
});
/// The words with which a clause goes on behind yes or no.
static GOES_ON: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?ix)^\s+(?:because|since|as|due|for|given|it|its|the|this|that|these|they|he|she|there|here|with|in|based|
        and|but|or|to|overall|indeed|although|though|however|on|by|per|under|all|both|i|we|a|an|so|if|when|unless|
        is|was|vs|bis|ou|oder)\b",
    )
    .ok()
});

/// What words in the place of a verdict are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// An answer, and where it ends.
    Told(Told, usize),
    /// Two answers, or one that is taken back as it is given.
    Hedge,
    /// No answer.
    None,
}

/// What a text begins with.
pub(super) fn leading(text: &str, kind: &AnswerKind) -> Value {
    let words = lead_in(text, kind);
    let Some((told, rest)) = split(words, kind) else { return Value::None };
    let end = text.len() - rest.len();
    match follow(&told, rest, kind) {
        Follow::Ends => Value::Told(told, end),
        Follow::Other => Value::Hedge,
        Follow::Joined => Value::None,
    }
}

/// A text that is an answer and nothing else.
pub(super) fn whole(text: &str, kind: &AnswerKind) -> Option<Told> {
    // "Correct:" is a label.
    if text.trim_end_matches(['*', '_', '`', '"', ' ', '\n', '\r']).ends_with([':', '：', '=', '?'])
    {
        return None;
    }
    let (told, rest) = split(lead_in(text, kind), kind)?;
    let is_around =
        |c: char| AROUND.contains(&c) || matches!(c, '.' | '!' | '。' | '！' | '#' | ',');
    let rest = rest.trim_matches(is_around);
    let same = || split(rest, kind).filter(|(_, rest)| rest.trim_matches(is_around).is_empty());
    (rest.is_empty() || same().is_some_and(|(other, _)| other == told)).then_some(told)
}

/// Whether a word says yes.
pub(super) fn says(word: &str) -> Option<bool> {
    let is_yes = judge::YES.contains(&word);
    (is_yes || judge::NO.contains(&word)).then_some(is_yes)
}

/// The text behind markup, commands and words that leave an answer what it is.
fn lead_in<'t>(text: &'t str, kind: &AnswerKind) -> &'t str {
    let mut words = text;
    loop {
        let before = words.len();
        words = words.trim_start_matches(|c: char| AROUND.contains(&c) || matches!(c, '#' | '>'));
        for bullet in ["- ", "• "] {
            words = words.strip_prefix(bullet).unwrap_or(words);
        }
        for command in COMMANDS {
            words = words.strip_prefix(command).unwrap_or(words);
        }
        let is_lead = |lead: &&&str| {
            strip_word(words, lead).is_some_and(|rest| rest.starts_with([' ', ',', '*', ':']))
        };
        if is_label(words, kind).is_none()
            && let Some(lead) = judge::LEADS.iter().find(is_lead)
        {
            words = words[lead.len()..].trim_start_matches([',', ' ', ':']);
        }
        if words.len() == before {
            return words;
        }
    }
}

fn is_label<'t>(text: &'t str, kind: &AnswerKind) -> Option<(Told, &'t str)> {
    match kind {
        AnswerKind::Choices(choices) => choice(text, choices, kind),
        _ => None,
    }
}

/// The answer at the start of a text, and what follows it.
pub(super) fn split<'t>(text: &'t str, kind: &AnswerKind) -> Option<(Told, &'t str)> {
    let known = match kind {
        AnswerKind::YesNo => yes_or_no(text),
        AnswerKind::Choices(choices) => choice(text, choices, kind),
        AnswerKind::Scale(_) => number(text, kind),
    };
    known.or_else(|| {
        judge::UNKNOWN.iter().find_map(|word| Some((Told::CannotTell, strip_word(text, word)?)))
    })
}

/// The longest word for yes or no with which the text begins.
fn yes_or_no(text: &str) -> Option<(Told, &str)> {
    let of = |words: &'static [&str], value: f64| {
        let told = move |rest| (Told::Answer(Answer { share: value, value }), rest);
        words.iter().filter_map(move |word| strip_word(text, word)).map(told)
    };
    let digit = |digit: char, value| {
        let rest = text.strip_prefix(digit)?;
        let rest =
            Some(rest.strip_prefix("/1").unwrap_or(rest)).filter(|rest| ends_clause(rest))?;
        Some((Told::Answer(Answer { share: value, value }), rest))
    };
    let words = of(judge::YES, 1.0).chain(of(judge::NO, 0.0)).min_by_key(|(_, rest)| rest.len());
    words.or_else(|| digit('1', 1.0)).or_else(|| digit('0', 0.0))
}

/// Whether a clause ends here, but for closing marks: a digit is yes or no only as a whole.
fn ends_clause(rest: &str) -> bool {
    let rest =
        rest.trim_start_matches(".0").trim_start_matches(['*', '`', '"', '\'', ']', '}', ')', '>']);
    let sentence = rest.strip_prefix(['.', ',', ';']).unwrap_or(rest);
    rest.is_empty()
        || rest.starts_with(['\n', '\r', '<', '|'])
        || (sentence.len() < rest.len() && !sentence.starts_with(|c: char| c.is_alphanumeric()))
        || rest.trim().is_empty()
        || rest.starts_with(" (")
        || rest.starts_with(" -")
        || rest.starts_with(" |")
}

/// The longest label with which the text begins.
fn choice<'t>(
    text: &'t str,
    choices: &[AnswerChoice],
    kind: &AnswerKind,
) -> Option<(Told, &'t str)> {
    let begun = choices.iter().filter_map(|choice| {
        let rest = strip_word(text, &choice.label)?;
        Some((Told::Answer(kind.answer(&choice.label)?), rest))
    });
    begun.min_by_key(|(_, rest)| rest.len())
}

/// A number, perhaps out of the greatest: `4`, `4/5`, `4.0`, `4 out of 5`, `four`; with decimals where
/// the scale is continuous.
fn number<'t>(text: &'t str, kind: &AnswerKind) -> Option<(Told, &'t str)> {
    let AnswerKind::Scale(scale) = kind else { return None };
    let worded =
        NUMBERS.iter().enumerate().find_map(|(at, word)| Some((at, strip_word(text, word)?)));
    let (answer, rest) = if let Some((at, rest)) = worded {
        (kind.answer(&at.to_string())?, rest)
    } else {
        let digits = text.trim_start_matches(['-', '−', '+']);
        let length = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let whole = text.len() - digits.len() + length(digits);
        let decimals = text.get(whole..)?.strip_prefix('.').map_or(0, length);
        let end = if decimals == 0 { whole } else { whole + 1 + decimals };
        let (written, rest) = text.split_at_checked(end)?;
        let cut = rest.strip_prefix([',', '.']).is_some_and(|rest| length(rest) > 0);
        if cut
            || rest.starts_with(|c: char| {
                (c.is_alphanumeric() && c.is_ascii()) || matches!(c, '%' | '+')
            })
        {
            return None;
        }
        (kind.answer(&written.replace('−', "-"))?, rest)
    };
    let behind = rest.trim_start_matches([' ', '*', '_', '`', ']', ')']);
    let out_of = judge::OUT_OF.iter().find_map(|word| behind.strip_prefix(word));
    let Some(behind) = out_of.map(str::trim_start) else {
        return Some((Told::Answer(answer), rest));
    };
    let greatest = scale.max.to_string();
    let worded = usize::try_from(scale.max).ok().and_then(|max| NUMBERS.get(max));
    let rest = behind.strip_prefix(greatest.as_str()).or_else(|| strip_word(behind, worded?))?;
    let goes_on = rest.starts_with(|c: char| c.is_ascii_digit())
        || rest
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!goes_on).then_some((Told::Answer(answer), rest))
}

/// The rest after a word, whatever its case, where the word ends there.
pub(super) fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    let is_same =
        |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (matches!(a, b'_' | b'-') && b == b' ');
    let same =
        head.bytes().zip(word.bytes()).all(|(a, b)| is_same(a, b)) || head.to_lowercase() == word;
    let is_letters = word.ends_with(|c: char| c.is_ascii_alphanumeric());
    // Nothing ends a word of a script without spaces, but another word of it.
    let goes_on = match rest.chars().next() {
        Some('_') => rest.chars().nth(1).is_some_and(char::is_alphanumeric),
        Some(next)
            if is_letters || next.is_ascii() || !word.chars().next_back().is_some_and(is_wide) =>
        {
            next.is_alphanumeric()
        }
        Some(next) => is_wide(next),
        None => false,
    };
    (same && !goes_on).then_some(rest)
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}')
}

enum Follow {
    /// The answer ends.
    Ends,
    /// Another answer follows, or the rest takes it back.
    Other,
    /// The word belongs to more words, and is not an answer.
    Joined,
}

/// What the words after an answer make of it.
fn follow(told: &Told, rest: &str, kind: &AnswerKind) -> Follow {
    let clause = clause(rest);
    if offers_another(told, clause, kind) {
        return Follow::Other;
    }
    let attached = clause.chars().next();
    if attached.is_some_and(|c| matches!(c, '+' | '\'' | '’' | '%' | '/'))
        && clause.chars().nth(1).is_none_or(|c| !AROUND.contains(&c) && c != '.')
    {
        let closes = attached == Some('\'') && clause.len() == 1;
        if !closes {
            return Follow::Joined;
        }
    }
    let unmarked = clause.trim_start_matches(['*', '_', '`']);
    if unmarked.starts_with('-') && !unmarked.starts_with("- ") && !unmarked.starts_with("--") {
        return Follow::Joined;
    }
    if unmarked.starts_with('?') {
        return Follow::Joined;
    }
    let behind = unmarked.trim_start().trim_start_matches(['(', '*']);
    if let Some((other, rest)) = split(behind, kind).filter(|_| behind.len() < clause.len()) {
        if other == *told {
            return Follow::Ends;
        }
        let is_list = matches!(kind, AnswerKind::Scale(_))
            && behind.starts_with(|c: char| c.is_ascii_digit());
        if is_list || rest.trim_start_matches(AROUND).trim_end_matches('.').is_empty() {
            return Follow::Other;
        }
    }
    if !kind.is_yes_no() || *told == Told::CannotTell {
        return Follow::Ends;
    }
    let is_yes = matches!(told, Told::Answer(answer) if answer.value > 0.5);
    if is_yes && PART.as_ref().is_some_and(|pattern| pattern.is_match(clause)) {
        return Follow::Other;
    }
    let is_word = unmarked.trim_start().starts_with(char::is_alphanumeric)
        && unmarked.starts_with([' ', '\u{a0}']);
    let goes_on = || GOES_ON.as_ref().is_some_and(|pattern| pattern.is_match(unmarked));
    if is_word && !goes_on() { Follow::Joined } else { Follow::Ends }
}

/// The rest of the sentence.
fn clause(rest: &str) -> &str {
    let near = &rest[..rest.floor_char_boundary(CLAUSE_MAX)];
    let line = near.lines().next().unwrap_or_default();
    let is_end = |at: &usize| !line.get(..*at).is_some_and(|before| before.ends_with('.'));
    let ends = [". ", "! ", "? ", "。", "<"]
        .iter()
        .filter_map(|stop| line.match_indices(stop).map(|(at, _)| at).find(is_end))
        .min();
    let line = if rest.starts_with(['\n', '\r']) { "" } else { line };
    ends.map_or(line, |end| &line[..end])
}

/// Whether another answer follows as one of two: "yes or no", "3-4", "C/I", "yes, but no".
fn offers_another(told: &Told, clause: &str, kind: &AnswerKind) -> bool {
    let Some(found) = OTHER.as_ref().and_then(|pattern| pattern.captures(clause)) else {
        return false;
    };
    let strong = found.name("strong").is_some_and(|found| !found.as_str().is_empty());
    let weak = found.name("weak").map(|found| found.as_str());
    let behind = &clause[found.get_match().end()..];
    let differs = |behind: &str| {
        split(behind, kind).filter(|(other, _)| other != told).map(|(_, rest)| rest.to_owned())
    };
    let is_whole = |rest: &str| {
        let rest = rest.trim_start_matches(AROUND);
        rest.is_empty() || rest.starts_with([',', '.', ';', '/', '|', '!', '-'])
    };
    let joined = clause.starts_with(['-', '–', '—', '~', ',']) && !clause.starts_with(", ");
    match differs(behind) {
        Some(_) if strong => return true,
        Some(rest) if is_whole(&rest) && (weak.is_some() || joined) => return true,
        Some(_) if joined && !kind.is_yes_no() => return true,
        _ => {}
    }
    judge::REVERSING.iter().any(|word| {
        let Some((_, behind)) = clause.split_once(word) else { return false };
        let mut words =
            behind.match_indices(|c: char| c.is_whitespace() || c == ',').map(|(at, _)| at + 1);
        let single = kind.is_yes_no() || !matches!(kind, AnswerKind::Choices(_));
        std::iter::once(0).chain(&mut words).any(|at| {
            let Some(word) = behind.get(at..) else { return false };
            let first = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let is_long = first.len() > 2 || (kind.is_yes_no() && first.eq_ignore_ascii_case("no"));
            is_long && differs(word).is_some_and(|rest| !single || is_whole(&rest))
        })
    })
}
