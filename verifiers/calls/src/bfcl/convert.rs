//! Values of Java and of JavaScript from the text that writes them, as BFCL reads them: by the type
//! of the parameter, and a text stays one where it has another form. Every function is linear.

use std::collections::HashMap;

use crate::json;
use crate::value::{Object, Value};

/// A value of Java of a type, whose elements have the type `inner`. `None` for a type that BFCL
/// does not convert.
pub(super) fn java(text: &str, kind: &str, inner: Option<&str>) -> Option<Value> {
    let value = match kind {
        "byte" | "short" | "integer" => digits(text).map(whole),
        "long" => text.strip_suffix(['l', 'L']).and_then(digits).map(whole),
        "float" => text.strip_suffix(['f', 'F']).and_then(decimal),
        "double" => decimal(text),
        "boolean" => boolean(text),
        "String" | "any" | "char" => None,
        "Array" => array(text, inner),
        "ArrayList" => array_list(text, inner),
        "HashMap" => hash_map(text),
        _ => return None,
    };
    Some(value.unwrap_or_else(|| Value::Text(text.to_owned())))
}

/// A value of JavaScript, in the same way.
pub(super) fn javascript(text: &str, kind: &str, inner: Option<&str>) -> Option<Value> {
    let value = match kind {
        "String" => quoted(text),
        "integer" => digits(text).map(whole),
        "float" => decimal(text).filter(|_| !text.contains(['e', 'E'])),
        "Bigint" => text.strip_suffix('n').and_then(digits).map(whole),
        "Boolean" => boolean(text),
        "any" => None,
        "array" => return Some(js_array(text.trim(), inner)),
        "dict" => return Some(js_dict(text.trim())),
        _ => return None,
    };
    Some(value.unwrap_or_else(|| Value::Text(text.to_owned())))
}

