//! Python literals as `ast.literal_eval` reads them, without Python.
//!
//! Beyond it, what has no literal and one meaning is read: `inf`, `nan`, `float('inf')` and
//! `frozenset({1})`. A text may break lines within its quotes, since answers come out of JSON.

mod number;
mod text;

use super::{Arguments, PyValue};
pub(crate) use text::Words;

/// Nesting of lists and their like; more does not cross between instances either.
const DEPTH_MAX: usize = 150;

/// Where a text stops being a literal, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotLiteral(pub(crate) usize);

/// Reads all of `text` as one literal. `1, 2` is a tuple.
pub(crate) fn read(text: &str, words: Words) -> Result<PyValue, NotLiteral> {
    let text = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let mut reader = Reader { text, at: start, depth: 0, words };
    let value = reader.line()?;
    reader.ended(value)
}

/// Reads the literal at the start of `text`, and says where it ends.
pub(crate) fn prefix(text: &str, words: Words) -> Result<(PyValue, usize), NotLiteral> {
    let mut reader = Reader { text, at: 0, depth: 0, words };
    let value = reader.value()?;
    Ok((value, reader.at))
}

/// Reads what is between the brackets of a call: `1, [2], key='x'`.
pub(crate) fn arguments(text: &str, words: Words) -> Result<Arguments, NotLiteral> {
    // As in brackets, lines may break.
    let mut reader = Reader { text, at: 0, depth: 1, words };
    let mut call = Arguments::default();
    reader.blanks();
    while reader.at < text.len() {
        match reader.keyword() {
            Some(name) => {
                let value = reader.spaced()?;
                call.kwargs.push((name, value));
            }
            None if call.kwargs.is_empty() => call.args.push(reader.spaced()?),
            None => return Err(reader.wrong()),
        }
        if !reader.take(",") {
            break;
        }
        reader.blanks();
    }
    reader.ended(call)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    words: Words,
}

