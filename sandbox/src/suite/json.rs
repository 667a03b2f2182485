//! JSON as Python writes it: integers of any size, `NaN`, `Infinity`.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::bounded::Size;
use super::error::SuiteError;
use super::limits::{BYTES_MAX, DEPTH_MAX, DIGITS_MAX};
use crate::value::PyValue;

/// Nesting of JSON in JSON strings: rows are often encoded twice.
const TEXT_DEPTH_MAX: usize = 3;

/// Reads JSON text. Where the value is a string, that is read as JSON text in turn.
pub(super) fn nested(text: &str, key: &str) -> Result<PyValue, SuiteError> {
    let mut data = read(text, key)?;
    for _ in 1..TEXT_DEPTH_MAX {
        let Some(text) = data.as_str() else { break };
        data = read(text, key)?;
    }
    Ok(data)
}

/// Reads JSON text.
pub(super) fn read(text: &str, key: &str) -> Result<PyValue, SuiteError> {
    if text.len() > BYTES_MAX {
        let (what, found, limit) = ("bytes", text.len(), BYTES_MAX);
        return Err(SuiteError::TooMuch { key: key.to_owned(), what, found, limit });
    }
    let mut reader = Reader { text, at: 0, depth: 0, size: Size::default(), key };
    let data = reader.value()?;
    reader.blanks();
    if reader.at < text.len() { Err(reader.wrong("the end")) } else { Ok(data) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    size: Size,
    key: &'a str,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn wrong(&self, expected: &str) -> SuiteError {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let found: String = self.rest().chars().take(20).collect();
        let found = if found.is_empty() { "the end".to_owned() } else { format!("{found:?}") };
        let why = format!(
            "line {line}, column {column}: expected {expected}, found {found}{}",
            self.hint().unwrap_or_default()
        );
        SuiteError::NotJson { key: self.key.to_owned(), why }
    }

    /// What to write in the place of tests that are a program, or a list as Python prints it.
    fn hint(&self) -> Option<&'static str> {
        let before = self.text.get(..self.at)?.trim();
        let rest = self.rest().trim_start();
        let is_program = ["assert ", "def ", "import ", "from ", "class "]
            .iter()
            .any(|own| rest.starts_with(own));
        match before {
            "" if is_program => {
                Some(" (tests are a JSON list, an assert each: [\"assert f(1) == 2\"])")
            }
            _ if rest.starts_with('\'') => {
                Some(" (a value as Python prints it: write it by json.dumps)")
            }
            _ => None,
        }
    }

    fn value(&mut self) -> Result<PyValue, SuiteError> {
        self.blanks();
        self.size.add(0, self.key)?;
        match self.rest().chars().next() {
            Some('"') => Ok(PyValue::Str(self.text()?.into_bytes())),
            Some('[') => self.within(Self::list),
            Some('{') => self.within(Self::dict),
            _ => self.word(),
        }
    }

    fn within(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<PyValue, SuiteError>,
    ) -> Result<PyValue, SuiteError> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let why = format!("nests deeper than {DEPTH_MAX}");
            return Err(SuiteError::Refused { key: self.key.to_owned(), why });
        }
        let data = read(self)?;
        self.depth -= 1;
        Ok(data)
    }

    fn list(&mut self) -> Result<PyValue, SuiteError> {
        let mut items = Vec::new();
        while !self.ends(']', items.is_empty())? {
            items.push(self.value()?);
        }
        Ok(PyValue::List(items))
    }

    /// The last of several members with one key counts, as in Python, at the place of the first.
    fn dict(&mut self) -> Result<PyValue, SuiteError> {
        let mut members: Vec<(PyValue, PyValue)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut first = true;
        while !self.ends('}', first)? {
            first = false;
            self.blanks();
            let key = self.text()?;
            self.blanks();
            if !self.take(":") {
                return Err(self.wrong("\":\""));
            }
            let value = self.value()?;
            if let Some(member) = places.get(&key).and_then(|place| members.get_mut(*place)) {
                member.1 = value;
            } else {
                members.push((key.as_str().into(), value));
                places.insert(key, members.len() - 1);
            }
        }
        Ok(PyValue::Dict(members))
    }

    /// Whether the list ends here; else steps over the comma before the next item.
    fn ends(&mut self, close: char, first: bool) -> Result<bool, SuiteError> {
        self.blanks();
        if self.rest().starts_with(close) {
            self.at += 1;
            return Ok(true);
        }
        if first || self.take(",") {
            return Ok(false);
        }
        Err(self.wrong(&format!("\",\" or \"{close}\"")))
    }

    fn text(&mut self) -> Result<String, SuiteError> {
        if !self.take("\"") {
            return Err(self.wrong("text in double quotes"));
        }
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\']).unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.at += plain;
            if self.take("\"") {
                self.size.add(text.len(), self.key)?;
                return Ok(text);
            }
            if !self.take("\\") {
                return Err(self.wrong("the end of a text"));
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, SuiteError> {
        let escaped = self.rest().chars().next();
        let plain = match escaped {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode(),
            _ => return Err(self.wrong("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, SuiteError> {
        let start = self.at;
        let mut units = vec![self.unit()?];
        if units.first().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) && self.take("\\") {
            units.push(self.unit()?);
        }
        let mut read = char::decode_utf16(units);
        if let (Some(Ok(c)), None) = (read.next(), read.next()) {
            return Ok(c);
        }
        self.at = start;
        Err(self.wrong("a character (half of a pair is none)"))
    }

    fn unit(&mut self) -> Result<u16, SuiteError> {
        let digits = self.rest().strip_prefix('u').and_then(|rest| rest.get(..4));
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.wrong("u and four hexadecimal digits"))?;
        self.at += 5;
        Ok(unit)
    }

    fn word(&mut self) -> Result<PyValue, SuiteError> {
        let words = [
            ("null", PyValue::None),
            ("true", PyValue::Bool(true)),
            ("false", PyValue::Bool(false)),
            ("NaN", PyValue::Float(f64::NAN)),
            ("Infinity", PyValue::Float(f64::INFINITY)),
            ("-Infinity", PyValue::Float(f64::NEG_INFINITY)),
        ];
        let found = words.into_iter().find(|(word, _)| self.take(word));
        found.map_or_else(|| self.number(), |(_, data)| Ok(data))
    }

    fn number(&mut self) -> Result<PyValue, SuiteError> {
        let rest = self.rest();
        let (whole, float) = number_length(rest).ok_or_else(|| self.wrong("a value"))?;
        let text = &rest[..whole.max(float)];
        if float == 0 && text.len() > DIGITS_MAX {
            return Err(SuiteError::TooMuch {
                key: self.key.to_owned(),
                what: "digits in one integer",
                found: text.len(),
                limit: DIGITS_MAX,
            });
        }
        let number = if float == 0 {
            BigInt::parse_bytes(text.as_bytes(), 10).map(PyValue::Int)
        } else {
            text.parse().ok().map(PyValue::Float)
        };
        self.at += text.len();
        number.ok_or_else(|| self.wrong("a number"))
    }
}

/// The length of a number, as an integer and (0 where it is none) as a float.
fn number_length(text: &str) -> Option<(usize, usize)> {
    let digits = |at: usize| {
        let rest = &text[at..];
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let sign = usize::from(text.starts_with('-'));
    let whole = sign + Some(digits(sign)).filter(|count| *count > 0)?;
    if text.get(sign..)?.starts_with('0') && whole > sign + 1 {
        return None;
    }
    let mut float = 0;
    if text.get(whole..)?.starts_with('.') && digits(whole + 1) > 0 {
        float = whole + 1 + digits(whole + 1);
    }
    let power = whole.max(float);
    if text.get(power..)?.starts_with(['e', 'E']) {
        let signed = power + 1 + usize::from(text.get(power + 1..)?.starts_with(['+', '-']));
        float = if digits(signed) > 0 { signed + digits(signed) } else { float };
    }
    Some((whole, float))
}