/// A text of digits with a sign.
fn digits(text: &str) -> Option<&str> {
    let bare = text.strip_prefix('-').unwrap_or(text);
    (!bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// The integer that digits write.
fn whole(text: &str) -> Value {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { Value::Int(0) } else { json::integer(&[sign, digits].concat()) }
}

/// A decimal with an optional fraction and exponent.
fn decimal(text: &str) -> Option<Value> {
    let (mantissa, exponent) =
        text.split_once(['e', 'E']).map_or((text, None), |(own, e)| (own, Some(e)));
    let (own, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(own, part)| (own, Some(part)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_right = digits(own).is_some()
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|text| is_digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
    is_right.then(|| text.parse().ok().map(Value::Float))?
}

fn boolean(text: &str) -> Option<Value> {
    matches!(text, "true" | "false").then(|| Value::Bool(text == "true"))
}

/// A text without the quotes around it.
fn quoted(text: &str) -> Option<Value> {
    let has = |mark: char| text.starts_with(mark) && text.ends_with(mark);
    (has('"') || has('\'')).then(|| Value::Text(inner(text).to_owned()))
}

/// A text without its first and last character.
fn inner(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// A value whose type nothing tells: a truth value, a quoted text, an integer or a float as
/// Python's `int` and `float` read them, or else a text.
fn free(text: &str, is_java: bool) -> Value {
    let quoted = || if is_java && !text.starts_with('"') { None } else { quoted(text) };
    let suffixed = || {
        let long = text.strip_suffix(['l', 'L']).and_then(digits).map(whole);
        long.or_else(|| text.strip_suffix(['f', 'F']).and_then(decimal))
    };
    boolean(text)
        .or_else(quoted)
        .or_else(|| is_java.then(suffixed).flatten())
        .or_else(|| number(text))
        .unwrap_or_else(|| Value::Text(text.to_owned()))
}

fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_parted = |text: &str| {
        let bytes = text.as_bytes();
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        bytes.iter().enumerate().all(|(at, byte)| {
            *byte != b'_' || at > 0 && is_digit(bytes.get(at - 1)) && is_digit(bytes.get(at + 1))
        })
    };
    if !is_parted(text) {
        return None;
    }
    let text = text.replace('_', "");
    let bare = text.strip_prefix('+').filter(|bare| !bare.starts_with('-')).unwrap_or(&text);
    if digits(bare).is_some() {
        return Some(whole(bare));
    }
    text.parse().ok().map(Value::Float)
}

/// What follows `new`, white space and `name`, at its first place from `from` on.
fn after_new<'t>(text: &'t str, name: &str, from: usize) -> Option<&'t str> {
    let mut rest = text.get(from..)?;
    loop {
        rest = rest.split_once("new")?.1;
        let behind = rest.trim_start();
        if behind.len() < rest.len()
            && let Some(behind) = behind.strip_prefix(name)
        {
            return Some(behind);
        }
    }
}

/// Past a word of letters, digits and underscores.
fn past_word(text: &str) -> &str {
    text.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_')
}

fn array(text: &str, kind: Option<&str>) -> Option<Value> {
    let mut from = 0;
    while let Some(rest) = after_new(text, "", from) {
        from = text.len() - rest.len();
        let behind = past_word(rest);
        let open =
            behind.strip_prefix("[]").map(str::trim_start).and_then(|rest| rest.strip_prefix('{'));
        let Some(open) = open.filter(|_| behind.len() < rest.len()) else { continue };
        let end = open.find(['}', '\n'])?;
        if !open.get(end..).is_some_and(|rest| rest.starts_with('}')) {
            from = text.len() - open.len() + end;
            continue;
        }
        let elements =
            open.get(..end)?.split(',').map(str::trim).filter(|element| !element.is_empty());
        return elements
            .map(|element| element_of(element, kind))
            .collect::<Option<_>>()
            .map(Value::List);
    }
    None
}

fn element_of(text: &str, kind: Option<&str>) -> Option<Value> {
    kind.map_or_else(|| Some(free(text, true)), |kind| java(text, kind, None))
}

/// An element of a list, which is quoted where its type says so.
fn listed(text: &str, kind: Option<&str>) -> Option<Value> {
    match kind {
        Some("char" | "String") => Some(Value::Text(inner(text).to_owned())),
        kind => element_of(text, kind),
    }
}

/// Past `new ArrayList<word>`, at each of its places.
fn array_list(text: &str, kind: Option<&str>) -> Option<Value> {
    let places = |visit: &mut dyn FnMut(&str) -> Result<Option<Value>, usize>| {
        let mut from = 0;
        while let Some(rest) = after_new(text, "ArrayList<", from) {
            from = text.len() - rest.len();
            let Some(behind) = past_word(rest).strip_prefix('>') else { continue };
            match visit(behind) {
                Ok(Some(value)) => return Some(value),
                Ok(None) => {}
                // Nothing matches up to there.
                Err(left) => from = text.len() - left,
            }
        }
        None
    };
    let by_list = &mut |behind: &str| {
        let Some(inner) = behind.strip_prefix("(Arrays.asList(") else { return Ok(None) };
        let line = inner.split('\n').next().unwrap_or(inner);
        let end =
            line.char_indices().nth(1).and_then(|(at, _)| Some(at + line.get(at..)?.find("))")?));
        let Some(elements) = end.and_then(|end| line.get(..end)) else {
            return Err(inner.len() - line.len());
        };
        let elements = elements.split(',').map(|element| listed(element.trim(), kind));
        Ok(elements.collect::<Option<_>>().map(Value::List))
    };
    let by_adding = &mut |behind: &str| {
        let open =
            behind.strip_prefix("()").map(str::trim_start).and_then(|rest| rest.strip_prefix("{{"));
        let Some(open) = open else { return Ok(None) };
        let first = open.trim_start();
        let second = first.chars().next().map_or(0, char::len_utf8);
        let end = first.get(second..).and_then(|rest| rest.find("}}")).map(|end| second + end);
        match (end, open.get(1..).and_then(|rest| rest.find("}}"))) {
            (Some(end), _) => Ok(Some(Value::List(added(&first[..end], kind)))),
            (None, Some(_)) => Ok(Some(Value::List(Vec::new()))),
            _ => Err(0),
        }
    };
    let by_nothing =
        &mut |behind: &str| Ok(behind.starts_with("()").then(|| Value::List(Vec::new())));
    places(by_list).or_else(|| places(by_adding)).or_else(|| places(by_nothing))
}

/// The arguments of `add(...)`.
fn added(text: &str, kind: Option<&str>) -> Vec<Value> {
    let (mut elements, mut rest) = (Vec::new(), text);
    while let Some((_, behind)) = rest.split_once("add(") {
        rest = behind;
        let second = behind.chars().next().map_or(0, char::len_utf8);
        let end =
            behind.get(second..).and_then(|rest| rest.find([')', '\n'])).map(|end| second + end);
        let Some(end) = end.filter(|_| !behind.starts_with('\n')) else { continue };
        let (element, left) = behind.split_at(end);
        if let Some(left) = left.strip_prefix(')') {
            elements.extend(listed(element.trim(), kind));
            rest = left;
        }
    }
    elements
}

fn hash_map(text: &str) -> Option<Value> {
    let open = after_new(text, "HashMap<", 0)?;
    let mut created = open.match_indices('>').filter_map(|(at, _)| {
        open.get(at + 1..).and_then(|rest| rest.trim_start().strip_prefix("()"))
    });
    let first = created.next()?;
    let body =
        std::iter::once(first).chain(created).find_map(|rest| rest.trim_start().strip_prefix('{'));
    let body = body.and_then(|body| {
        let body = body.trim_start();
        body.strip_prefix('{').unwrap_or(body).split_once('}')
    });
    let mut members = Vec::new();
    let mut rest = body.map_or("", |(body, _)| body);
    while let Some((_, behind)) = rest.split_once("put(\"") {
        let line = behind.split('\n').next().unwrap_or(behind);
        let put = line.split_once("\",").and_then(|(name, _)| {
            let value = behind.get(name.len() + 2..)?.trim_start();
            let end =
                value.find([')', '\n']).filter(|end| value.as_bytes().get(*end) == Some(&b')'))?;
            Some((name, value.get(..end)?, value.get(end + 1..)?))
        });
        // Without it, nothing on the line matches.
        rest = put.map_or_else(|| behind.split_at(line.len()).1, |(.., left)| left);
        members.extend(put.map(|(name, value, _)| (name, free(value.trim(), true))));
    }
    Some(Value::Object(last_of(members)))
}

/// The members of an object, of which the last of a name counts, in the place of the first.
fn last_of(members: Vec<(&str, Value)>) -> Object {
    let mut places = HashMap::new();
    let mut own: Vec<(String, Value)> = Vec::new();
    for (name, value) in members {
        if let Some((_, have)) = places.get(name).and_then(|at: &usize| own.get_mut(*at)) {
            *have = value;
        } else {
            places.insert(name, own.len());
            own.push((name.to_owned(), value));
        }
    }
    Object::new(own).unwrap_or_default()
}

fn js_array(code: &str, kind: Option<&str>) -> Value {
    let created = || code.strip_prefix("new").filter(|rest| rest.starts_with(char::is_whitespace));
    let created = || created()?.trim_start().strip_prefix("Array(");
    let (inner, close) = match (code.strip_prefix('['), created()) {
        (Some(inner), _) => (inner, ']'),
        (_, Some(inner)) => (inner, ')'),
        _ => return Value::Text(code.to_owned()),
    };
    if let Some(length) = rows_length(inner, close) {
        let matched = &code[..code.len() - inner.len() + length];
        return Value::List(rows(matched));
    }
    let line = inner.split('\n').next().unwrap_or(inner);
    let Some((elements, _)) = line.split_once(close) else { return Value::Text(code.to_owned()) };
    let elements = elements.trim();
    let elements = elements.split(',').filter(|_| !elements.is_empty()).map(|element| {
        let element = element.trim();
        kind.map_or_else(|| Some(free(element, false)), |kind| javascript(element, kind, None))
    });
    elements.collect::<Option<_>>().map_or_else(|| Value::Text(code.to_owned()), Value::List)
}

/// How long the rows of an array of arrays are: up to the first closing bracket that `close`
/// follows.
fn rows_length(inner: &str, close: char) -> Option<usize> {
    let mut rest = inner.trim_start().strip_prefix('[')?;
    loop {
        let end = rest.find([']', '\n']).filter(|end| rest.as_bytes().get(*end) == Some(&b']'))?;
        rest = rest.get(end + 1..)?;
        let next = rest.trim_start();
        if next.starts_with(close) {
            return Some(inner.len() - rest.len());
        }
        let opened = next.strip_prefix(',').and_then(|next| next.trim_start().strip_prefix('['));
        rest = opened.unwrap_or(rest);
    }
}

/// The rows: what stands between a bracket and the next one that closes.
fn rows(matched: &str) -> Vec<Value> {
    let (mut rows, mut rest) = (Vec::new(), matched);
    while let Some((_, behind)) = rest.split_once('[') {
        rest = behind;
        let Some((row, left)) = behind.split_once([']', '\n']) else { break };
        if behind.as_bytes().get(row.len()) == Some(&b'\n') {
            continue;
        }
        rest = left;
        let row = row.trim();
        let row = if rows.is_empty() { row.strip_prefix('[').unwrap_or(row).trim() } else { row };
        rows.push(Value::List(row.split(',').map(|element| free(element.trim(), false)).collect()));
    }
    rows
}

fn js_dict(code: &str) -> Value {
    let line = code.split('\n').next().unwrap_or(code);
    let Some((content, _)) = line.strip_prefix('{').and_then(|line| line.split_once('}')) else {
        return Value::Text(code.to_owned());
    };
    let mut members = Vec::new();
    let mut rest = content;
    while let Some((name, behind)) = rest.trim_start_matches(':').split_once(':') {
        let behind = behind.trim_start();
        // A comma ends the value where a name and a colon follow it.
        let end = behind.match_indices(',').map(|(at, _)| at).find(|at| {
            let next = behind.split_at(at + 1).1;
            next.split(',').next().is_some_and(|next| next.get(1..).unwrap_or(next).contains(':'))
        });
        let value = end.and_then(|end| behind.get(..end)).unwrap_or(behind).trim();
        rest = end.and_then(|end| behind.get(end + 1..)).unwrap_or_default().trim_start();
        let quotes = ['\'', '"'];
        let value = if value.starts_with('[') && value.ends_with(']') {
            js_array(value, None)
        } else {
            free(value.trim_matches(quotes).trim(), false)
        };
        let name = name.trim().trim_matches(quotes);
        members.push((name, value));
    }
    Value::Object(last_of(members))
}
