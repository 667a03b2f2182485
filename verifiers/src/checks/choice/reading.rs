//! The places where an option is expected: after "the answer is", in a box, or alone on a line.

use super::letters::{Enclosed, NEAR_BYTES_MAX, OPTION_BYTES_MAX, Reader, Reading};
use super::options::Options;
use super::wording::{CLOSERS, ends_in_noun, leads};
use crate::afterthought::offers_next;
use crate::extract::qualify;
use crate::language::{announce, choice, letter};

/// Reads what follows the `cue` that ends at `at`: what is in the box, or between the tags, or what
/// is said next.
pub(super) fn after(text: &str, at: usize, cue: &str, options: &Options<'_>) -> Option<Reading> {
    let text = beginning(text, at + NEAR_BYTES_MAX);
    let rest = text.get(at..)?;
    let held = match cue.chars().next_back()? {
        '{' => Some(closing_brace(rest)?),
        '>' => Some(rest.find("</")?),
        _ => None,
    };
    let Some(length) = held else {
        let said_there = rest.trim_start_matches(|c: char| c.is_whitespace() || ":：".contains(c));
        let listed = listed(text, at, options).filter(|_| options.several);
        return listed.or_else(|| said(text, said_there, options));
    };
    let reader = Reader::new(text.get(..at + length)?, at, options);
    reader.read(length, Enclosed::Yes)
}

/// Reads a list of options behind the cue that ends at `at`, one a line: "B. 1.2 m\nC. 1.3 m". It
/// ends with another line, and where the lines of the list are set apart otherwise.
fn listed(text: &str, at: usize, options: &Options<'_>) -> Option<Reading> {
    let mut lines = lines_from(text, at);
    // On the line of the cue, the list has not begun.
    let (start, end) = lines.next()?;
    let lead = text.get(start..end)?.trim_matches(|c: char| c.is_whitespace() || ":*_".contains(c));
    if !lead.is_empty() {
        return None;
    }
    let (mut all, mut gap, mut before): (Option<Reading>, Option<usize>, usize) = (None, None, 0);
    for (nth, (start, end)) in lines.enumerate().take(LINES_MAX) {
        if text.get(start..end)?.trim().is_empty() {
            continue;
        }
        let Some(item) = item(text, start, end, options) else { break };
        all = Some(match all {
            None => item,
            Some(earlier) if *gap.get_or_insert(nth - before) == nth - before => {
                item.with_earlier(earlier)
            }
            Some(_) => break,
        });
        before = nth;
    }
    all.filter(|all| all.letters.count_ones() > 1)
}

/// Reads a line of a list: "- B", "(B) 1.2 m", "2. Option B: 1.2 m".
fn item(text: &str, start: usize, end: usize, options: &Options<'_>) -> Option<Reading> {
    let line = text.get(start..end)?;
    let number = line.trim_start_matches(' ').trim_start_matches(|c: char| c.is_ascii_digit());
    let bare = number.strip_prefix(['.', ')']).unwrap_or(line);
    // With the end of the line, which tells it from a text of one line.
    let to = text.len().min(end + 1);
    let reader = Reader::new(text.get(..to)?, end - bare.len(), options);
    let alone = reader.letters(Enclosed::Alone).filter(|alone| alone.letters.is_power_of_two());
    alone.or_else(|| reader.item())
}

/// The lines of a text from `at` on.
fn lines_from(text: &str, at: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut next = Some(at);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let end = rest.find('\n').map_or(text.len(), |length| start + length);
        next = (end < text.len()).then_some(end + 1);
        Some((start, end))
    })
}

/// Reads the line at the start of `rest`, the end of `text`.
fn said(text: &str, rest: &str, options: &Options<'_>) -> Option<Reading> {
    let length = rest.find('\n').unwrap_or(rest.len());
    let said = Reader::new(text, text.len() - rest.len(), options);
    said.read(length, Enclosed::No)
}

