//! JSON (RFC 8259) that keeps the order of members, integers of any size, and what was wrong.

use crate::cursor::Cursor;
use crate::refusal::{Code, Refusal};
use crate::value::{DEPTH_MAX, Object, Value};

/// Reads a text that is one value. Linear in the text, but for `n log n` in the members of an
/// object.
///
/// # Errors
/// What is wrong first.
pub fn parse(text: &str) -> Result<Value, Refusal> {
    let mut cursor = Cursor::new(text, 0);
    let value = value(&mut cursor)?;
    cursor.space();
    if cursor.peek().is_none() { Ok(value) } else { cursor.refuse(Code::TextAfter) }
}

/// Reads the value that comes next.
pub(crate) fn value(cursor: &mut Cursor<'_>) -> Result<Value, Refusal> {
    cursor.space();
    nested(cursor, DEPTH_MAX)
}

fn nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    match cursor.peek() {
        Some(b'{' | b'[') if depth == 0 => cursor.refuse(Code::TooDeep),
        Some(b'{') => object(cursor, depth - 1),
        Some(b'[') => array(cursor, depth - 1),
        Some(b'"') => text(cursor).map(Value::Text),
        Some(b'-' | b'0'..=b'9') => number(cursor),
        Some(b'\'') => cursor.refuse(Code::SingleQuotes),
        Some(b'+' | b'.') => cursor.refuse(Code::BadNumber),
        Some(byte) if byte.is_ascii_alphabetic() => word(cursor),
        _ => cursor.refuse(Code::Unexpected),
    }
}

fn word(cursor: &mut Cursor<'_>) -> Result<Value, Refusal> {
    let start = cursor.at();
    match cursor.while_bytes(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        "null" => Ok(Value::Null),
        _ if cursor.peek().is_none() => cursor.refuse_from(Code::Truncated, start),
        _ => cursor.refuse_from(Code::BadLiteral, start),
    }
}

fn array(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    let mut elements = Vec::new();
    cursor.skip(1);
    cursor.space();
    if cursor.eat("]") {
        return Ok(Value::List(elements));
    }
    loop {
        elements.push(nested(cursor, depth)?);
        if !goes_on(cursor, "]")? {
            return Ok(Value::List(elements));
        }
    }
}

/// Whether a comma comes next, and not `close`.
fn goes_on(cursor: &mut Cursor<'_>, close: &str) -> Result<bool, Refusal> {
    cursor.space();
    if cursor.eat(close) {
        return Ok(false);
    }
    let comma = cursor.at();
    if !cursor.eat(",") {
        return cursor.refuse(Code::Unexpected);
    }
    cursor.space();
    match cursor.peek() {
        Some(b']' | b'}') => Err(Refusal::new(Code::TrailingComma, comma..comma + 1)),
        _ => Ok(true),
    }
}

fn object(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Refusal> {
    let start = cursor.at();
    let mut members = Vec::new();
    cursor.skip(1);
    cursor.space();
    let mut is_open = !cursor.eat("}");
    while is_open {
        let name = match cursor.peek() {
            Some(b'"') => text(cursor)?,
            Some(b'\'') => return cursor.refuse(Code::SingleQuotes),
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => {
                return cursor.refuse(Code::UnquotedKey);
            }
            _ => return cursor.refuse(Code::Unexpected),
        };
        cursor.space();
        if !cursor.eat(":") {
            return cursor.refuse(Code::Unexpected);
        }
        cursor.space();
        members.push((name, nested(cursor, depth)?));
        is_open = goes_on(cursor, "}")?;
    }
    Object::new(members)
        .map(Value::Object)
        .or_else(|_| cursor.refuse_from(Code::DuplicateKey, start))
}

/// A number; the exponent and the fraction make it a float.
fn number(cursor: &mut Cursor<'_>) -> Result<Value, Refusal> {
    let start = cursor.at();
    let is_digit = |byte: u8| byte.is_ascii_digit();
    cursor.eat("-");
    let whole = cursor.while_bytes(is_digit);
    let mut is_right = !whole.is_empty() && (whole.len() == 1 || !whole.starts_with('0'));
    let mut is_float = false;
    if cursor.eat(".") {
        is_float = true;
        is_right &= !cursor.while_bytes(is_digit).is_empty();
    }
    if matches!(cursor.peek(), Some(b'e' | b'E')) {
        is_float = true;
        cursor.skip(1);
        if matches!(cursor.peek(), Some(b'+' | b'-')) {
            cursor.skip(1);
        }
        is_right &= !cursor.while_bytes(is_digit).is_empty();
    }
    let digits = cursor.since(start);
    if !is_right {
        let code = if cursor.peek().is_none() { Code::Truncated } else { Code::BadNumber };
        return cursor.refuse_from(code, start);
    }
    let value = if is_float { float(digits) } else { Some(integer(digits)) };
    value.map_or_else(|| cursor.refuse_from(Code::BadNumber, start), Ok)
}

/// An integer of any size, from its sign and digits without leading zeros.
pub(crate) fn integer(digits: &str) -> Value {
    digits.parse().map_or_else(|_| Value::Big(digits.into()), Value::Int)
}

/// A float, where it is finite.
pub(crate) fn float(digits: &str) -> Option<Value> {
    digits.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float)
}

fn text(cursor: &mut Cursor<'_>) -> Result<String, Refusal> {
    let start = cursor.at();
    cursor.skip(1);
    let mut value = String::new();
    loop {
        value.push_str(cursor.while_bytes(|byte| byte >= b' ' && byte != b'"' && byte != b'\\'));
        match cursor.peek() {
            Some(b'"') => {
                cursor.skip(1);
                return Ok(value);
            }
            Some(b'\\') => value.push(escape(cursor)?),
            Some(_) => return cursor.refuse(Code::ControlCharacter),
            None => return cursor.refuse_from(Code::Truncated, start),
        }
    }
}

fn escape(cursor: &mut Cursor<'_>) -> Result<char, Refusal> {
    let start = cursor.at();
    cursor.skip(1);
    let Some(letter) = cursor.peek() else { return cursor.refuse_from(Code::Truncated, start) };
    cursor.skip(1);
    Ok(match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(cursor, start),
        _ => return cursor.refuse_from(Code::BadEscape, start),
    })
}

fn unicode(cursor: &mut Cursor<'_>, start: usize) -> Result<char, Refusal> {
    let mut unit = hex(cursor, 4);
    if let Some(high @ 0xd800..=0xdbff) = unit {
        let low = cursor.eat("\\u").then(|| hex(cursor, 4)).flatten();
        unit = low
            .filter(|low| (0xdc00..=0xdfff).contains(low))
            .map(|low| 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    }
    let code = if cursor.peek().is_none() { Code::Truncated } else { Code::BadEscape };
    unit.and_then(char::from_u32).map_or_else(|| cursor.refuse_from(code, start), Ok)
}

/// The number that `digits` hexadecimal digits write, where they come next.
pub(crate) fn hex(cursor: &mut Cursor<'_>, digits: usize) -> Option<u32> {
    let text = cursor.rest().get(..digits)?;
    let number = u32::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'))?;
    cursor.skip(digits);
    Some(number)
}