type Read<T = PyValue> = Result<T, NotLiteral>;

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn wrong(&self) -> NotLiteral {
        NotLiteral(self.at)
    }

    fn ended<T>(&mut self, value: T) -> Read<T> {
        self.blanks();
        if self.at >= self.text.len() { Ok(value) } else { Err(self.wrong()) }
    }

    /// White space and comments. Outside brackets a line ends the literal.
    fn blanks(&mut self) {
        let is_blank =
            |c: char| matches!(c, ' ' | '\t' | '\x0c') || self.depth > 0 && c.is_whitespace();
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(is_blank).len();
            let rest = self.rest();
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
            if self.depth == 0 {
                return;
            }
        }
    }

    /// A value, or several with commas between them.
    fn line(&mut self) -> Read {
        let first = self.spaced()?;
        if !self.take(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        self.blanks();
        while self.at < self.text.len() {
            items.push(self.spaced()?);
            if !self.take(",") {
                break;
            }
            self.blanks();
        }
        Ok(PyValue::Tuple(items))
    }

    fn spaced(&mut self) -> Read {
        self.blanks();
        let value = self.value()?;
        self.blanks();
        Ok(value)
    }

    fn value(&mut self) -> Read {
        let rest = self.rest();
        match rest.chars().next() {
            Some('(') => self.within(Self::tuple),
            Some('[') => self.within(|reader| Ok(PyValue::List(reader.items("]", Vec::new())?))),
            Some('{') => self.within(Self::braces),
            Some('.') if self.take("...") => Ok(PyValue::Ellipsis),
            Some('+' | '-' | '.' | '0'..='9') => self.number(),
            _ if text::opens(rest) => self.texts(),
            _ => self.word(),
        }
    }

    fn within(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth >= DEPTH_MAX {
            return Err(self.wrong());
        }
        self.at += 1;
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// The items up to `close`, after those that were read.
    fn items(&mut self, close: &str, mut items: Vec<PyValue>) -> Read<Vec<PyValue>> {
        loop {
            self.blanks();
            if self.take(close) {
                return Ok(items);
            }
            items.push(self.spaced()?);
            if !self.take(",") && !self.rest().starts_with(close) {
                return Err(self.wrong());
            }
        }
    }

    fn tuple(&mut self) -> Read {
        self.blanks();
        if self.take(")") {
            return Ok(PyValue::Tuple(Vec::new()));
        }
        let first = self.spaced()?;
        if self.take(",") {
            return Ok(PyValue::Tuple(self.items(")", vec![first])?));
        }
        if self.take(")") { Ok(first) } else { Err(self.wrong()) }
    }

    fn braces(&mut self) -> Read {
        self.blanks();
        if self.take("}") {
            return Ok(PyValue::Dict(Vec::new()));
        }
        let first = self.hashed()?;
        if self.rest().starts_with(':') {
            return self.dict(first);
        }
        if self.take(",") || self.rest().starts_with('}') {
            let items = self.items("}", vec![first])?;
            return if items.iter().all(has_hash) {
                Ok(PyValue::Set(items))
            } else {
                Err(self.wrong())
            };
        }
        Err(self.wrong())
    }

    fn dict(&mut self, first: PyValue) -> Read {
        let (mut key, mut pairs) = (first, Vec::new());
        loop {
            if !self.take(":") {
                return Err(self.wrong());
            }
            pairs.push((key, self.spaced()?));
            let more = self.take(",");
            self.blanks();
            if self.take("}") {
                return Ok(PyValue::Dict(pairs));
            }
            if !more {
                return Err(self.wrong());
            }
            key = self.hashed()?;
        }
    }

    fn hashed(&mut self) -> Read {
        let value = self.spaced()?;
        if has_hash(&value) { Ok(value) } else { Err(self.wrong()) }
    }

    fn number(&mut self) -> Read {
        let (real, length) = self.signed()?;
        self.at += length;
        if matches!(real, PyValue::Complex(..)) {
            return Ok(real);
        }
        // A complex number is a sum.
        let before = self.at;
        self.blanks();
        if self.rest().starts_with(['+', '-'])
            && let (Ok((PyValue::Complex(_, imaginary), length)), Some(real)) =
                (self.signed(), number::float(&real))
        {
            self.at += length;
            return Ok(PyValue::Complex(real, imaginary));
        }
        self.at = before;
        Ok(real)
    }

    /// A number with one sign or none.
    fn signed(&self) -> Read<(PyValue, usize)> {
        let rest = self.rest();
        let is_blank = |c: char| matches!(c, ' ' | '\t') || self.depth > 0 && c.is_whitespace();
        let unsigned = rest.strip_prefix(['+', '-']);
        let unsigned = unsigned.map_or(rest, |rest| rest.trim_start_matches(is_blank));
        let sign = rest.len() - unsigned.len();
        let found = number::read(unsigned).or_else(|| special(unsigned));
        let (value, length) = found.ok_or_else(|| self.wrong())?;
        let value = if rest.starts_with('-') { number::negative(value) } else { value };
        Ok((value, sign + length))
    }

    /// Texts that stand next to each other are one.
    fn texts(&mut self) -> Read {
        let mut whole: Option<PyValue> = None;
        loop {
            let (piece, length) =
                text::read(self.rest(), self.words).ok_or_else(|| self.wrong())?;
            self.at += length;
            whole = Some(match (whole, piece) {
                (None, piece) => piece,
                (Some(PyValue::Str(mut text)), PyValue::Str(more)) => {
                    text.extend(more);
                    PyValue::Str(text)
                }
                (Some(PyValue::Bytes(mut bytes)), PyValue::Bytes(more)) => {
                    bytes.extend(more);
                    PyValue::Bytes(bytes)
                }
                _ => return Err(self.wrong()),
            });
            let after = self.at;
            self.blanks();
            if !text::opens(self.rest()) {
                self.at = after;
                return whole.ok_or_else(|| self.wrong());
            }
        }
    }

    fn word(&mut self) -> Read {
        let rest = self.rest();
        let word = name(rest);
        let json = self.words == Words::Json;
        let value = match word {
            "True" => PyValue::Bool(true),
            "False" => PyValue::Bool(false),
            "None" => PyValue::None,
            "Ellipsis" => PyValue::Ellipsis,
            "true" if json => PyValue::Bool(true),
            "false" if json => PyValue::Bool(false),
            "null" if json => PyValue::None,
            "set" if rest.starts_with("set()") => {
                self.at += "set()".len();
                return Ok(PyValue::Set(Vec::new()));
            }
            "frozenset" => return self.frozen(),
            _ => {
                let (value, length) = special(rest).ok_or_else(|| self.wrong())?;
                self.at += length;
                return Ok(value);
            }
        };
        self.at += word.len();
        Ok(value)
    }

    fn frozen(&mut self) -> Read {
        self.at += "frozenset".len();
        if !self.rest().starts_with('(') {
            return Err(self.wrong());
        }
        match self.within(Self::tuple)? {
            PyValue::Set(items) => Ok(PyValue::FrozenSet(items)),
            PyValue::Tuple(items) if items.is_empty() => Ok(PyValue::FrozenSet(items)),
            _ => Err(self.wrong()),
        }
    }

    /// The name before a `=`, which is stepped over.
    fn keyword(&mut self) -> Option<String> {
        let word = name(self.rest());
        let after = self.rest().get(word.len()..)?.trim_start();
        let value = after.strip_prefix('=').filter(|rest| !rest.starts_with('='))?;
        if word.is_empty() {
            return None;
        }
        self.at = self.text.len() - value.len();
        Some(word.to_owned())
    }
}

/// The name that `text` begins with.
fn name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with(char::is_numeric) { "" } else { &text[..end] }
}

/// Floats that Python has no literal for.
fn special(text: &str) -> Option<(PyValue, usize)> {
    let value = |word: &str| match word.trim_start_matches(['+', '-']) {
        "inf" | "Infinity" if word.starts_with('-') => Some(f64::NEG_INFINITY),
        "inf" | "Infinity" => Some(f64::INFINITY),
        "nan" | "NaN" => Some(f64::NAN),
        _ => None,
    };
    if let Some(rest) = text.strip_prefix("float(") {
        let (PyValue::Str(word), length) = text::read(rest, Words::Python)? else { return None };
        rest.get(length..)?.starts_with(')').then_some(())?;
        let value = value(std::str::from_utf8(&word).ok()?)?;
        return Some((PyValue::Float(value), "float(".len() + length + 1));
    }
    let word = name(text);
    Some((PyValue::Float(value(word)?), word.len()))
}

/// Whether the value may be a key.
fn has_hash(value: &PyValue) -> bool {
    match value {
        PyValue::List(_) | PyValue::Dict(_) | PyValue::Set(_) => false,
        PyValue::Tuple(items) => items.iter().all(has_hash),
        _ => true,
    }
}
