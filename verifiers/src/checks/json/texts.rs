//! What the rules of a schema do with texts: patterns are searched for, and the format `regex` compiles
//! what it finds.

use crate::pattern::effort::{Effort, is_dear};
use crate::prelude::*;

/// What the patterns of a schema may compile to, in bytes.
const PROGRAMS_BYTES_MAX: usize = 12 << 20;
/// What the patterns of a schema may take as text, in bytes.
const PATTERNS_BYTES_MAX: usize = 1 << 18;
/// Escapes of patterns that take long to compile, in one schema: sets of characters of Unicode, and
/// control characters, each of which has the pattern parsed once more.
const ESCAPES_MAX: usize = 500;
/// Those escapes.
const ESCAPES: [&str; 3] = [r"\p", r"\P", r"\c"];
/// The most schemas within one that have an `$id` of their own: all of them are gone through for each.
const IDS_MAX: usize = 1_000;
/// What a byte costs that is read as a regular expression.
const FORMAT_UNITS_PER_BYTE: u64 = 64;

/// The rules of a schema that read texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    patterns: Vec<Effort>,
    /// What they compiled to, in bytes.
    bytes: usize,
    /// What they have as text, in bytes.
    length: usize,
    escapes: usize,
    ids: usize,
    /// The value may be read as a regular expression.
    reads_patterns: bool,
}

impl Texts {
    /// What a schema reads of texts; why it is too large.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let mut own = Self::default();
        own.add(schema)?;
        Ok(own)
    }

    fn add(&mut self, schema: &Value) -> Result<(), String> {
        match schema {
            Value::Object(members) => {
                if let Some(Value::String(pattern)) = members.get("pattern") {
                    self.pattern(pattern)?;
                }
                if let Some(Value::Object(named)) = members.get("patternProperties") {
                    named.keys().try_for_each(|pattern| self.pattern(pattern))?;
                }
                self.ids += usize::from(members.get("$id").is_some_and(Value::is_string));
                if self.ids > IDS_MAX {
                    return Err(format!("more than {IDS_MAX} schemas with an `$id`"));
                }
                self.reads_patterns |= members.get("format").is_some_and(|name| name == "regex");
                members.values().try_for_each(|member| self.add(member))
            }
            Value::Array(members) => members.iter().try_for_each(|member| self.add(member)),
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        let (length, most) = (pattern.len(), Pattern::PATTERN_BYTES_MAX);
        if length > most {
            return Err(format!("a pattern has {length} bytes; at most {most} are allowed"));
        }
        self.length += length;
        if self.length > PATTERNS_BYTES_MAX {
            return Err(format!("its patterns have more than {PATTERNS_BYTES_MAX} bytes"));
        }
        self.escapes += ESCAPES.iter().map(|mark| pattern.matches(mark).count()).sum::<usize>();
        if self.escapes > ESCAPES_MAX {
            let marks = ESCAPES.join(", ");
            return Err(format!("its patterns have more than {ESCAPES_MAX} of {marks}"));
        }
        let pattern = ascii(pattern);
        let is_pattern = regex_syntax::Parser::new().parse(&pattern).is_ok();
        match Effort::new(&pattern, 0) {
            Ok(effort) => {
                self.bytes += effort.bytes();
                self.patterns.push(effort);
            }
            // What only JSON Schema reads may be as large as a pattern may be.
            Err(_) if !is_pattern => self.bytes += Pattern::PROGRAM_BYTES_MAX,
            Err(_) => {
                let most = Pattern::PROGRAM_BYTES_MAX;
                return Err(format!("a pattern compiles to more than {most} bytes"));
            }
        }
        if self.bytes > PROGRAMS_BYTES_MAX {
            return Err(format!("its patterns compile to more than {PROGRAMS_BYTES_MAX} bytes"));
        }
        Ok(())
    }

    /// Pays for each text and pattern, wherever either stands.
    pub(super) fn pay(&self, value: &Value, meter: &mut Meter<'_>) -> Result<(), Fault> {
        if self.patterns.is_empty() && !self.reads_patterns {
            return Ok(());
        }
        let mut texts = Vec::new();
        collect(value, &mut texts);
        let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
        if self.reads_patterns {
            meter.spend(bytes as u64 * FORMAT_UNITS_PER_BYTE)?;
        }
        let most = |all: u64, pattern: &Effort| all.saturating_add(pattern.most(bytes));
        if !is_dear(self.patterns.iter().fold(0, most)) {
            return Ok(());
        }
        for text in texts {
            for pattern in &self.patterns {
                meter.spend(1)?;
                pattern.of(text).count(0, meter)?;
            }
        }
        Ok(())
    }
}

/// A pattern in which digits and word characters are those of ASCII, as JSON Schema has them.
fn ascii(pattern: &str) -> String {
    let mut ascii = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        let escaped = if char == '\\' { chars.next() } else { None };
        match (char, escaped) {
            (_, Some('d')) => ascii.push_str("[0-9]"),
            (_, Some('D')) => ascii.push_str("[^0-9]"),
            (_, Some('w')) => ascii.push_str("[0-9A-Za-z_]"),
            (_, Some('W')) => ascii.push_str("[^0-9A-Za-z_]"),
            (char, escaped) => ascii.extend([Some(char), escaped].into_iter().flatten()),
        }
    }
    ascii
}

/// Every text and every name of a member.
fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(members) => members.iter().for_each(|member| collect(member, texts)),
        Value::Object(members) => {
            for (name, member) in members {
                texts.push(name);
                collect(member, texts);
            }
        }
        _ => {}
    }
}
