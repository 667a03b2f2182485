//! JSON values whose numbers are kept as they are written, so that integers of any size and
//! decimals of any length are compared exactly.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// A value.
#[derive(Clone, Debug)]
pub(in crate::checks) enum Node<'a> {
    Null,
    Bool(bool),
    Number(Cow<'a, str>),
    /// A fraction that was read as a double: several decimals are equal to it.
    Double(f64),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Object(BTreeMap<Cow<'a, str>, Node<'a>>),
}

/// The limits of a text, beside the grammar.
#[derive(Clone, Copy)]
pub(in crate::checks) struct Rules {
    pub(in crate::checks) depth_max: usize,
    pub(in crate::checks) unique_keys: bool,
}

/// Reads a text that is one value and nothing else. An error is the fixed word that says why not.
pub(in crate::checks) fn read(text: &str, rules: Rules) -> Result<Node<'_>, &'static str> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| "not-json")?;
    Walk { rest: raw.get(), unique_keys: rules.unique_keys }.value(rules.depth_max)
}

/// Walks through a text that is valid JSON.
struct Walk<'a> {
    rest: &'a str,
    unique_keys: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, levels_left: usize) -> Result<Node<'a>, &'static str> {
        self.rest = self.rest.trim_start();
        let inner = || levels_left.checked_sub(1).ok_or("too-deep");
        match self.rest.as_bytes().first() {
            Some(b'{') => self.object(inner()?),
            Some(b'[') => self.list(inner()?),
            Some(b'"') => self.text().map(Node::Text),
            _ => {
                let end = |c: char| c.is_ascii_whitespace() || ",]}".contains(c);
                let word = self.take(self.rest.find(end).unwrap_or(self.rest.len()));
                Ok(match word {
                    "null" => Node::Null,
                    "true" | "false" => Node::Bool(word == "true"),
                    _ => Node::Number(word.into()),
                })
            }
        }
    }

    fn list(&mut self, levels_left: usize) -> Result<Node<'a>, &'static str> {
        let mut values = Vec::new();
        while self.goes_on(']') {
            values.push(self.value(levels_left)?);
        }
        Ok(Node::List(values))
    }

    fn object(&mut self, levels_left: usize) -> Result<Node<'a>, &'static str> {
        let mut members = BTreeMap::new();
        while self.goes_on('}') {
            let key = self.text()?;
            self.skip();
            let value = self.value(levels_left)?;
            if members.insert(key, value).is_some() && self.unique_keys {
                return Err("duplicate-key");
            }
        }
        Ok(Node::Object(members))
    }

    /// Steps over the bracket or the comma. Whether a value follows it.
    fn goes_on(&mut self, close: char) -> bool {
        self.rest = self.rest.trim_start();
        let closes = self.rest.starts_with(close);
        self.skip();
        let is_empty = self.rest.starts_with(close);
        if is_empty && !closes {
            self.skip();
        }
        !(closes || is_empty || self.rest.is_empty())
    }

    /// Steps over a sign and the white space around it.
    fn skip(&mut self) {
        let rest = self.rest.trim_start();
        self.rest = rest[1..].trim_start();
    }

    fn text(&mut self) -> Result<Cow<'a, str>, &'static str> {
        let mut escaped = false;
        let closes = |byte: u8| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        };
        let end = self.rest.bytes().skip(1).position(closes);
        let length = end.map_or(self.rest.len(), |at| at + 2);
        let written = self.take(length);
        match written.get(1..length - 1).filter(|inner| !inner.contains('\\')) {
            Some(plain) => Ok(plain.into()),
            // The grammar of JSON allows lone surrogates.
            None => serde_json::from_str(written).map(Cow::Owned).map_err(|_| "not-json"),
        }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}

