//! Calls in the syntax of Python: `[f(a=1, b=[..]), g.h(x="..")]`. Literals are read; nothing is
//! evaluated.

use crate::call::Call;
use crate::cursor::Cursor;
use crate::json;
use crate::refusal::{Code, Refusal};
use crate::value::DEPTH_MAX;
use crate::value::{Object, Value};

/// Reads a text that is one literal of Python.
///
/// # Errors
/// What is wrong first.
pub fn literal(text: &str) -> Result<Value, Refusal> {
    let mut reader = Reader { cursor: Cursor::new(text, 0), names: false };
    reader.space();
    let value = reader.value(DEPTH_MAX)?;
    reader.space();
    if reader.cursor.peek().is_none() { Ok(value) } else { reader.cursor.refuse(Code::TextAfter) }
}

/// Reads calls, in brackets or parted by commas, line breaks or semicolons, as far as they go. With
/// `names`, a variable and a nested call count as the text that writes them, as in BFCL.
pub(crate) fn calls(
    cursor: &mut Cursor<'_>,
    names: bool,
    out: &mut Vec<Call>,
) -> Result<(), Refusal> {
    let mut reader = Reader { cursor: cursor.clone(), names };
    reader.space();
    let close = [("[", "]"), ("(", ")")].into_iter().find(|(open, _)| reader.cursor.eat(open));
    loop {
        reader.space();
        if let Some((_, close)) = close
            && reader.cursor.eat(close)
        {
            break;
        }
        let is_listed = matches!(close, Some((_, "]")));
        out.push(if is_listed { reader.listed_call()? } else { reader.call()? });
        if close.is_some() {
            reader.space();
        } else {
            reader.cursor.while_bytes(|byte| byte == b' ' || byte == b'\t');
        }
        let is_parted = reader.cursor.eat(",") || close.is_none() && reader.cursor.eat(";");
        match close {
            Some(_) if is_parted => {}
            Some((_, close)) if reader.cursor.eat(close) => break,
            Some(_) => return reader.cursor.refuse(Code::Unexpected),
            None => {
                let is_line = matches!(reader.cursor.peek(), Some(b'\n' | b'\r'));
                let mut ahead = reader.clone();
                ahead.space();
                if !(is_parted || is_line) || !ahead.is_call() {
                    break;
                }
            }
        }
    }
    *cursor = reader.cursor;
    Ok(())
}

/// Whether a call comes next: a dotted name, and a parenthesis right behind it.
pub(crate) fn is_call(cursor: &Cursor<'_>) -> bool {
    Reader { cursor: cursor.clone(), names: false }.is_call()
}

/// The same in brackets, where a name may have several words.
pub(crate) fn is_listed_call(cursor: &Cursor<'_>, names: bool) -> bool {
    let mut reader = Reader { cursor: cursor.clone(), names };
    reader.is_call() || reader.words().is_some()
}

#[derive(Clone)]
struct Reader<'t> {
    cursor: Cursor<'t>,
    names: bool,
}

/// Words that are no names.
const KEYWORDS: [&str; 14] = [
    "and", "await", "def", "else", "for", "if", "import", "in", "is", "lambda", "not", "or",
    "return", "while",
];

impl<'t> Reader<'t> {
    /// Moves past white space and comments.
    fn space(&mut self) {
        self.cursor.space();
        while self.cursor.peek() == Some(b'#') {
            self.cursor.while_bytes(|byte| byte != b'\n');
            self.cursor.space();
        }
    }

    fn is_call(&self) -> bool {
        let mut ahead = self.clone();
        ahead.dotted().is_ok() && ahead.cursor.peek() == Some(b'(')
    }