/// Where the braces that were opened before `rest` are closed.
fn closing_brace(rest: &str) -> Option<usize> {
    let mut depth = 1_u32;
    rest.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Reads a text that is announced as the answer: one that is held by a box, a tag or a member,
/// or one that is said.
pub(super) fn held(text: &str, options: &Options<'_>, is_said: bool) -> Option<Reading> {
    let text = beginning(text, NEAR_BYTES_MAX);
    let reader = Reader::new(text, 0, options);
    reader.read(text.len(), if is_said { Enclosed::No } else { Enclosed::Yes })
}

/// Reads the options that end before `end`, as in "(A) and (C) are correct".
pub(super) fn before(text: &str, end: usize, options: &Options<'_>) -> Option<Reading> {
    let head = text.get(..end)?;
    let near = head.floor_char_boundary(end.saturating_sub(2 * OPTION_BYTES_MAX));
    let line = head.get(near..)?.rfind('\n').map_or(near, |at| near + at + 1);
    let whole = Reader::new(head, line, options).letters(Enclosed::No).filter(|reading| {
        let said = &head[reading.end..];
        let said = said.trim_start_matches([')', ']', '.', ':', '*', '-', ' ']);
        said.len() <= OPTION_BYTES_MAX && options.matching(said) == Some(reading.letters)
    });
    let listed = whole.or_else(|| {
        let start = start_of_list(head, options)?;
        Reader::new(head, start, options).letters(Enclosed::Yes)
    });
    listed.or_else(|| {
        let sentence = head.get(line..)?.rfind(". ").map_or(line, |at| line + at + 2);
        Reader::new(head, sentence, options).subject()
    })
}

/// Where the letters at the end of `text` start, as in "(A) and (C)".
fn start_of_list(text: &str, options: &Options<'_>) -> Option<usize> {
    let mut from = text.trim_end().len();
    let mut start = None;
    for _ in 0..=options.count() {
        let before = before_letter(text.get(..from)?, options)?;
        let behind = text.get(before.len()..from)?.trim_end_matches(CLOSERS);
        let is_noun = ends_in_noun(behind) && !before.ends_with(|c: char| c.is_ascii());
        let is_led = is_noun || leads(before);
        if before.ends_with(|c: char| c.is_alphanumeric() || "'’-_^\\".contains(c)) && !is_led {
            break;
        }
        start = Some(before.len());
        let lead = before.trim_end_matches(['(', '[', '*', '_', '`', '"', '\'', '$', ' ']);
        let joined = choice::LIST_JOINS.iter().find_map(|join| lead.strip_suffix(join));
        let Some(joined) = joined else { break };
        from = joined.trim_end_matches([' ', ',']).len();
        let next = before_letter(text.get(..from)?, options);
        if next.is_none_or(|before| before.ends_with(char::is_alphanumeric)) {
            break;
        }
    }
    start
}

/// The text before the capital letter at its end, or before a number where options have numbers.
fn before_letter<'t>(text: &'t str, options: &Options<'_>) -> Option<&'t str> {
    let text = text.trim_end_matches(CLOSERS);
    let text = choice::NOUNS.iter().find_map(|noun| text.strip_suffix(noun)).unwrap_or(text);
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    if options.are_numbered() && before.len() < text.len() {
        return Some(before);
    }
    text.strip_suffix(|c: char| c.is_ascii_uppercase()).or_else(|| {
        // "Option b": behind the noun, a small letter names one too.
        let before = text.strip_suffix(|c: char| c.is_ascii_lowercase())?;
        let noun = before.trim_end_matches(CLOSERS).strip_suffix(' ')?;
        announce::NOUNS.iter().any(|name| ends_with_word(noun, name)).then_some(before)
    })
}

/// Whether a text ends with a word, in any case.
fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(at) = text.len().checked_sub(word.len()) else { return false };
    let same = text.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(word));
    same && !text.get(..at).is_some_and(|lead| lead.ends_with(char::is_alphanumeric))
}

/// The one option that a text of one line names: "Option C".
pub(super) fn whole(text: &str, options: &Options<'_>) -> Option<u32> {
    let line = Reader::new(text.trim(), 0, options).letters(Enclosed::Alone)?;
    (!line.is_hedge && line.letters.is_power_of_two()).then_some(line.letters)
}

