//! Words and signs around the letter of an option.

use crate::language::{choice, connect};

/// What may stand between a letter and the word behind it.
pub(super) const CLOSERS: [char; 8] = [')', ']', '*', '_', '`', '"', '\'', '$'];

/// Whether a text ends with a noun that follows the letter of an option.
pub(super) fn ends_in_noun(text: &str) -> bool {
    choice::NOUNS.iter().any(|noun| text.ends_with(noun))
}

/// Whether a text without blanks leads to the letter of an option: "只有C", but not "维生素C".
pub(super) fn leads(before: &str) -> bool {
    choice::UNSPACED_LEADS.iter().any(|lead| before.ends_with(lead))
}

/// What closes a formula or an element of HTML.
pub(super) const CLOSED: [&str; 6] = ["\\)", "\\]", "</b>", "</strong>", "</i>", "</em>"];

/// Commands of LaTeX that only style what follows, its blanks, and elements of HTML.
#[rustfmt::skip]
pub(super) const DRESS: [&str; 19] = [
    "<b>", "<strong>", "<i>", "<em>", "=>",
    "\\boxed", "\\textbf", "\\text", "\\mathrm", "\\mathbf", "\\mathit", "\\(", "\\[", "\\qquad", "\\quad", "\\ ",
    "\\,", "\\;", "~",
];

/// Marks of approval beside an option.
pub(super) const TICKS: [char; 5] = ['✅', '✓', '✔', '☑', '\u{fe0f}'];

/// The length of a word that joins two options at the start of a text, and whether it offers the
/// second one instead.
pub(super) fn join(text: &str) -> Option<(usize, bool)> {
    // A capital letter is an option, and no word.
    let is = |word: &str| text.starts_with(word) && starts_with_word(text, word);
    let known = |words: &[&str], is_or| {
        words.iter().find(|word| starts_with_word(text, word)).map(|word| (word.len(), is_or))
    };
    let foreign =
        |words: &[&str], is_or| words.iter().find(|word| is(word)).map(|word| (word.len(), is_or));
    known(choice::ALTERNATIVE_JOINS, true)
        .or_else(|| known(choice::JOINS, false))
        .or_else(|| foreign(connect::ALTERNATIVES, true))
        .or_else(|| foreign(connect::CONJUNCTIONS, false))
}

pub(super) fn starts_with_word(text: &str, word: &str) -> bool {
    let same = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let after = text.get(word.len()..).and_then(|rest| rest.chars().next());
    same && !after.is_some_and(char::is_alphanumeric)
}

/// A word of LaTeX without what opens it: `\text{ and }`.
pub(super) fn unwrapped(text: &str) -> &str {
    let text = text.trim_start_matches(['\\', ',', ';', ' ', '~']);
    let inner =
        ["text{", "textrm{", "mathrm{", "mbox{"].iter().find_map(|open| text.strip_prefix(open));
    inner.map_or(text, str::trim_start)
}

/// Whether a text behind an option judges it rather than says what it is.
pub(super) fn is_judged(text: &str) -> bool {
    choice::JUDGING.iter().any(|word| starts_with_word(text, word))
}

/// What brackets around all of a text hold: "(7)".
pub(super) fn in_brackets(text: &str) -> &str {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.unwrap_or(text)
}

/// "C, since 7 is prime."
pub(super) fn gives_reason(rest: &str) -> bool {
    let rest = rest.trim_start_matches([',', ' ', '-', '–', '—']);
    choice::CAUSAL.iter().any(|word| starts_with_word(rest, word))
}

/// Nothing but signs follow on the line.
pub(super) fn ends(rest: &str) -> bool {
    let rest = rest.strip_prefix(" only").unwrap_or(rest);
    let mut line = rest.chars().take_while(|c| *c != '\n');
    line.all(|c| c.is_whitespace() || TICKS.contains(&c) || ".,;:!*)]}`$\"'。".contains(c))
}

/// Whether the sentence ends here, and more may follow on the line: "The answer is d. It is".
pub(super) fn ends_sentence(rest: &str) -> bool {
    ends(rest) || rest.starts_with(". ") || rest.starts_with('。')
}

/// Whether the letter before this text is part of a word or a formula: "Cu", "C++", "C'".
pub(super) fn is_part(tail: &str) -> bool {
    tail.starts_with(|c: char| c.is_alphanumeric() || "'’-_^=+#".contains(c))
}

/// "A" and "I" are words as well.
pub(super) fn is_word(letter: char, tail: &str) -> bool {
    let word = word_behind(tail);
    matches!(letter, 'A' | 'I')
        && word.chars().next().is_some_and(char::is_lowercase)
        && !choice::FOLLOWERS.contains(&word)
}

/// Whether a letter that a box or a tag holds is the article or the pronoun before another word:
/// "a decrease". "A is correct" names an option there.
pub(super) fn is_article(letter: char, tail: &str) -> bool {
    let word = word_behind(tail);
    matches!(letter, 'A' | 'I' | 'a' | 'i')
        && !word.is_empty()
        && (letter.is_ascii_lowercase() || word.starts_with(char::is_lowercase))
        && word != "is"
        && !choice::FOLLOWERS.contains(&word)
}

/// Whether a capital "A" is an option because of the verb behind it: "but A could also be right".
pub(super) fn is_subject(letter: char, tail: &str) -> bool {
    letter == 'A' && choice::VERBS.contains(&word_behind(tail))
}

/// The word that follows a blank.
fn word_behind(tail: &str) -> &str {
    let follows = tail.strip_prefix([' ', '\t']).unwrap_or_default();
    follows.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default()
}
