//! What a type does not take, as data: serde's errors before they are sentences.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::code::Code;

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) code: Code,
    /// The key or the word, where the code is about one.
    pub(super) name: Option<String>,
    pub(super) found: Option<String>,
    pub(super) expected: Vec<String>,
    /// The whole sentence, where a type says what it refuses itself.
    own: Option<String>,
}

impl Wrong {
    fn new(code: Code, name: Option<&str>, expected: &[&str]) -> Self {
        let expected = expected.iter().map(|word| (*word).to_owned()).collect();
        Self { code, name: name.map(str::to_owned), found: None, expected, own: None }
    }

    /// The error that `mismatch` makes, unless the type says in its own words what it refuses.
    pub(super) fn or_mismatch(self, mismatch: impl FnOnce() -> Self) -> Self {
        if self.own.is_some() { self } else { mismatch() }
    }

    pub(super) fn mismatch(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { found: Some(found.into()), ..Self::new(Code::WrongType, None, &[&expected.into()]) }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(own) = &self.own {
            return f.write_str(own);
        }
        let name = self.name.as_deref().unwrap_or_default();
        match self.code {
            Code::UnknownKey => write!(f, "unknown key `{name}`"),
            Code::MissingKey => write!(f, "missing key `{name}`"),
            Code::DuplicateKey => write!(f, "key `{name}` is written twice"),
            Code::UnknownWord => {
                let words: Vec<String> =
                    self.expected.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "\"{name}\" is not known; expected {}", either(&words))
            }
            _ => {
                let found = self.found.as_deref().unwrap_or("another value");
                write!(f, "expected {}, found {found}", either(&self.expected))
            }
        }
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { own: Some(message.to_string()), ..Self::new(Code::BadValue, None, &[]) }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch(shown(found), expected.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self { code: Code::BadValue, ..Self::invalid_type(found, expected) }
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::mismatch(format!("{length} values"), expected.to_string())
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let found = Some(shown(Unexpected::Str(word)));
        Self { found, ..Self::new(Code::UnknownWord, Some(word), known) }
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Code::UnknownKey, Some(key), known)
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Code::MissingKey, Some(key), &[])
    }

    fn duplicate_field(key: &'static str) -> Self {
        Self::new(Code::DuplicateKey, Some(key), &[])
    }
}

/// Alternatives as a sentence lists them.
pub(super) fn either(all: &[String]) -> String {
    match all {
        [] => "another value".to_owned(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

/// How many characters of a text a message repeats.
const SHOWN_MAX: usize = 60;

/// A value as a message names it: its type, and itself where that is short.
pub(super) fn shown(value: Unexpected<'_>) -> String {
    match value {
        Unexpected::Bool(value) => format!("the boolean {value}"),
        Unexpected::Unsigned(number) => format!("the integer {number}"),
        Unexpected::Signed(number) => format!("the integer {number}"),
        Unexpected::Float(number) => format!("the float {number:?}"),
        Unexpected::Str(text) if text.chars().count() > SHOWN_MAX => "a long string".to_owned(),
        Unexpected::Str(text) => format!("the string {text:?}"),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map | Unexpected::NewtypeStruct => "a table".to_owned(),
        Unexpected::UnitVariant => "a word alone".to_owned(),
        Unexpected::NewtypeVariant | Unexpected::TupleVariant | Unexpected::StructVariant => {
            "a word with a value".to_owned()
        }
        other => other.to_string(),
    }
}
