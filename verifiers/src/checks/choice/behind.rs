//! What stands behind the option that was read: the text of another option, or another option that is
//! offered too.

use super::letters::Reading;
use super::options::Options;
use super::wording::{is_part, is_subject, is_word};
use crate::afterthought::{Afterthought, afterthought};

/// The most bytes behind an option in which its text, or that of another one, is looked for.
const TEXT_BYTES_MAX: usize = 1024;

/// What may stand between a letter and the text of its option.
const MARKS: [char; 21] = [
    ')', ']', '}', '*', '_', '`', '"', '\'', '$', '\\', ' ', '.', ':', ',', '-', '–', '—', '(',
    '（', '：', '）',
];

/// Whether what was read does not stand: it is taken back, "C. That is wrong.", or one option is named,
/// and behind it another one by its text, "C) Rome", or by its letter, "C. No, D.".
pub(super) fn is_unsettled(behind: &str, reading: &Reading, options: &Options<'_>) -> bool {
    let letters = reading.letters;
    let is_one = letters.is_power_of_two() && !options.several;
    if is_one && has_other_text(behind, letters, options) {
        return true;
    }
    let rest = behind_own_text(behind, letters, options);
    match afterthought(rest, |text| another(text, letters, options)) {
        Some(Afterthought::Another) => is_one,
        Some(Afterthought::TakenBack) => true,
        None => false,
    }
}

/// Whether the clause behind a letter is the text of another option.
fn has_other_text(behind: &str, letters: u32, options: &Options<'_>) -> bool {
    let line = behind.split('\n').next().unwrap_or_default();
    let line = &line[..line.floor_char_boundary(TEXT_BYTES_MAX)];
    let line = line.split("</").next().unwrap_or_default();
    let said = options.text_behind(line, |c| MARKS.contains(&c));
    if said.len() == line.len() && !said.is_empty() {
        return false;
    }
    // A sentence behind the letter may begin as an option does: "C. Rome, however, is".
    let is_sentence = line.trim_start_matches([')', ']', '*', '}', '$', '"']).starts_with(". ");
    let ends = said.char_indices().filter(|(at, c)| {
        let next = said.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        match c {
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            ',' | ';' => !is_sentence && next.is_none_or(char::is_whitespace),
            c => ")]}*\"`<。，）".contains(*c),
        }
    });
    let ends = ends.map(|(at, _)| at).chain([said.len()]);
    let mut texts = ends.take(16).filter_map(|end| said.get(..end));
    texts.any(|text| {
        // LaTeX is left as it is written, with what may open it.
        let found = options.matching(text).or_else(|| options.matching(&format!("\\{text}")));
        found.is_some_and(|found| found != letters)
    })
}

/// What follows the text of the option itself, if it is there: "C. Berlin, but".
fn behind_own_text<'t>(behind: &'t str, letters: u32, options: &Options<'_>) -> &'t str {
    let said = options.text_behind(behind, |c| MARKS.contains(&c));
    options.behind_text(said, letters).unwrap_or(behind)
}

/// The length of another option at the start of a text: its letter, and its text, if it is there.
fn another(text: &str, letters: u32, options: &Options<'_>) -> Option<usize> {
    let bare = text.trim_start_matches(['(', '[', '*', '_', '`', '"', '\'', '$', '（']);
    let letter = bare.chars().next().filter(char::is_ascii_uppercase)?;
    let tail = bare.get(1..)?;
    let is_word = is_part(tail) || is_word(letter, tail) && !is_subject(letter, tail);
    let bit = options.bit(letter).filter(|bit| *bit != letters && !is_word)?;
    let said = options.text_behind(tail, |c| MARKS.contains(&c));
    let end = options.behind_text(said, bit).map_or(0, |rest| tail.len() - rest.len());
    Some(text.len() - bare.len() + 1 + end)
}
