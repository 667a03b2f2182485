//! Numbers of Python: `1_000`, `0xff`, `1.`, `1e-3`, `2j`.

use num_bigint::BigInt;

use crate::value::PyValue;

/// Digits of one integer; `CPython` reads no more either.
const DIGITS_MAX: usize = 4300;

/// The number without a sign at the start of `text`, and its length.
pub(super) fn read(text: &str) -> Option<(PyValue, usize)> {
    let (value, length) = based(text).or_else(|| decimal(text))?;
    let after = text.get(length..)?.chars().next();
    let ends = !after.is_some_and(|c| c.is_alphanumeric() || c == '_');
    ends.then_some((value, length))
}

/// The number with its sign turned.
pub(super) fn negative(value: PyValue) -> PyValue {
    match value {
        PyValue::Int(value) => PyValue::Int(-value),
        PyValue::Float(value) => PyValue::Float(-value),
        PyValue::Complex(real, imaginary) => PyValue::Complex(-real, -imaginary),
        value => value,
    }
}

/// A number as a float, where it is real and not too large.
pub(super) fn float(value: &PyValue) -> Option<f64> {
    match value {
        PyValue::Float(value) => Some(*value),
        PyValue::Int(value) => {
            value.to_string().parse().ok().filter(|value: &f64| value.is_finite())
        }
        _ => None,
    }
}

fn based(text: &str) -> Option<(PyValue, usize)> {
    let radix = match text.get(..2)? {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return None,
    };
    let digits = text.get(2..)?;
    // An underscore may follow the mark.
    let skip = usize::from(digits.starts_with('_'));
    let length = skip + digits_length(digits.get(skip..)?, radix)?;
    let value = integer(digits.get(skip..length)?, radix)?;
    Some((PyValue::Int(value), 2 + length))
}

fn decimal(text: &str) -> Option<(PyValue, usize)> {
    let digits = |from: usize| text.get(from..).and_then(|rest| digits_length(rest, 10));
    let whole = digits(0).unwrap_or(0);
    let mut length = whole;
    if text.get(length..)?.starts_with('.') {
        length += 1 + digits(length + 1).unwrap_or(0);
        if length == 1 {
            return None;
        }
    }
    if length > 0 && text.get(length..)?.starts_with(['e', 'E']) {
        let sign = usize::from(text.get(length + 1..)?.starts_with(['+', '-']));
        length += digits(length + 1 + sign).map_or(0, |digits| 1 + sign + digits);
    }
    let written = text.get(..length).filter(|written| !written.is_empty())?;
    let is_imaginary = text.get(length..)?.starts_with(['j', 'J']);
    if length == whole && !is_imaginary {
        return Some((PyValue::Int(no_leading_zeros(written)?), length));
    }
    let value: f64 = written.replace('_', "").parse().ok()?;
    if is_imaginary {
        return Some((PyValue::Complex(0.0, value), length + 1));
    }
    Some((PyValue::Float(value), length))
}

fn no_leading_zeros(written: &str) -> Option<BigInt> {
    let is_zero = written.bytes().all(|byte| matches!(byte, b'0' | b'_'));
    if written.starts_with('0') && !is_zero { None } else { integer(written, 10) }
}

fn integer(written: &str, radix: u32) -> Option<BigInt> {
    if written.len() > DIGITS_MAX {
        return None;
    }
    BigInt::parse_bytes(written.replace('_', "").as_bytes(), radix)
}

/// Digits with single underscores between them.
fn digits_length(text: &str, radix: u32) -> Option<usize> {
    let mut length = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_digit = |c: char| c.is_ascii() && c.is_digit(radix);
        let joins = c == '_' && at > 0 && chars.peek().is_some_and(|(_, next)| is_digit(*next));
        if !is_digit(c) && !joins {
            break;
        }
        length = at + 1;
    }
    (length > 0).then_some(length)
}
