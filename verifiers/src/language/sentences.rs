//! Sentences, in languages with other marks too.

use std::ops::Range;

/// Where a slice of a text lies in it.
pub(crate) fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// Where the sentences of a text end, behind their marks.
pub(crate) fn ends(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    text.char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let next = || text.get(end..).and_then(|rest| rest.chars().next());
        let ends = match c {
            '\n' | '。' | '！' | '？' | '।' | '؟' => true,
            '.' if is_label(&text[..at]) => false,
            '.' | '!' | '?' => {
                next().is_none_or(|next| next.is_whitespace() || "*_)\"”»".contains(next))
            }
            _ => false,
        };
        ends.then_some(end)
    })
}

/// Where the last sentence of a text starts.
pub(crate) fn last_start(text: &str) -> usize {
    ends(text).next_back().unwrap_or(0)
}

/// Whether a text ends with a line that is a letter or a short number: the dot behind it begins an item.
/// The line is read from its end, so that many dots on a long one cost no more than it.
fn is_label(before: &str) -> bool {
    let lead = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let word = &before[lead.len()..];
    let is_number = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    if word.is_empty() || !(is_number || is_letter) {
        return false;
    }
    let line = lead.trim_end_matches([' ', '*', '(', '-']);
    line.is_empty() || line.ends_with('\n')
}

/// Whether a sentence is a question.
pub(crate) fn is_asked(sentence: &str) -> bool {
    sentence.trim_end().ends_with(['?', '？', '؟'])
}

/// A digit of another script than ASCII, in ASCII.
pub(crate) fn foreign_digit(c: char) -> Option<char> {
    const ZEROS: [char; 7] = ['٠', '۰', '०', '০', '๐', '０', '௦'];
    ZEROS.into_iter().find_map(|zero| {
        let value = (c as u32).checked_sub(zero as u32).filter(|value| *value < 10)?;
        char::from_digit(value, 10)
    })
}

/// Whether a character belongs to a script that sets no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{e00}'..='\u{e7f}')
}