/// Reads a text that is nothing but an option, or whose last line is, or else its first.
pub(super) fn alone(text: &str, options: &Options<'_>) -> Option<Reading> {
    let body = text.trim_end();
    let length = body.trim_start().len();
    let whole = Reader::new(body, body.len() - length, options);
    if let Some(reading) = whole.option_text(length) {
        return Some(reading);
    }
    let mut lines: Vec<Option<Reading>> = last_lines(body)
        .map(|(start, end)| {
            // With the end of the line, which tells it from a text of one line.
            let to = body.len().min(end + 1);
            let line = Reader::new(&body[..to], start, options);
            line.letters(Enclosed::Alone).or_else(|| line.option_text(end - start))
        })
        .collect();
    lines.reverse();
    if !options.several {
        leave_out_lists(&mut lines);
    }
    let last = lines.pop()??;
    // Letters on lines of their own are offered together.
    let above = lines.iter().rev().map_while(|line| *line);
    Some(above.fold(last, Reading::with_earlier))
}

/// Reads a first line that is nothing but an option, before text that explains it.
pub(super) fn first_line(text: &str, options: &Options<'_>) -> Option<Reading> {
    let start = text.len() - text.trim_start().len();
    let end = start + text.get(start..)?.find('\n')?;
    let line = Reader::new(text.get(..=end)?, start, options);
    let reading = line.letters(Enclosed::Alone)?;
    let is_capital = text.get(reading.start..)?.starts_with(|c: char| c.is_ascii_uppercase());
    // A list of the options is not an answer.
    let next = beginning(text.get(end..)?.trim_start(), NEAR_BYTES_MAX);
    let next = Reader::new(next, 0, options).letters(Enclosed::Alone);
    (is_capital && next.is_none()).then_some(reading)
}

/// Reads the option that the last sentence names alone in its clause, where none was read that is announced.
pub(super) fn named(text: &str, options: &Options<'_>) -> Option<Reading> {
    let at = letter::named(text, |c| options.bit(c).is_some())?;
    let (lead, said) = text.split_at_checked(at)?;
    let line = lead.rfind('\n').map_or(0, |line| line + 1);
    let lead = lead.get(line..)?;
    let is_denied = matches!(qualify::qualifier(lead, ""), Some(qualify::Qualifier::Denied));
    let bit = options.bit(said.chars().next()?).filter(|_| !is_denied && !offers_next(lead))?;
    // "The answer is Mars (option B)", which is Jupiter.
    let is_mixed = options.names_other(lead, bit);
    (!is_mixed).then(|| Reading::new(bit, at, at + 1))
}

/// Whether the option that was read begins a list of all of them.
pub(super) fn lists(text: &str, reading: &Reading, options: &Options<'_>) -> bool {
    let rest = &text[reading.end..];
    let next =
        beginning(rest, NEAR_BYTES_MAX).split('\n').skip(1).find(|line| !line.trim().is_empty());
    let next = next.and_then(|line| {
        // With the end of the line, which tells it from a text of one line.
        let line = format!("{line}\n");
        Reader::new(&line, 0, options).letters(Enclosed::Alone).map(|next| next.letters)
    });
    reading.letters == 1 && next == Some(2) && !options.several
}

/// The first bytes of a text, at most so many.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Lines at the end of a text that are read.
const LINES_MAX: usize = 40;

/// The last lines that are not empty, without marks of a list, the last one first.
fn last_lines(body: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut end = Some(body.len());
    let lines = std::iter::from_fn(move || {
        let to = end?;
        let start = body.get(..to)?.rfind('\n').map_or(0, |at| at + 1);
        end = start.checked_sub(1);
        Some((start, to))
    });
    let full = lines
        .filter(|(start, end)| body.get(*start..*end).is_some_and(|line| !line.trim().is_empty()));
    full.take(LINES_MAX)
}

/// Leaves out lines that list the options in their order from A on, as a copy of the question does.
fn leave_out_lists(lines: &mut [Option<Reading>]) {
    let mut at = 0;
    while at < lines.len() {
        let (_, rest) = lines.split_at_mut(at);
        let in_order = |(nth, line): &(usize, &Option<Reading>)| {
            u32::try_from(*nth).ok().and_then(|nth| 1_u32.checked_shl(nth))
                == line.map(|line| line.letters)
        };
        let length = rest.iter().enumerate().take_while(in_order).count();
        if length > 1 {
            rest.iter_mut().take(length).for_each(|line| *line = None);
        }
        at += length.max(1);
    }
}
