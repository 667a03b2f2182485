//! One line of JSON as a row, read strictly: no duplicate keys, no numbers that JSON has not, and
//! no more values than a row may have.

use std::cell::{Cell, RefCell};
use std::fmt;

use assay_verifiers::code::Code;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::error::{Defect, escape, field_name};
use super::kinds::BOM;
use super::limits::ReadLimits;

/// What an object takes, in values: a node of a tree is allocated for each.
pub(super) const OBJECT_VALUES: usize = 8;

/// Reads one line. `valid` says that the text is known to be UTF-8.
pub(super) fn row(line: Line<'_>, limits: &ReadLimits) -> Result<Map<String, Value>, Defect> {
    let reader = Reader {
        values_left: Cell::new(limits.row_values_max),
        columns_max: limits.row_columns_max,
        column: RefCell::new(None),
        code: Cell::new(Code::WrongType),
    };
    let read = match line {
        Line::Text(text) => read(serde_json::Deserializer::from_str(text), &reader),
        Line::Bytes(bytes) => read(serde_json::Deserializer::from_slice(bytes), &reader),
    };
    read.map_err(|error| defect(&error, line, &reader))
}

/// A line that is known to be UTF-8, or one that is not.
#[derive(Clone, Copy)]
pub enum Line<'a> {
    /// Known to be UTF-8.
    Text(&'a str),
    /// Perhaps UTF-8.
    Bytes(&'a [u8]),
}

impl<'a> From<&'a str> for Line<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Line<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> Line<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

pub(super) use assay_verifiers::canonical::kind;

fn read<'de, R: serde_json::de::Read<'de>>(
    mut json: serde_json::Deserializer<R>,
    reader: &Reader,
) -> serde_json::Result<Map<String, Value>> {
    let row = json.deserialize_any(RowVisitor(reader))?;
    json.end()?;
    Ok(row)
}

fn defect(error: &serde_json::Error, line: Line<'_>, reader: &Reader) -> Defect {
    let (text, bytes) = (error.to_string(), line.bytes());
    let place = format!(" at line {} column {}", error.line(), error.column());
    let told = text.strip_suffix(&place).unwrap_or(&text);
    let utf8 = std::str::from_utf8(bytes).err().map(|bad| bad.valid_up_to() + 1);
    let (code, message, at) = match (utf8, error.classify()) {
        (Some(at), Category::Syntax) if at <= error.column() => {
            (Code::Encoding, "invalid UTF-8 (save the file as UTF-8)".to_owned(), at)
        }
        (_, Category::Data) => (reader.code.get(), told.to_owned(), error.column()),
        _ => {
            let (before, rest) = bytes.split_at(error.column().saturating_sub(1).min(bytes.len()));
            let hint = hint(before, rest).map(|hint| format!(" ({hint})")).unwrap_or_default();
            (Code::Syntax, format!("{told}{hint}"), error.column())
        }
    };
    let field = reader.column.borrow().as_deref().map(field_name);
    Defect { code, field, message, byte: Some(at).filter(|at| *at > 0) }
}

/// What is reported of a text that is not JSON, by what stands where the parser stopped.
fn hint(before: &[u8], rest: &[u8]) -> Option<&'static str> {
    let starts = |words: &[&str]| words.iter().any(|word| rest.starts_with(word.as_bytes()));
    let is_whole = || serde_json::from_slice::<IgnoredAny>(before).is_ok();
    if starts(&["None", "True", "False", "'"]) {
        Some("this is Python: write rows by json.dumps")
    } else if starts(&["NaN", "Infinity"]) {
        Some("NaN and Infinity are no numbers of JSON")
    } else if rest.starts_with(BOM) {
        Some("a byte-order mark stands before the row: take it out by sed 's/^\\xEF\\xBB\\xBF//'")
    } else if rest.first().is_some_and(|byte| *byte < b' ') {
        Some("write \\t for a tab, \\n for the end of a line")
    } else if before.last() == Some(&b'\\') {
        Some("a backslash is written twice, as in \\\\sqrt")
    } else if before.trim_ascii().is_empty() || is_whole() {
        Some("write one object a line, and no commas between them")
    } else {
        None
    }
}

/// What reading a row has used up, and where it is.
struct Reader {
    values_left: Cell<usize>,
    columns_max: usize,
    /// The column in which reading failed.
    column: RefCell<Option<String>>,
    /// What was wrong, where it is none of the syntax.
    code: Cell<Code>,
}

impl Reader {
    /// An error that is none of the syntax.
    fn refuse<E: Error>(&self, code: Code, why: impl fmt::Display) -> E {
        self.code.set(code);
        E::custom(why)
    }

    fn pay<E: Error>(&self, values: usize) -> Result<(), E> {
        let left = self.values_left.get().checked_sub(values);
        let left =
            left.ok_or_else(|| self.refuse(Code::Limit, "more values than a row may have"))?;
        self.values_left.set(left);
        Ok(())
    }

