//! A member of a JSON object, also where a model has damaged the JSON: quotes and line ends that
//! are not escaped, quotes of Python, escapes that JSON does not have, commas at the end.

use std::ops::Range;

use assay_verifiers::{Fault, Meter};

use super::found::{Answer, Placed};
use crate::value::literal::{self, Words};

/// Members that are tried, the last one first.
const TRIED_MAX: usize = 4;
/// Ends of a text that are tried where quotes are not escaped.
const ENDS_MAX: usize = 16;
/// Bytes of the longest key that may follow.
const KEY_BYTES_MAX: usize = 64;

/// The last member of `part` that is called by one of `keys`, of which the first is preferred. An
/// object that has it twice says nothing.
pub(super) fn member<'a>(
    text: &'a str,
    part: Range<usize>,
    keys: &[&str],
    meter: &mut Meter<'_>,
) -> Result<Option<Answer<'a>>, Fault> {
    let Some(inner) = text.get(part.clone()).filter(|inner| inner.contains('{')) else {
        return Ok(None);
    };
    for key in keys.iter().filter(|key| !key.is_empty()) {
        let places: Vec<usize> = values(inner, key).take(TRIED_MAX).collect();
        for (at, value) in places.iter().enumerate() {
            if let Some(read) = read(inner, *value, meter)? {
                let earlier = places.get(at + 1).and_then(|from| inner.get(*from..*value));
                meter.spend(earlier.map_or(0, str::len) as u64)?;
                if earlier.is_some_and(in_one_object) {
                    return Ok(None);
                }
                let span = (part.start + read.span.0, part.start + read.span.1);
                return Ok(Some(Answer { span, ..read }));
            }
        }
    }
    Ok(None)
}

/// Where the values of members called `key` begin, the last one first.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.rmatch_indices(key).filter_map(move |(at, _)| {
        let before = text.get(..at)?;
        let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
        // In a text within the object, the quote has a backslash.
        if before.strip_suffix(quote)?.ends_with('\\') {
            return None;
        }
        let rest = text.get(at + key.len()..)?.strip_prefix(quote)?.trim_start();
        let value = rest.strip_prefix(':')?.trim_start();
        (!value.is_empty()).then_some(text.len() - value.len())
    })
}

/// Whether no bracket closes or stays open in the text between two members.
fn in_one_object(between: &str) -> bool {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for c in between.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') if depth == 0 => return false,
            (None, '}' | ']') => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

fn read<'a>(text: &'a str, at: usize, meter: &mut Meter<'_>) -> Result<Option<Answer<'a>>, Fault> {
    let rest = &text[at..];
    meter.spend(rest.len() as u64)?;
    let of = |length: usize| (at, at + length);
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let Some((inner, span)) = quoted(rest, quote, meter)? else { return Ok(None) };
        let span = (at + span.0, at + span.1);
        let answer = Answer { text: inner.into(), value: None, span, from: "json", quoted: true };
        return Ok(Some(answer));
    }
    if let Ok((value, length)) = literal::prefix(rest, Words::Json)
        && ends(&rest[length..]) != End::Never
    {
        let written = rest[..length].into();
        let (span, value) = (of(length), Some(value));
        return Ok(Some(Answer { text: written, value, span, from: "json", quoted: false }));
    }
    // A word without quotes.
    let length = rest.find(['\n', '}']).unwrap_or(rest.len());
    let word = rest[..length].trim_end().trim_end_matches(',').trim_end();
    let span = of(word.len());
    let answer = Answer { text: word.into(), value: None, span, from: "json", quoted: false };
    Ok((!word.is_empty()).then_some(answer))
}

/// The text in quotes at the start of `rest`, and where it is.
fn quoted(rest: &str, quote: char, meter: &mut Meter<'_>) -> Result<Option<Placed<String>>, Fault> {
    let triple = if quote == '"' { "\"\"\"" } else { "'''" };
    if let Some(inner) = rest.strip_prefix(triple)
        && let Some(end) = inner.find(triple)
        && ends(&inner[end + 3..]) == End::Here
    {
        return Ok(inner.get(..end).map(|inner| (decoded(inner), (3, 3 + end))));
    }
    let inner = &rest[1..];
    let mut first = None;
    let mut line_end = None;
    let mut tried = 0;
    for end in quotes(inner, quote) {
        match ends(&inner[end + 1..]) {
            End::Never => continue,
            End::Line => {
                line_end.get_or_insert(end);
                continue;
            }
            End::Here => {}
        }
        let text = decoded(&inner[..end]);
        let opens = text.trim_start().starts_with(['[', '(', '{', '"', '\'']);
        meter.spend(text.len() as u64)?;
        if !opens || literal::read(&text, Words::Python).is_ok() {
            return Ok(Some((text, (1, 1 + end))));
        }
        first.get_or_insert(end);
        tried += 1;
        if tried == ENDS_MAX {
            break;
        }
    }
    let end = first.or(line_end);
    Ok(end.and_then(|end| Some((decoded(inner.get(..end)?), (1, 1 + end)))))
}

/// Where quotes stand that have no backslash.
fn quotes(inner: &str, quote: char) -> impl Iterator<Item = usize> + '_ {
    let mut escaped = false;
    inner.char_indices().filter_map(move |(at, c)| {
        let counts = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        counts.then_some(at)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// What follows can follow a member.
    Here,
    /// A new line follows, which may be one of the text.
    Line,
    Never,
}

/// Whether a value can end where `rest` follows.
fn ends(rest: &str) -> End {
    let next = rest.trim_start();
    let next = next.strip_prefix(['.', ';']).map_or(next, str::trim_start);
    if next.is_empty() || next.starts_with('}') || next.starts_with("```") {
        return End::Here;
    }
    if let Some(next) = next.strip_prefix(',').map(str::trim_start)
        && (next.is_empty() || next.starts_with('}') || is_key(next))
    {
        return End::Here;
    }
    let blank = rest.len() - rest.trim_start().len();
    let is_line = rest.get(..blank).is_some_and(|blank| blank.contains('\n'));
    if is_line { End::Line } else { End::Never }
}

fn is_key(next: &str) -> bool {
    let Some(quote) = next.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
    let mut rest = next.char_indices().skip(1).take(KEY_BYTES_MAX);
    let Some((end, _)) = rest.find(|(_, c)| *c == quote) else { return false };
    next.get(end + 1..).is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// The text that is written. An escape that JSON does not have is kept for Python to read, but
/// for that of a quote, which has one meaning.
fn decoded(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        let (meant, length) = match c {
            '"' | '\'' | '\\' | '/' => (Some(c), 1),
            'n' => (Some('\n'), 1),
            't' => (Some('\t'), 1),
            'r' => (Some('\r'), 1),
            'b' => (Some('\u{8}'), 1),
            'f' => (Some('\u{c}'), 1),
            'u' => unicode(rest),
            _ => (None, 0),
        };
        out.push(meant.unwrap_or('\\'));
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The character of `uXXXX`, or of a pair of them, and the length of what is written.
fn unicode(rest: &str) -> (Option<char>, usize) {
    let unit = |from: usize| {
        let digits = rest.get(from..from + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let Some(high) = unit(1) else { return (None, 0) };
    if let Some(c) = char::from_u32(high) {
        return (Some(c), 5);
    }
    let low = rest.get(5..7).filter(|mark| *mark == "\\u").and_then(|_| unit(7));
    let joined = low.filter(|low| high < 0xdc00 && (0xdc00..0xe000).contains(low));
    let joined =
        joined.and_then(|low| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
    if joined.is_some() { (joined, 11) } else { (None, 0) }
}
