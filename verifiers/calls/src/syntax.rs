//! Calls in the syntax of Java and of JavaScript, as BFCL has them: `[f(a=1, b="x")]`. Values are
//! kept as the text that writes them.

use std::ops::Range;

use crate::call::Call;
use crate::cursor::Cursor;
use crate::format::THOUGHTS;
use crate::refusal::{Code, Refusal};
use crate::value::{Object, Value};

/// Reads the one call of a text. Every value is a text: that of a literal without its quotes, and
/// the source of anything else.
pub(crate) fn calls(text: &str, is_java: bool) -> Result<Vec<Call>, Refusal> {
    let Range { mut start, end } = answer(text);
    let is_listed = text[start..end].starts_with('[');
    start += usize::from(is_listed);
    let mut cursor = Cursor::new(&text[..end], start);
    cursor.space();
    if cursor.peek().is_none() || is_listed && cursor.peek() == Some(b']') {
        return Ok(Vec::new());
    }
    let start = cursor.at();
    let name = cursor
        .while_bytes(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(&byte) || byte >= 0x80);
    // Prose is no attempt.
    if cursor.peek() != Some(b'(') || name.is_empty() {
        return if is_listed { cursor.refuse(Code::Unexpected) } else { Ok(Vec::new()) };
    }
    cursor.skip(1);
    let (mut named, mut positional) = (Vec::new(), Vec::new());
    cursor.space();
    while !cursor.eat(")") {
        let (equals, span) = argument(&mut cursor, is_java)?;
        let source = |span: Range<usize>| text[span].trim();
        match equals {
            Some(equals) => {
                let value = value(source(equals + 1..span.end), is_java);
                named.push((source(span.start..equals).to_owned(), Value::Text(value)));
            }
            None if is_variable(source(span.clone()), is_java) => {
                return Err(Refusal::new(Code::Unnamed, span));
            }
            None => positional.push(Value::Raw(source(span).to_owned())),
        }
        if cursor.eat(",") {
            cursor.space();
        }
    }
    let span = start..cursor.at();
    let arguments =
        Object::new(named).map_err(|_| Refusal::new(Code::DuplicateKey, span.clone()))?;
    cursor.space();
    cursor.eat(";");
    cursor.space();
    let is_closed = !is_listed || cursor.eat("]");
    cursor.space();
    match cursor.peek() {
        None if is_closed => Ok(vec![Call { name: name.to_owned(), arguments, positional, span }]),
        None => cursor.refuse(Code::Truncated),
        Some(_) => cursor.refuse(Code::TextAfter),
    }
}

/// The answer: what follows the thoughts, without the fence around it.
fn answer(text: &str) -> Range<usize> {
    let ends = THOUGHTS.iter().filter_map(|(_, close)| Some(text.rfind(close)? + close.len()));
    let start = ends.max().unwrap_or(0);
    let inner = text.split_at(start).1.trim();
    let inner = match inner.strip_prefix("```") {
        Some(block) => {
            let block = block.trim_start_matches(|char: char| char.is_ascii_alphanumeric());
            block.trim_end().trim_end_matches('`').trim()
        }
        None => inner,
    };
    // What is left is a part of the text.
    let start = inner.as_ptr() as usize - text.as_ptr() as usize;
    start..start + inner.len()
}

/// Words behind which an operand follows.
const OPERATORS: &str = "new typeof instanceof in of void delete await async function final return";

/// Moves past an argument: the place of its `=`, and its span. It is no parser of the language, but
/// two operands side by side are refused.
fn argument(
    cursor: &mut Cursor<'_>,
    is_java: bool,
) -> Result<(Option<usize>, Range<usize>), Refusal> {
    let start = cursor.at();
    let mut equals = None;
    // The closing brackets that are due, and whether each opened behind an operand.
    let mut due: Vec<(u8, bool)> = Vec::new();
    let (mut last, mut is_operand, mut is_choice) = (b' ', false, false);
    loop {
        let Some(byte) = cursor.peek() else { return cursor.refuse(Code::Truncated) };
        let at = cursor.at();
        let is_checked = due.last().is_none_or(|(close, _)| *close != b'}');
        if byte.is_ascii_whitespace() {
            cursor.skip(1);
            continue;
        }
        if is_word(byte) || matches!(byte, b'"' | b'\'' | b'`') {
            if is_operand && is_checked && byte != b'.' {
                return cursor.refuse(Code::Unexpected);
            }
            let word = operand(cursor)?;
            is_operand = OPERATORS.split(' ').all(|own| own != word);
            last = byte;
            continue;
        }
        if byte == b'<'
            && is_java
            && is_word(last)
            && let Some(length) = generic(cursor.rest())
        {
            cursor.skip(length);
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => {
                let close = if byte == b'(' { b')' } else { byte + 2 };
                due.push((close, is_operand));
                is_operand = false;
            }
            b')' | b',' if due.is_empty() => return Ok((equals, start..at)),
            b')' | b']' | b'}' => match due.pop() {
                // What stands in parentheses may be the type of a cast.
                Some((close, was_operand)) if close == byte => {
                    is_operand = byte != b')' || was_operand;
                }
                _ => return cursor.refuse(Code::Unexpected),
            },
            b':' if due.is_empty()
                && !is_choice
                && last != b':'
                && cursor.second() != Some(b':') =>
            {
                return cursor.refuse(Code::Unexpected);
            }
            _ => {
                is_choice |= byte == b'?';
                let is_other =
                    b"=!<>+-*/%&|^".contains(&last) || matches!(cursor.second(), Some(b'=' | b'>'));
                if byte == b'=' && due.is_empty() && equals.is_none() && !is_other {
                    equals = Some(at);
                }
                is_operand = false;
            }
        }
        last = byte;
        cursor.skip(1);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | 0x80..)
}

