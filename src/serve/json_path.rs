//! The path of an error in a JSON text, found when there is one.
//!
//! A text is read once more as a value up to the error, in which the path of the same error is found.

use assay_verifiers::check_value;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The path of the part at which `error` is, which came of reading a `T`. Empty where it is the whole
/// text. A path to a member that is missing or there twice ends at what should have it.
pub(super) fn of<'de, T: Deserialize<'de>>(text: &[u8], error: &serde_json::Error) -> String {
    let mut cut = Cut::default();
    let (before, after) = text.split_at(offset(text, error));
    cut.scan(before);
    if !error.is_data() {
        return cut.path();
    }
    let told = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let told = told.strip_suffix(&*place).unwrap_or(&told);
    let whole = cut.closed(before, after.first().copied());
    match serde_json::from_slice(&whole).map(|value| check_value::<T>(&value)) {
        Ok(Err(error)) if error.message == told => error.path,
        _ => cut.path(),
    }
}

/// Where an error is, in bytes.
fn offset(text: &[u8], error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let start: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    (start + error.column()).min(text.len())
}

/// Where a text ends that goes no further.
#[derive(Default)]
struct Cut {
    /// The objects and the lists that are open, the outermost first.
    open: Vec<Open>,
    last: Last,
}

enum Open {
    /// With the key that was read last.
    Object(String),
    /// With the number of the element.
    List(usize),
}

/// The last token.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Start,
    Key,
    Colon,
    Comma,
    /// The end of a value.
    Value,
    /// A value that is not whole.
    Part,
    /// A key that is not whole.
    PartOfKey,
}

impl Cut {
    fn scan(&mut self, mut text: &[u8]) {
        while let Some((&sign, rest)) = text.split_first() {
            text = rest;
            if !sign.is_ascii_whitespace() && !self.may_follow(sign) {
                return;
            }
            self.last = match sign {
                b' ' | b'\t' | b'\n' | b'\r' => continue,
                b'{' => self.enter(Open::Object(String::new())),
                b'[' => self.enter(Open::List(0)),
                b'}' | b']' if self.last == Last::Colon => Last::Part,
                b'}' | b']' => {
                    self.open.pop();
                    Last::Value
                }
                b':' => Last::Colon,
                b',' => {
                    if let Some(Open::List(index)) = self.open.last_mut() {
                        *index += 1;
                    }
                    Last::Comma
                }
                b'"' => {
                    let length = string(rest);
                    let (string, after) = rest.split_at(length.unwrap_or(rest.len()));
                    text = after;
                    self.string(string, length.is_some())
                }
                _ => {
                    let is_end = |byte: &u8| b" \t\n\r,:{}[]\"".contains(byte);
                    let length = rest.iter().position(is_end).unwrap_or(rest.len());
                    let (word, after) = rest.split_at(length);
                    text = after;
                    let is_whole =
                        serde_json::from_slice::<IgnoredAny>(&[&[sign][..], word].concat());
                    if is_whole.is_ok() { Last::Value } else { self.part() }
                }
            };
        }
    }

    /// Whether a text may go on with a sign. What ends it where another sign stands is an error there.
    fn may_follow(&self, sign: u8) -> bool {
        match (self.last, self.open.last()) {
            (Last::Part | Last::PartOfKey, _) => false,
            (Last::Key, _) => sign == b':',
            (Last::Comma, _) if b"}]".contains(&sign) => false,
            (_, Some(Open::List(_))) => sign != b'}' && sign != b':',
            (_, Some(Open::Object(_))) => sign != b']' && sign != b':' || self.last == Last::Colon,
            (_, None) => sign != b':',
        }
    }

    fn enter(&mut self, open: Open) -> Last {
        self.open.push(open);
        Last::Start
    }

    /// A string that was read, up to its end where it has one.
    fn string(&mut self, text: &[u8], is_whole: bool) -> Last {
        match self.open.last_mut() {
            Some(Open::Object(key)) if self.last != Last::Colon => {
                if !is_whole {
                    return self.part();
                }
                *key = serde_json::from_slice(&[&b"\""[..], text].concat()).unwrap_or_default();
                Last::Key
            }
            _ if is_whole => Last::Value,
            _ => self.part(),
        }
    }

    /// Something that is not whole.
    fn part(&self) -> Last {
        let is_key = matches!(self.open.last(), Some(Open::Object(_))) && self.last != Last::Colon;
        if is_key { Last::PartOfKey } else { Last::Part }
    }

    /// The path of the value that is being read.
    fn path(&self) -> String {
        let is_within = matches!(self.last, Last::Colon | Last::Part);
        let steps = self.open.len() - usize::from(!is_within && !self.open.is_empty());
        let mut path = String::new();
        for open in self.open.iter().take(steps) {
            match open {
                Open::List(index) => path.extend(["[", &index.to_string(), "]"]),
                Open::Object(key) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
            }
        }
        path
    }