    /// Reads an object, calling `failed` with the key of a value that cannot be read.
    fn object<'de, A: MapAccess<'de>>(
        &self,
        mut map: A,
        members_max: usize,
        failed: impl Fn(String),
    ) -> Result<Map<String, Value>, A::Error> {
        self.pay(OBJECT_VALUES)?;
        let mut object = Map::new();
        let mut nulls = false;
        while let Some(key) = map.next_key::<String>()? {
            match object.entry(key) {
                Entry::Vacant(entry) => match map.next_value_seed(Values(self)) {
                    Ok(value) => {
                        nulls |= value.is_null();
                        entry.insert(value);
                    }
                    Err(error) => {
                        failed(entry.key().clone());
                        return Err(error);
                    }
                },
                Entry::Occupied(entry) => {
                    let why = format!("duplicate key \"{}\"", escape(entry.key()));
                    return Err(self.refuse(Code::DuplicateKey, why));
                }
            }
            if object.len() > members_max {
                let why = format!("more than {members_max} columns");
                return Err(self.refuse(Code::Limit, why));
            }
        }
        if nulls {
            object.retain(|_, value| !value.is_null());
        }
        Ok(object)
    }
}

/// Reads a row: an object, whose keys are columns.
struct RowVisitor<'a>(&'a Reader);

impl<'de> Visitor<'de> for RowVisitor<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let failed = |column| *self.0.column.borrow_mut() = Some(column);
        self.0.object(map, self.0.columns_max, failed)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::custom("expected an object, found list (write one object a line)"))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Err(found("boolean"))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Err(found("number"))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Err(found("number"))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Err(found("number"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let twice = text.trim_start().starts_with('{');
        Err(found(if twice {
            "text that holds one (the row was written by json.dumps twice)"
        } else {
            "text"
        }))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Err(found("null"))
    }
}

fn found<E: Error>(kind: &str) -> E {
    E::custom(format!("expected an object, found {kind}"))
}

/// Reads any value.
struct Values<'a>(&'a Reader);

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.pay(1)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(Values(self.0))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        self.0.object(map, usize::MAX, |_| ()).map(Value::Object)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = row(Line::Bytes(&bytes), &ReadLimits::default());
        }

        #[test]
        fn near_json_reads_as_the_parser_reads_it(text in r#"\{"a":[\[\]{}:,"0-9a-e.\\ -]{0,16}\}"#) {
            let strict = row(Line::Text(&text), &ReadLimits::default());
            match (strict, serde_json::from_str::<Value>(&text)) {
                (Ok(strict), Ok(value)) => prop_assert_eq!(
                    assay_verifiers::canonical::to_bytes(&Value::Object(strict)),
                    assay_verifiers::canonical::to_bytes(&value)
                ),
                (Ok(_), Err(error)) => prop_assert!(false, "{}: {}", text, error),
                // The parser takes duplicate keys; nothing else is refused beyond what it refuses.
                (Err(defect), Ok(_)) => prop_assert!(defect.message.contains("duplicate key")),
                (Err(_), Err(_)) => {}
            }
        }
    }

    fn fails(line: &str) -> String {
        row(Line::Text(line), &ReadLimits::default()).unwrap_err().to_string()
    }

    #[test]
    fn nulls_are_dropped_from_objects_and_kept_in_lists() {
        let read =
            row(Line::Text(r#"{"a":null,"b":{"c":null,"d":[null]}}"#), &ReadLimits::default());
        assert_eq!(Value::Object(read.unwrap()), json!({"b": {"d": [null]}}));
    }

    #[test]
    fn what_json_has_not_is_refused_and_named() {
        assert_eq!(fails(r#"{"a":1,"a":2}"#), "duplicate key \"a\" at byte 10");
        assert_eq!(fails(r#"{"x":{"a":null,"a":2}}"#), "x: duplicate key \"a\" at byte 18");
        assert_eq!(
            fails(r#"{"a": NaN}"#),
            "a: expected value (NaN and Infinity are no numbers of JSON) at byte 7"
        );
        assert_eq!(fails(r#"{"a": 1e400}"#), "a: number out of range at byte 11");
        assert_eq!(
            fails(r#"{"a": -Infinity}"#),
            "a: invalid number (NaN and Infinity are no numbers of JSON) at byte 8"
        );
        assert_eq!(fails(r#"{"a": "\ud800"}"#), "a: unexpected end of hex escape at byte 14");
        assert_eq!(
            fails("[1]"),
            "expected an object, found list (write one object a line) at byte 1"
        );
        let python = "key must be a string (this is Python: write rows by json.dumps) at byte 2";
        assert_eq!(fails("{'a': 1}"), python);
        let none = "a: expected value (this is Python: write rows by json.dumps) at byte 7";
        assert_eq!(fails(r#"{"a": None}"#), none);
        assert_eq!(fails(r#"{"a": 1,}"#), "trailing comma at byte 9");
        assert_eq!(fails("3"), "expected an object, found number at byte 1");
        let invalid = row(Line::Bytes(b"{\"a\":\"\xff\"}"), &ReadLimits::default()).unwrap_err();
        assert_eq!(invalid.to_string(), "a: invalid UTF-8 (save the file as UTF-8) at byte 7");
    }

    #[test]
    fn every_limit_holds() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        assert!(fails(&deep).starts_with("a: recursion limit exceeded"));
        let wide: Vec<String> = (0..10_001).map(|at| format!("\"{at}\":0")).collect();
        assert!(fails(&format!("{{{}}}", wide.join(","))).contains("more than 10000 columns"));
        let many = format!("{{\"a\":[{}0]}}", "0,".repeat(1 << 20));
        assert!(fails(&many).starts_with("a: more values than a row may have"));
    }
}
