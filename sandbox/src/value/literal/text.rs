//! Texts and bytes of Python: `'a'`, `r"\d"`, `b'\x00'`, `"""..."""`.

use crate::value::PyValue;

/// What words mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// `True`, `False` and `None`.
    Python,
    /// Those and `true`, `false` and `null`. Halves of a pair in a text make one character.
    Json,
}

/// Whether a text begins here.
pub(super) fn opens(rest: &str) -> bool {
    prefix(rest).is_some()
}

/// The text or the bytes at the start of `rest`, and the length of what is written.
pub(super) fn read(rest: &str, words: Words) -> Option<(PyValue, usize)> {
    let marks = prefix(rest)?;
    let quoted = rest.get(marks.length..)?;
    let quote = quoted.chars().next()?;
    let triple = triple(quote);
    let close = if quoted.starts_with(triple) { triple } else { quoted.get(..1)? };
    let inner = quoted.get(close.len()..)?;
    let end = end(inner, close)?;
    let written = inner.get(..end)?;
    let length = marks.length + 2 * close.len() + end;
    let value = if marks.bytes {
        PyValue::Bytes(bytes(written, marks.raw)?)
    } else if marks.raw {
        PyValue::Str(written.as_bytes().to_vec())
    } else {
        PyValue::Str(text(written, words)?)
    };
    Some((value, length))
}

struct Marks {
    length: usize,
    raw: bool,
    bytes: bool,
}

/// The letters before the first quote; `f` makes a text that is not a literal.
fn prefix(rest: &str) -> Option<Marks> {
    let length = rest.bytes().take(3).position(|byte| matches!(byte, b'\'' | b'"'))?;
    let (mut raw, mut bytes, mut unicode) = (false, false, false);
    for letter in rest.get(..length)?.chars() {
        let mark = match letter {
            'r' | 'R' => &mut raw,
            'b' | 'B' => &mut bytes,
            'u' | 'U' => &mut unicode,
            _ => return None,
        };
        if std::mem::replace(mark, true) {
            return None;
        }
    }
    (!unicode || length == 1).then_some(Marks { length, raw, bytes })
}

fn triple(quote: char) -> &'static str {
    if quote == '"' { "\"\"\"" } else { "'''" }
}

/// Where `close` first stands without a backslash before it.
fn end(inner: &str, close: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = inner.get(at..)?;
        let stop = rest.find(['\\', '\'', '"'])?;
        let found = rest.get(stop..)?;
        if found.starts_with(close) {
            return Some(at + stop);
        }
        let skipped = if found.starts_with('\\') { found.chars().nth(1)?.len_utf8() } else { 0 };
        at += stop + 1 + skipped;
    }
}

/// What an escape stands for.
enum Escape {
    Code(u32),
    /// A line that goes on.
    Nothing,
    /// None that is known: the backslash stands for itself.
    Itself,
}

fn text(written: &str, words: Words) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(rest.get(..at)?.as_bytes());
        rest = rest.get(at + 1..)?;
        let (escape, length) = escape(rest, true)?;
        rest = rest.get(length..)?;
        match escape {
            Escape::Nothing => {}
            Escape::Itself => out.push(b'\\'),
            Escape::Code(high @ 0xd800..=0xdbff) if words == Words::Json => {
                let low = rest.strip_prefix("\\u").and_then(|rest| hex(rest, 4));
                match low.filter(|low| (0xdc00..=0xdfff).contains(low)) {
                    Some(low) => {
                        push(&mut out, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))?;
                        rest = rest.get(6..)?;
                    }
                    None => push(&mut out, high)?,
                }
            }
            Escape::Code(code) => push(&mut out, code)?,
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

fn bytes(written: &str, raw: bool) -> Option<Vec<u8>> {
    if !written.is_ascii() {
        return None;
    }
    let mut out = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\').filter(|_| !raw) {
        out.extend_from_slice(rest.get(..at)?.as_bytes());
        rest = rest.get(at + 1..)?;
        let (escape, length) = escape(rest, false)?;
        rest = rest.get(length..)?;
        match escape {
            Escape::Nothing => {}
            Escape::Itself => out.push(b'\\'),
            Escape::Code(code) => out.push(u8::try_from(code & 0xff).ok()?),
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Some(out)
}

/// What follows a backslash, and its length. `None`: Python would not read it.
fn escape(rest: &str, is_text: bool) -> Option<(Escape, usize)> {
    let c = rest.chars().next()?;
    let digits = |count: usize| {
        let code = hex(rest.get(1..)?, count)?;
        Some((Escape::Code(code), 1 + count))
    };
    let code = match c {
        '\n' => return Some((Escape::Nothing, 1)),
        '\\' | '\'' | '"' => u32::from(c),
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        'x' => return digits(2),
        'u' if is_text => return digits(4),
        'U' if is_text => return digits(8),
        // Names of characters are not known here.
        'N' if is_text => return None,
        '0'..='7' => {
            let length = rest.bytes().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let code = u32::from_str_radix(rest.get(..length)?, 8).ok()?;
            return Some((Escape::Code(code), length));
        }
        _ => return Some((Escape::Itself, 0)),
    };
    Some((Escape::Code(code), 1))
}

fn hex(rest: &str, count: usize) -> Option<u32> {
    let digits = rest.get(..count)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// UTF-8, in which a surrogate may stand alone, as in Python.
fn push(out: &mut Vec<u8>, code: u32) -> Option<()> {
    if let Some(c) = char::from_u32(code) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return Some(());
    }
    let low = |shift: u32| 0x80 | u8::try_from((code >> shift) & 0x3f).unwrap_or_default();
    (0xd800..0xe000).contains(&code).then(|| out.extend([0xed, low(6), low(0)]))
}
