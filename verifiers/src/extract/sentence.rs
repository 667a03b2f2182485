//! The span of an answer in a sentence or a formula.

use crate::language::{connect, value};

/// The signs around a formula, the longer ones first.
pub(super) const FORMULA_SIGNS: [(&str, &str); 4] =
    [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")];

/// The span from the announcement to the end of its sentence; after a colon, the next lines.
pub(super) fn span_of_answer(text: &str, start: usize) -> Option<(usize, usize)> {
    let tail = text.get(start..)?;
    let bare = tail.trim_start_matches([' ', '\n', '\r', '\t', ':', '*', '…']);
    // "The answer is ... 4"; ".5" has one dot.
    let bare = if bare.starts_with("..") { bare.trim_start_matches(['.', ' ', '*']) } else { bare };
    let lead = tail.len() - bare.len();
    if tail.get(..lead)?.matches('\n').count() > 3 {
        return None;
    }
    let mut body = tail.get(lead..)?;
    let mut from = start + lead;
    // The star of an item is trimmed with those of Markdown.
    if let Some(line) = tail.get(..lead)?.rfind('\n') {
        let list = tail.get(line + 1..)?.trim_start_matches(' ');
        match list_end(list) {
            // Several items are one answer.
            Some((length, true)) => {
                from = text.len() - list.len();
                return Some((from, from + length));
            }
            Some((_, false)) => {
                body = list.get(marker(list)?..)?;
                from = text.len() - body.len();
            }
            None => {}
        }
    }
    for (open, close) in [("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)")] {
        if let Some(inner) = body.strip_prefix(open)
            && let Some(end) = inner.find(close)
        {
            return Some((from + open.len(), from + open.len() + end));
        }
    }
    if let Some(inner) = body.strip_prefix('$')
        && let Some(end) = inner.find('$')
        && !inner.starts_with(|c: char| c.is_ascii_digit() || c == '\\' && inner.starts_with("\\$"))
        && !inner.get(end + 1..).is_some_and(goes_on)
        && inner.get(..end).is_some_and(|math| !math.contains('\n'))
    {
        return Some((from + 1, from + 1 + end));
    }
    let line = body.split('\n').next()?;
    let in_cell = text.get(..start)?.rsplit('\n').next()?.trim_start().starts_with('|');
    let line = if in_cell { line.split('|').next()?.trim_end() } else { line };
    Some((from, from + sentence_end(line)))
}

/// The most items of a list.
const ITEMS_MAX: usize = 32;
/// An item of more words is no value.
const ITEM_WORDS_MAX: usize = 8;

/// The length of the marker of an item at the start of a line: "- ", "* ", "1. ".
fn marker(line: &str) -> Option<usize> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let tail = line.get(digits..)?;
    let signs: &[char] = if digits == 0 { &['-', '*', '•', '+'] } else { &['.', ')'] };
    let behind = tail.strip_prefix(signs).filter(|_| digits < 3)?;
    let item = behind.trim_start_matches(' ');
    let apart = item.len() < behind.len() && !item.starts_with('\n') && !item.is_empty();
    apart.then(|| line.len() - item.len())
}

/// The length of a list of values with which a text begins, and whether it has several items. A
/// single number with a dot in front may be an item of a list that is no answer.
fn list_end(text: &str) -> Option<(usize, bool)> {
    let (mut end, mut at, mut count) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let item = line.trim();
        if item.is_empty() {
            continue;
        }
        let brief = item.split_whitespace().nth(ITEM_WORDS_MAX).is_none();
        if marker(item).is_none() || !brief || count == ITEMS_MAX {
            break;
        }
        end = at - (line.len() - line.trim_end().len());
        count += 1;
    }
    let numbered = text.starts_with(|c: char| c.is_ascii_digit());
    (count > 1 || count == 1 && !numbered).then_some((end, count > 1))
}

/// The items of a list, where lines are all items, and several.
pub(super) fn items<'a>(first: &'a str, rest: &'a str) -> Option<Vec<&'a str>> {
    let lines = first.split('\n').chain(rest.split('\n'));
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    let items: Option<Vec<&str>> = lines
        .map(|line| Some(line.get(marker(line)?..)?.trim_end_matches(['.', ',', ';', ' '])))
        .collect();
    items.filter(|items| items.len() > 1)
}

/// Whether the answer is a list that goes on behind its first formula.
fn goes_on(rest: &str) -> bool {
    let rest = rest.trim_start();
    connect::LIST_JOINS.iter().any(|join| rest.starts_with(join))
}

/// The end of the first sentence of a line: a dot before a space, unless it is a decimal point.
pub(super) fn sentence_end(line: &str) -> usize {
    for (at, _) in line.match_indices(". ") {
        let before = &line[..at];
        let word = before.rsplit([' ', '(', ',']).next().unwrap_or_default();
        // "1. Qh5+ g6" begins with the number of a move of chess.
        let is_number = word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_move = is_number && line[at + 2..].split(' ').next().is_some_and(is_chess_move);
        if !is_move && !value::ABBREVIATIONS.contains(&word) {
            return at;
        }
    }
    line.len()
}

/// Whether a word is a move of chess: "Qh5+", "e4".
fn is_chess_move(word: &str) -> bool {
    let square = word.trim_end_matches(['+', '#', '!', '?']).as_bytes();
    word.starts_with("O-O")
        || matches!(square, [lead @ .., b'a'..=b'h', b'1'..=b'8']
            if lead.iter().all(|byte| b"KQRBNabcdefghx12345678".contains(byte)))
}