/// Moves past a word, which it gives, or a text in quotes.
fn operand<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, Refusal> {
    let start = cursor.at();
    let word = cursor.while_bytes(is_word);
    if word.is_empty() {
        quoted(cursor)?;
    } else if word.starts_with(|char: char| char.is_ascii_digit()) && word.matches('.').count() > 1
    {
        return cursor.refuse_from(Code::BadNumber, start);
    }
    Ok(word)
}

/// Moves past a text in quotes.
fn quoted(cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
    let start = cursor.at();
    let quote = cursor.peek();
    cursor.skip(1);
    loop {
        cursor.while_bytes(|byte| Some(byte) != quote && byte != b'\\');
        match cursor.peek() {
            Some(b'\\') => {
                cursor.skip(1);
                cursor.skip(1);
            }
            Some(_) => {
                cursor.skip(1);
                return Ok(());
            }
            None => return cursor.refuse_from(Code::Truncated, start),
        }
    }
}

/// The longest list of type arguments, in bytes.
const GENERIC_BYTES_MAX: usize = 200;

/// How long the type arguments are that a text starts with: `<String, Object>`.
fn generic(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().take(GENERIC_BYTES_MAX) {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            byte if byte.is_ascii_alphanumeric() || b"_$.,? []&".contains(&byte) => {}
            _ => return None,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Whether an argument without a name is one that the official parsers give the name `None`.
fn is_variable(source: &str, is_java: bool) -> bool {
    let is_word =
        source.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$');
    let is_other = matches!(source, "true" | "false" | "null" | "undefined" | "this" | "");
    let is_digit = source.starts_with(|char: char| char.is_ascii_digit());
    (is_word && !is_other && !is_digit)
        || (!is_java && source == "true")
        || (is_java && source.rsplit('.').next() == Some("class"))
}

/// The text of a value.
fn value(source: &str, is_java: bool) -> String {
    let mut cursor = Cursor::new(source, 0);
    let is_quoted = matches!(cursor.peek(), Some(b'"' | b'\'')) && quoted(&mut cursor).is_ok();
    if is_quoted && cursor.peek().is_none() {
        return source[1..source.len() - 1].to_owned();
    }
    let created = is_java.then(|| created(source, 8)).flatten();
    created.unwrap_or_else(|| source.to_owned())
}

/// The creation of an object or of an array of Java, without a class body.
fn created(source: &str, depth: usize) -> Option<String> {
    let source = source.strip_prefix("new")?;
    let kind_from = source.trim_start();
    if kind_from.len() == source.len() || depth == 0 {
        return None;
    }
    let squeezed =
        |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
    let open = kind_from.find(['(', '[', '{'])?;
    let (kind, mut rest) = kind_from.split_at_checked(open)?;
    let kind = squeezed(kind);
    if rest.starts_with('[') {
        while let Some(behind) = rest.strip_prefix('[') {
            rest = behind.trim_start().strip_prefix(']')?.trim_start();
        }
        return rest.starts_with('{').then(|| format!("new {kind}[]{rest}"));
    }
    let mut cursor = Cursor::new(rest, 1);
    let mut arguments = Vec::new();
    cursor.space();
    while !cursor.eat(")") {
        let (_, span) = argument(&mut cursor, true).ok()?;
        let text = rest.get(span)?.trim();
        arguments.push(created(text, depth - 1).unwrap_or_else(|| text.to_owned()));
        if cursor.eat(",") {
            cursor.space();
        }
    }
    cursor.space();
    // A method of the new object makes it another expression.
    let is_whole = matches!(cursor.peek(), None | Some(b'{'));
    is_whole.then(|| format!("new {kind}({})", arguments.join(", ")))
}