impl<'a> Node<'a> {
    /// A value that was read without the text of its numbers. `None` where it holds an integer
    /// that was rounded.
    pub(in crate::checks) fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::of_number(number)?,
            Value::String(text) => Self::Text(text.into()),
            Value::Array(values) => Self::List(values.iter().map(Self::of).collect::<Option<_>>()?),
            Value::Object(members) => {
                let member = |(key, value): (&'a String, &'a Value)| {
                    Some((Cow::Borrowed(key.as_str()), Self::of(value)?))
                };
                Self::Object(members.iter().map(member).collect::<Option<_>>()?)
            }
        })
    }

    fn of_number(number: &Number) -> Option<Self> {
        /// Integers up to here are exact in a double.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match number.as_f64().filter(|_| number.is_f64()) {
            Some(double) if double.fract() != 0.0 => Some(Self::Double(double)),
            Some(double) if double.abs() >= EXACT => None,
            _ => Some(Self::Number(number.to_string().into())),
        }
    }

    /// The member that a JSON pointer names.
    pub(in crate::checks) fn pointer(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |node, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match node {
                Self::Object(members) => members.get(token.as_str()),
                Self::List(values) => {
                    let is_index = token == "0" || !token.starts_with(['0', '+']);
                    values.get(token.parse::<usize>().ok().filter(|_| is_index)?)
                }
                _ => None,
            }
        })
    }

    /// The value as `serde_json` has it, with the nearest representable numbers.
    pub(in crate::checks) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Number(literal) => number(literal),
            Self::Double(double) => (*double).into(),
            Self::Text(text) => text.as_ref().into(),
            Self::List(values) => values.iter().map(Self::value).collect(),
            Self::Object(members) => {
                let member = |(key, node): (&Cow<'_, str>, &Self)| (key.to_string(), node.value());
                Value::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
        }
    }

    /// As JSON, for evidence: a number as it is written.
    pub(in crate::checks) fn shown(&self) -> String {
        match self {
            Self::Number(literal) => literal.to_string(),
            node => node.value().to_string(),
        }
    }
}

/// Equal as JSON, numbers by value. The order of keys does not matter.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::List(one), Self::List(two)) => one == two,
            (Self::Object(one), Self::Object(two)) => one == two,
            (Self::Double(one), Self::Double(two)) => one == two,
            (Self::Number(literal), Self::Double(double))
            | (Self::Double(double), Self::Number(literal)) => literal.parse() == Ok(*double),
            (Self::Number(one), Self::Number(two)) => one == two || same(one, two),
            _ => false,
        }
    }
}

/// Whether two numbers have one value, whatever their size.
fn same(one: &str, two: &str) -> bool {
    decimal(one).zip(decimal(two)).is_some_and(|(one, two)| one == two)
}

/// The sign, the digits without zeros at either end, and the power of ten of the last digit.
/// `None`: a power beyond all that is written out.
fn decimal(literal: &str) -> Option<(bool, String, i64)> {
    let (mantissa, power) = match literal.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
        None => (literal, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => (true, mantissa),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let zeros = i64::try_from(all.len() - digits.len()).ok()?;
    let power = power.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
    let digits = digits.trim_start_matches('0').to_owned();
    Some(if digits.is_empty() { (false, digits, 0) } else { (negative, digits, power) })
}

/// The nearest double; the largest one for numbers out of range.
fn number(literal: &str) -> Value {
    serde_json::from_str::<Number>(literal).map_or_else(
        |_| Value::from(if literal.starts_with('-') { f64::MIN } else { f64::MAX }),
        Value::Number,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const RULES: Rules = Rules { depth_max: 64, unique_keys: false };

    fn equal(one: &str, two: &str) -> bool {
        read(one, RULES).unwrap() == read(two, RULES).unwrap()
    }

    #[test]
    fn numbers_are_compared_by_all_their_digits() {
        let long = format!("1{}", "0".repeat(400));
        for (one, two) in [
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
            (long.as_str(), "1e400"),
            ("-0", "0.0e5"),
            ("100", "1E+2"),
            ("0.1", "1e-1"),
        ] {
            assert!(equal(one, two), "{one} {two}");
        }
        for (one, two) in [
            ("123456789012345678901234567890", "123456789012345678901234567891"),
            ("18446744073709551616", "18446744073709551617"),
            ("1e400", "1e401"),
            ("1", "-1"),
            ("0.1", "0.10000000000000000001"),
            ("1", "true"),
            ("1", "\"1\""),
        ] {
            assert!(!equal(one, two), "{one} {two}");
        }
    }

    #[test]
    fn a_double_is_what_rounds_to_it() {
        let value = json!(0.1);
        assert_eq!(Node::of(&value), read("0.1000000000000000055", RULES).ok());
        assert_ne!(Node::of(&value), read("0.11", RULES).ok());
        assert_eq!(Node::of(&json!([1e300])), None, "it was rounded");
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_reads(text in r#"([\[\]{}:,"a\\ 0-9.-]|null|true|"k":|\\ud83d){0,24}"#) {
            let theirs = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(read(&text, RULES).ok().map(|node| node.value()), theirs);
        }
    }
}
