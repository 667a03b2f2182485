//! Afterthoughts: words behind an answer that offer another one or take it back: "C. No, D.",
//! `[2, 3], but it could be [4]`, "17. That is wrong."
//!
//! All words between the two answers must be known, and at least one of them must offer or retract:
//! "C, not D" and "C, because D is too small" are no afterthoughts.

use crate::extract::is_unspaced;
use crate::language::{connect, hedge, retract, suppose};

/// What is said behind an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterthought {
    /// Another answer is offered, as well or instead.
    Another,
    /// The answer is said to be wrong.
    TakenBack,
}

/// Bytes behind an answer that are looked at.
const LOOKED_AT_MAX: usize = 240;
/// Words between two answers.
const WORDS_MAX: usize = 10;
/// What ends the clause of an answer.
const ENDS: [char; 20] = [
    '.', ',', ';', ':', '!', '?', '\n', '(', '…', '—', '–', '/', '|', '<', '。', '，', '；', '！',
    '？', '、',
];

/// The afterthought that begins a text, where `another` gives the length of an answer at the start
/// of one, if it is another answer than the first.
pub fn afterthought(behind: &str, another: impl Fn(&str) -> Option<usize>) -> Option<Afterthought> {
    let near = behind.get(..behind.floor_char_boundary(LOOKED_AT_MAX))?;
    if is_taken_back(near) {
        return Some(Afterthought::TakenBack);
    }
    let is_offered = offers(near, &another) || depends(near, &another);
    is_offered.then_some(Afterthought::Another)
}

/// Whether a text ends with words that offer what stands behind it beside something else: "4 or".
pub fn offers_next(before: &str) -> bool {
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || "*_`([:,".contains(c));
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    connect::ALTERNATIVES.iter().any(|have| have.eq_ignore_ascii_case(word))
}

/// "C. No, D.", "C, but it could be D".
fn offers(near: &str, another: &impl Fn(&str) -> Option<usize>) -> bool {
    let (mut rest, mut is_offer) = (near, false);
    for _ in 0..=2 * WORDS_MAX {
        let (skipped, next) = behind_marks(rest);
        is_offer |= skipped.contains(['|', '/']);
        if let Some(length) = another(next) {
            return next.get(length..).is_some_and(|after| stands(after, is_offer));
        }
        if let Some(inner) = next.strip_prefix(['(', '[', '（']) {
            rest = inner;
        } else if let Some(behind) = behind(retract::OFFERS, next) {
            is_offer = true;
            rest = behind;
        } else if let Some(behind) = behind(retract::LIGHT, next) {
            rest = behind;
        } else {
            return false;
        }
    }
    false
}

/// "C if it is even, D otherwise", "C unless it is odd; then D".
fn depends(near: &str, another: &impl Fn(&str) -> Option<usize>) -> bool {
    let (_, condition) = behind_marks(near);
    if behind(suppose::CONDITIONS, condition).is_none() {
        return false;
    }
    let line = condition.split('\n').next().unwrap_or_default();
    let starts = line.char_indices().map(|(at, _)| at).filter(|at| is_start(line, *at));
    starts.filter_map(|at| line.get(at..)).any(|rest| {
        let then = behind(suppose::THEN, rest);
        if let Some(next) = then {
            return offers(&format!("or {next}"), another);
        }
        let after = another(rest).and_then(|length| rest.get(length..));
        after.is_some_and(|after| behind(suppose::OTHERWISE, behind_marks(after).1).is_some())
    })
}

/// Whether what is said of an answer leaves it standing. Where nothing offered it, something must.
fn stands(after: &str, is_offer: bool) -> bool {
    let (mut rest, mut is_assent) = (after, is_offer);
    for _ in 0..WORDS_MAX {
        let next =
            rest.trim_start_matches([' ', '*', '_', '`', '"', '\'', ')', ']', '}', '$', '\\']);
        if next.is_empty() || next.starts_with(ENDS) || behind(connect::BREAKS, next).is_some() {
            return is_assent;
        }
        if let Some(behind) = behind(hedge::ASSENTS, next) {
            is_assent = true;
            rest = behind;
        } else if let Some(behind) = behind(retract::LIGHT, next) {
            rest = behind;
        } else {
            return false;
        }
    }
    false
}

/// "C is wrong", "C. That is wrong.", "C? No."
fn is_taken_back(near: &str) -> bool {
    let (skipped, mut rest) = behind_marks(near);
    let mut is_direct = !skipped.contains(['.', '\n', '!', '。']);
    for _ in 0..WORDS_MAX {
        rest = rest.trim_start_matches([' ', ',', '(', '，', '-', '—', '.', '…']);
        if let Some(after) = behind(retract::WRONG, rest) {
            let after = after.trim_start_matches(['*', '_', ' ']);
            let is_said = retract::SAID.iter().any(|verb| rest.starts_with(verb));
            return is_direct && is_said
                || after.is_empty()
                || after.starts_with(['.', '!', '?', ';', ')', '\n', '。', '！', '）']);
        }
        let Some(behind) = behind(retract::SUBJECTS, rest) else { return false };
        is_direct = false;
        rest = behind;
    }
    false
}

/// The marks at the start of a text, and what stands behind them.
fn behind_marks(text: &str) -> (&str, &str) {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches(|c: char| {
            c.is_whitespace() || ",.;:!?…—–*_`)]}$~>|/\\#，。；：！？、）".contains(c)
        });
        let next = next.strip_prefix("- ").unwrap_or(next);
        if next.len() == rest.len() {
            return text.split_at(text.len() - rest.len());
        }
        rest = next;
    }
}

/// Whether a word may start at `at`.
fn is_start(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    !before.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c))
}

/// What stands behind the longest of these phrases with which a text begins, as whole words.
fn behind<'t>(phrases: &[&str], text: &'t str) -> Option<&'t str> {
    let fits = |phrase: &&&str| {
        let head = text.get(..phrase.len());
        let next = text.get(phrase.len()..).and_then(|rest| rest.chars().next());
        let goes_on = next.is_some_and(|c| c.is_alphanumeric() || c == '\'');
        let is_unspaced = phrase.chars().next_back().is_some_and(is_unspaced);
        head.is_some_and(|head| is_same(head, phrase)) && (!goes_on || is_unspaced)
    };
    text.get(phrases.iter().filter(fits).map(|phrase| phrase.len()).max()?..)
}

/// Equal but for the case of letters. One letter must have the case as well: `O` may be an option.
fn is_same(head: &str, phrase: &str) -> bool {
    head == phrase || phrase.len() > 1 && head.eq_ignore_ascii_case(phrase)
}

#[cfg(test)]
mod tests {
    use super::offers_next;

    #[test]
    fn words_that_offer_may_stand_behind_wide_marks() {
        for (before, offers) in [("4 or", true), ("4，or ", true), ("4…or (", true), ("4，", false)]
        {
            assert_eq!(offers_next(before), offers, "{before}");
        }
    }
}
