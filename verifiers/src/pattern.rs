//! A regular expression that was compiled, within bounds, when the configuration was read.

pub(crate) mod effort;
mod example;

use std::borrow::Cow;
use std::ops::Deref;

use regex::{Regex, RegexBuilder};
use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Class, Hir, HirKind, Look, LookSet};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A compiled regular expression: at most 4 kB of pattern and 1 MB of program.
///
/// Matching is linear in the text. How steep is another matter: see `pattern/effort.rs`.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// The longest pattern, in bytes.
    pub const PATTERN_BYTES_MAX: usize = 4096;
    /// The largest compiled program, in bytes.
    pub const PROGRAM_BYTES_MAX: usize = 1 << 20;

    /// Compiles `pattern`.
    ///
    /// # Errors
    /// A pattern that is too long, does not parse, or compiles to too large a program.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > Self::PATTERN_BYTES_MAX {
            return Err(format!(
                "the pattern has {} bytes; at most {} are allowed",
                pattern.len(),
                Self::PATTERN_BYTES_MAX
            ));
        }
        RegexBuilder::new(pattern)
            .size_limit(Self::PROGRAM_BYTES_MAX)
            .build()
            .map(Self)
            .map_err(|error| refused(pattern, &error))
    }

    /// A short text that the pattern matches, with the text given in the place of a capture group. `None`
    /// where none is found: boundaries and anchors may rule out what is made without them.
    pub fn example(&self, group: Option<(usize, &str)>) -> Option<String> {
        example::example(&self.0, group)
    }

    /// Whether every text matches: as a whole, or (without `full`) in a part that may be empty. `false`
    /// where that cannot be seen.
    pub fn always_matches(&self, full: bool) -> bool {
        let Ok(hir) = regex_syntax::parse(self.as_str()) else { return false };
        let anything = |hir: &Hir| match hir.kind() {
            HirKind::Repetition(part) => {
                part.min == 0 && part.max.is_none() && is_any(part.sub.kind())
            }
            _ => false,
        };
        if full {
            return anything(&hir);
        }
        // At the start of a text, all that it may assert of its place holds.
        let looks = hir.properties().look_set();
        let starts = LookSet::empty().insert(Look::Start).insert(Look::StartLF);
        hir.properties().minimum_len() == Some(0) && looks.subtract(starts).is_empty()
    }
}

/// Whether a class holds every character.
fn is_any(kind: &HirKind) -> bool {
    match kind {
        HirKind::Class(Class::Unicode(class)) => {
            let mut ranges = class.ranges().iter();
            ranges.any(|range| range.start() == '\0' && range.end() == char::MAX)
        }
        _ => false,
    }
}

/// What is wrong with a pattern, and what helps where no pattern can say it.
fn refused(pattern: &str, error: &regex::Error) -> String {
    let is_beyond = matches!(
        regex_syntax::parse(pattern),
        Err(regex_syntax::Error::Parse(error)) if matches!(
            error.kind(),
            ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference
        )
    );
    let help = if is_beyond {
        "\na pattern takes linear time, without look-ahead, look-behind and backreferences: what must not match \
         is a reward of its own, with negate = true"
    } else {
        ""
    };
    format!("{error}{help}")
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pattern = Cow::<str>::deserialize(deserializer)?;
        Self::new(&pattern).map_err(D::Error::custom)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "regex",
            "maxLength": Self::PATTERN_BYTES_MAX,
        })
    }

    fn inline_schema() -> bool {
        true
    }
}
