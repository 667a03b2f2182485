//! Sentences, in languages with other marks too.

/// Where the sentences of a text end, behind their marks.
pub(crate) fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        let ends = match c {
            '\n' | '。' | '！' | '？' | '।' | '؟' => true,
            '.' if is_label(text.get(..at).unwrap_or_default()) => false,
            '.' | '!' | '?' => {
                next.is_none_or(|next| next.is_whitespace() || "*_)\"”»".contains(next))
            }
            _ => false,
        };
        ends.then_some(end)
    })
}

/// Whether a text ends with a line that is a letter or a short number: the dot behind it begins an item.
fn is_label(before: &str) -> bool {
    let line =
        before.rsplit('\n').next().unwrap_or_default().trim_start_matches([' ', '*', '(', '-']);
    let is_number = line.len() <= 2 && line.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = line.len() == 1 && line.bytes().all(|byte| byte.is_ascii_alphabetic());
    !line.is_empty() && (is_number || is_letter)
}

/// Whether a character belongs to a script that sets no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{e00}'..='\u{e7f}')
}