    /// The text with what makes it whole. Of the value that follows it is only known what it is.
    fn closed(&self, text: &[u8], next: Option<u8>) -> Vec<u8> {
        let mut whole = text.trim_ascii_end().to_vec();
        let next: Option<&[u8]> = match next {
            Some(b'{') => Some(b"{}"),
            Some(b'[') => Some(b"[]"),
            _ => None,
        };
        let in_list = matches!(self.open.last(), Some(Open::List(_)));
        match self.last {
            Last::Key => whole.extend_from_slice(b":null"),
            Last::Colon => whole.extend_from_slice(next.unwrap_or(b"null")),
            Last::Comma | Last::Start if (in_list || self.open.is_empty()) && next.is_some() => {
                whole.extend_from_slice(next.unwrap_or_default());
            }
            Last::Comma => {
                whole.pop();
            }
            _ => {}
        }
        let ends = self.open.iter().rev();
        whole.extend(ends.map(|open| if matches!(open, Open::List(_)) { b']' } else { b'}' }));
        whole
    }
}

/// The bytes of a string after its first quote, with the last one.
fn string(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its type matters")]
    struct Body<'a> {
        #[serde(default, borrow)]
        a: Vec<&'a RawValue>,
        #[serde(default, borrow)]
        b: Option<Cow<'a, str>>,
        #[serde(default)]
        c: Vec<Inner>,
        #[serde(default)]
        d: BTreeMap<String, Even>,
        #[serde(default)]
        e: Option<Value>,
        #[serde(default)]
        f: Vec<Even>,
        #[serde(default)]
        g: Option<[u8; 2]>,
        h: (),
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its type matters")]
    struct Inner {
        a: u8,
        b: Option<Box<Inner>>,
    }

    #[derive(Deserialize)]
    #[serde(try_from = "Value")]
    struct Even(#[expect(dead_code, reason = "only its type matters")] u64);

    impl TryFrom<Value> for Even {
        type Error = String;

        fn try_from(value: Value) -> Result<Self, String> {
            let even = value.as_u64().filter(|number| number.is_multiple_of(2));
            even.map(Self).ok_or_else(|| format!("{value} is not even"))
        }
    }

    fn path(text: &str) -> Option<String> {
        let error = serde_json::from_str::<Body<'_>>(text).err()?;
        Some(of::<Body<'_>>(text.as_bytes(), &error))
    }

    #[test]
    fn a_path_leads_to_what_is_wrong() {
        let cases = [
            ("7", ""),
            ("{}", ""),
            (r#"{"x": 1}"#, "x"),
            (r#"{"b": 1, "h": null, "a": 1}"#, "b"),
            (r#"{"h": null, "b" : [1]}"#, "b"),
            (r#"{"c": [{"a": 1}, {"a": "x", "b": 1}], "b": 7}"#, "c[1].a"),
            (r#"{"c": [{"a": 1}, {"b": null}], "b": 7}"#, "c[1]"),
            (r#"{"c": [{"a": 1, "b": {"a": 2, "b": {"a": []}}}]}"#, "c[0].b.b.a"),
            (r#"{"f": [2, 4, 5, 6], "b": 7}"#, "f[2]"),
            (r#"{"f": [2, 4, 5, {}], "b": 7}"#, "f[2]"),
            (r#"{"f": [2, 4, {"x": 1}], "b": 7}"#, "f[2]"),
            (r#"{"d": {"k\n": 2, "l": 3}}"#, "d.l"),
            (r#"{"d": {"k\n": 3}}"#, "d.k\n"),
            (r#"{"c": [{"a": 1, "a": 2}]}"#, "c[0]"),
            (r#"{"g": [1, 2, 3]}"#, "g"),
            (r#"{"g": [1]}"#, "g"),
            // Errors of the text.
            (r#"{"b": "x"#, "b"),
            (r#"{"b": "x""#, ""),
            (r#"{"b": tru"#, "b"),
            (r#"{"c": [{"a": 1"#, "c[0]"),
            (r#"{"c": [{"a": x"#, "c[0].a"),
            (r#"{"c": [{"a": 1}, "#, "c"),
            (r#"{"b": null, "#, ""),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(path(text).as_deref(), Some(expected), "{text}");
        }
    }

    proptest! {
        /// What is wrong first in a text is found, whatever comes after it.
        #[test]
        fn the_path_is_that_of_the_first_error(
            elements in prop::collection::vec("2|4|[135]|\"x\"|\\[\\]|\\{\\}", 1..6),
            rest in "|, \"b\": 7|, \"d\": \\{\"k\": 1\\}|, \"b\" ",
        ) {
            let text = format!("{{\"f\": [{}], \"h\": null{rest}}}", elements.join(", "));
            let odd = elements.iter().position(|element| element != "2" && element != "4");
            let expected = match (odd, &*rest) {
                (Some(at), _) => Some(format!("f[{at}]")),
                (None, "") => None,
                (None, ", \"b\": 7") => Some("b".to_owned()),
                (None, ", \"b\" ") => Some(String::new()),
                (None, _) => Some("d.k".to_owned()),
            };
            prop_assert_eq!(path(&text), expected);
        }

        #[test]
        fn no_text_is_too_odd(text in "[\\[\\]{}:, \"a-c0-2\\\\]{0,24}") {
            prop_assert!(path(&text).is_none_or(|path| path.len() < 99));
        }
    }
}