    /// A name: letters, digits and underscores of any script.
    fn name(&mut self) -> Result<&'t str, Refusal> {
        let starts = self.cursor.char().is_some_and(|char| char.is_alphabetic() || char == '_');
        if !starts {
            return self.cursor.refuse(Code::Unexpected);
        }
        let start = self.cursor.at();
        while self.cursor.char().is_some_and(|char| char.is_alphanumeric() || char == '_') {
            self.cursor.skip(1);
        }
        let name = self.cursor.since(start);
        if KEYWORDS.contains(&name) {
            self.cursor.refuse_from(Code::Expression, start)
        } else {
            Ok(name)
        }
    }

    fn dotted(&mut self) -> Result<String, Refusal> {
        let start = self.cursor.at();
        self.name()?;
        while self.cursor.peek() == Some(b'.') {
            self.cursor.skip(1);
            self.name()?;
        }
        Ok(self.cursor.since(start).to_owned())
    }

    fn call(&mut self) -> Result<Call, Refusal> {
        let start = self.cursor.at();
        let name = self.dotted()?;
        self.arguments(name, start, DEPTH_MAX)
    }

    /// A call whose name may have several words, where its arguments have names, as in `ToolACE`.
    fn listed_call(&mut self) -> Result<Call, Refusal> {
        let (mut ahead, start) = (self.clone(), self.cursor.at());
        let Some(name) = ahead.words() else { return self.call() };
        let call = ahead.arguments(name, start, DEPTH_MAX)?;
        if !call.positional.is_empty() {
            return self.cursor.refuse(Code::Unexpected);
        }
        self.cursor = ahead.cursor;
        Ok(call)
    }

    /// Moves past a name of several words, where it comes next and a parenthesis right behind it.
    fn words(&mut self) -> Option<String> {
        let start = self.cursor.at();
        let is_first = self.cursor.char().is_some_and(char::is_alphabetic) && !self.names;
        let is_part = |char: char| {
            char.is_alphanumeric() || matches!(char, '_' | '.' | '-' | '/' | '&' | ' ')
        };
        while is_first && self.cursor.char().is_some_and(is_part) {
            self.cursor.skip(1);
        }
        let name = self.cursor.since(start);
        let is_name = name.contains([' ', '-', '/']) && name.trim_end() == name;
        (is_name && self.cursor.peek() == Some(b'(')).then(|| name.to_owned())
    }

    fn arguments(&mut self, name: String, start: usize, depth: usize) -> Result<Call, Refusal> {
        if !self.cursor.eat("(") {
            return self.cursor.refuse(Code::Unexpected);
        }
        let (mut named, mut positional) = (Vec::new(), Vec::new());
        self.space();
        while !self.cursor.eat(")") {
            let at = self.cursor.at();
            match self.keyword() {
                Some(keyword) => named.push((keyword, self.value(depth)?)),
                None if self.cursor.peek() == Some(b'*') => {
                    return self.cursor.refuse(Code::Expression);
                }
                None if !named.is_empty() => {
                    self.value(depth)?;
                    return self.cursor.refuse_from(Code::PositionalAfterNamed, at);
                }
                None => positional.push(self.value(depth)?),
            }
            self.part(")")?;
        }
        match Object::new(named) {
            Ok(arguments) => {
                Ok(Call { name, arguments, positional, span: start..self.cursor.at() })
            }
            Err(_) => self.cursor.refuse_from(Code::DuplicateKey, start),
        }
    }

    /// Moves past a name and its `=`, where they come next.
    fn keyword(&mut self) -> Option<String> {
        let mut ahead = self.clone();
        let keyword = ahead.name().ok()?;
        ahead.space();
        let is_keyword = ahead.cursor.peek() == Some(b'=') && ahead.cursor.second() != Some(b'=');
        if !is_keyword {
            return None;
        }
        ahead.cursor.skip(1);
        ahead.space();
        self.cursor = ahead.cursor;
        Some(keyword.to_owned())
    }

    /// Moves past what parts two values, up to `close`. Whether it is a comma.
    fn part(&mut self, close: &str) -> Result<bool, Refusal> {
        self.space();
        let code = match self.cursor.peek() {
            Some(b',') => {
                self.cursor.skip(1);
                self.space();
                return Ok(true);
            }
            Some(byte) if close.as_bytes().first() == Some(&byte) => return Ok(false),
            Some(b')' | b']' | b'}' | b':' | b'"' | b'\'') | None => Code::Unexpected,
            _ => Code::Expression,
        };
        self.cursor.refuse(code)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Refusal> {
        let Some(depth) = depth.checked_sub(1) else { return self.cursor.refuse(Code::TooDeep) };
        match self.cursor.peek() {
            Some(b'"' | b'\'') => self.texts(),
            Some(b'[') => self.list("[", "]", depth).map(|(elements, _)| Value::List(elements)),
            Some(b'(') => {
                let (mut elements, is_parted) = self.list("(", ")", depth)?;
                let is_tuple = is_parted || elements.is_empty();
                Ok(if is_tuple {
                    Value::Tuple(elements)
                } else {
                    elements.pop().unwrap_or(Value::Null)
                })
            }
            Some(b'{') => self.dict(depth),
            Some(b'-' | b'.' | b'0'..=b'9') => self.number(),
            Some(b'+' | b'~' | b'*') => self.cursor.refuse(Code::Expression),
            Some(_) => self.word(depth),
            None => self.cursor.refuse(Code::Truncated),
        }
    }

    /// The elements, and whether a comma follows one of them.
    fn list(
        &mut self,
        open: &str,
        close: &str,
        depth: usize,
    ) -> Result<(Vec<Value>, bool), Refusal> {
        let (mut elements, mut is_parted) = (Vec::new(), false);
        self.cursor.eat(open);
        self.space();
        while !self.cursor.eat(close) {
            elements.push(self.value(depth)?);
            is_parted |= self.part(close)?;
        }
        Ok((elements, is_parted))
    }

    fn dict(&mut self, depth: usize) -> Result<Value, Refusal> {
        let start = self.cursor.at();
        let mut members = Vec::new();
        self.cursor.skip(1);
        self.space();
        while !self.cursor.eat("}") {
            let at = self.cursor.at();
            let key = self.value(depth)?;
            self.space();
            let Value::Text(key) = key else {
                return self.cursor.refuse_from(Code::UnquotedKey, at);
            };
            if !self.cursor.eat(":") {
                return self.cursor.refuse(Code::Unexpected);
            }
            self.space();
            members.push((key, self.value(depth)?));
            self.part("}")?;
        }
        // Python takes the last member of a name.
        Object::new(members)
            .map(Value::Object)
            .or_else(|_| self.cursor.refuse_from(Code::DuplicateKey, start))
    }

    /// A word: a constant, the prefix of a text, a variable or a call.
    fn word(&mut self, depth: usize) -> Result<Value, Refusal> {
        let start = self.cursor.at();
        let value = match self.name()? {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "None" => Value::Null,
            "r" | "R" | "u" | "U" if matches!(self.cursor.peek(), Some(b'"' | b'\'')) => {
                let is_raw = self.cursor.since(start).eq_ignore_ascii_case("r");
                let mut text = String::new();
                self.text(&mut text, is_raw)?;
                return self.more_texts(text);
            }
            _ if self.names => return self.variable(start, depth),
            _ => return self.cursor.refuse_from(Code::Expression, start),
        };
        Ok(value)
    }

    /// A variable, a call or an index, as the text that writes it. A call with named arguments is
    /// an object: its name, and the object of its arguments.
    fn variable(&mut self, start: usize, depth: usize) -> Result<Value, Refusal> {
        let mut is_dotted = false;
        while self.cursor.eat(".") {
            self.name()?;
            is_dotted = true;
        }
        let name = self.cursor.since(start).to_owned();
        match self.cursor.peek() {
            Some(b'(') => {
                let call = self.arguments(name, start, depth)?;
                if !call.arguments.is_empty() {
                    let members = vec![(call.name, Value::Object(call.arguments))];
                    return Ok(Object::new(members).map_or(Value::Null, Value::Object));
                }
            }
            Some(b'[') => {
                self.list("[", "]", depth)?;
            }
            _ if is_dotted => return self.cursor.refuse_from(Code::Expression, start),
            _ => {}
        }
        Ok(Value::Text(self.cursor.since(start).to_owned()))
    }

    /// A number, or an ellipsis, which BFCL reads as a text.
    fn number(&mut self) -> Result<Value, Refusal> {
        let start = self.cursor.at();
        if self.names && self.cursor.eat("...") {
            return Ok(Value::Text("...".to_owned()));
        }
        let sign = if self.cursor.eat("-") { "-" } else { "" };
        self.space();
        let from = self.cursor.at();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_';
        loop {
            let part = self.cursor.while_bytes(is_part);
            let is_exponent = part.ends_with(['e', 'E']) && !part.starts_with("0x");
            if !(is_exponent && matches!(self.cursor.peek(), Some(b'+' | b'-'))) {
                break;
            }
            self.cursor.skip(1);
        }
        let written = self.cursor.since(from);
        number(sign, written).map_or_else(|| self.cursor.refuse_from(Code::BadNumber, start), Ok)
    }

    /// Texts that stand side by side are one.
    fn texts(&mut self) -> Result<Value, Refusal> {
        let mut text = String::new();
        self.text(&mut text, false)?;
        self.more_texts(text)
    }

    fn more_texts(&mut self, mut text: String) -> Result<Value, Refusal> {
        loop {
            let mut ahead = self.clone();
            ahead.space();
            if !matches!(ahead.cursor.peek(), Some(b'"' | b'\'')) {
                return Ok(Value::Text(text));
            }
            ahead.text(&mut text, false)?;
            self.cursor = ahead.cursor;
        }
    }

    fn text(&mut self, text: &mut String, is_raw: bool) -> Result<(), Refusal> {
        let start = self.cursor.at();
        let marks = ["\"\"\"", "'''", "\"", "'"];
        let Some(mark) = marks.into_iter().find(|mark| self.cursor.eat(mark)) else {
            return self.cursor.refuse(Code::Unexpected);
        };
        let quote = mark.bytes().next();
        loop {
            text.push_str(self.cursor.while_bytes(|byte| {
                Some(byte) != quote && byte != b'\\' && (byte != b'\n' || mark.len() == 3)
            }));
            if self.cursor.eat(mark) {
                return Ok(());
            }
            match self.cursor.peek() {
                Some(b'\\') if is_raw => {
                    let at = self.cursor.at();
                    self.cursor.skip(1);
                    self.cursor.skip(1);
                    text.push_str(self.cursor.since(at));
                }
                Some(b'\\') => self.escape(text)?,
                Some(b'\n') => return self.cursor.refuse(Code::ControlCharacter),
                Some(quote) => {
                    text.push(char::from(quote));
                    self.cursor.skip(1);
                }
                None => return self.cursor.refuse_from(Code::Truncated, start),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Refusal> {
        let start = self.cursor.at();
        self.cursor.skip(1);
        let Some(letter) = self.cursor.char() else { return self.cursor.refuse(Code::Truncated) };
        self.cursor.skip(1);
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let char = match letter {
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => Some(letter),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            '0'..='7' => {
                let more = self
                    .cursor
                    .rest()
                    .bytes()
                    .take(2)
                    .take_while(|byte| matches!(byte, b'0'..=b'7'));
                let more = more.count();
                self.cursor.skip(more);
                let octal = self.cursor.since(start + 1);
                u32::from_str_radix(octal, 8).ok().and_then(char::from_u32)
            }
            'x' | 'u' | 'U' => json::hex(&mut self.cursor, digits).and_then(char::from_u32),
            'N' => None,
            _ => {
                text.push_str(self.cursor.since(start));
                return Ok(());
            }
        };
        text.push(char.map_or_else(|| self.cursor.refuse_from(Code::BadEscape, start), Ok)?);
        Ok(())
    }
}

/// The most digits of an integer, as Python reads it.
const DIGITS_MAX: usize = 4300;

/// A number as Python writes it, without its sign.
fn number(sign: &str, written: &str) -> Option<Value> {
    if written.len() < 18
        && !written.starts_with('0')
        && written.bytes().all(|byte| byte.is_ascii_digit())
    {
        return written
            .parse()
            .ok()
            .map(|value: i64| Value::Int(if sign.is_empty() { value } else { -value }));
    }
    let is_parted = written.contains('_');
    if is_parted && (written.starts_with('_') || written.ends_with('_') || written.contains("__")) {
        return None;
    }
    let digits = if is_parted { written.replace('_', "") } else { written.to_owned() };
    let radix = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 10,
    };
    if radix != 10 {
        let value = i64::from_str_radix(digits.get(2..)?, radix).ok()?;
        return Some(Value::Int(if sign.is_empty() { value } else { -value }));
    }
    let signed = [sign, digits.as_str()].concat();
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let is_whole = digits.len() == 1
            || !digits.starts_with('0')
            || digits.bytes().all(|byte| byte == b'0');
        let kept = if digits.bytes().all(|byte| byte == b'0') { "0" } else { signed.as_str() };
        return (is_whole && !digits.is_empty() && digits.len() <= DIGITS_MAX)
            .then(|| json::integer(kept));
    }
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let has_digit = digits.starts_with(|char: char| char.is_ascii_digit())
        || digits.get(1..).is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    if is_decimal && has_digit { json::float(&signed) } else { None }
}
