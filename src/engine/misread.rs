//! Files that are no configuration: what they are, and what to type.

use std::ops::Range;

use assay_verifiers::code::Code;
use assay_verifiers::from_value;
use serde_json::Value;

use super::config::Config;
use super::error::ConfigError;

/// A configuration to begin with.
pub(super) const FIRST: &str = "version = 1\n[[reward]]\nname = \"correct\"\nverifier = \"math\"";

const GIVE_BOTH: &str = "the configuration comes first: assay score CONFIG DATA -o RUN; `assay init` writes a configuration";

impl ConfigError {
    fn misread(
        name: &str,
        text: &str,
        what: &str,
        help: String,
        span: Option<Range<usize>>,
    ) -> Self {
        let message = format!("{what}: a configuration is TOML, or JSON of the same shape");
        Self::new(name, text, message).code(Code::NotAConfiguration).at(span).help(Some(help))
    }

    /// What is wrong with bytes that are no text, where they are none.
    pub(crate) fn of_bytes(name: &str, bytes: &[u8]) -> Option<Self> {
        let compressed = [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd]];
        if bytes.starts_with(b"PAR1") || compressed.iter().any(|magic| bytes.starts_with(magic)) {
            let what = "this is Parquet, or compressed";
            return Some(Self::misread(name, "", what, GIVE_BOTH.to_owned(), None));
        }
        let bom = [&b"\xff\xfe"[..], b"\xfe\xff"].iter().any(|mark| bytes.starts_with(mark));
        let (message, from) = match std::str::from_utf8(bytes) {
            _ if bom || bytes.get(..2).is_some_and(|two| two.contains(&0)) => {
                ("the text is UTF-16; expected UTF-8".to_owned(), "UTF-16")
            }
            Ok(_) => return None,
            Err(error) => {
                let good = bytes.get(..error.valid_up_to())?;
                let line = 1 + memchr::memchr_iter(b'\n', good).count();
                let byte = bytes.get(error.valid_up_to())?;
                (
                    format!("line {line} is not UTF-8: it holds the byte 0x{byte:02x}"),
                    "WINDOWS-1252",
                )
            }
        };
        let help = format!("save it as UTF-8: iconv -f {from} -t UTF-8 OLD > NEW");
        let error = Self::new(name, "", format!("{name}: {message}")).code(Code::Encoding);
        Some(error.help(Some(help)))
    }

    /// A text that does not parse, and whose first line, comments aside, is not meant as TOML.
    pub(super) fn of_language(name: &str, text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let key = first.split_once('=').map(|(key, _)| key.trim());
        if first.starts_with('[') || key.is_some_and(is_key) {
            return None;
        }
        let help = format!("{GIVE_BOTH}; it begins\n{FIRST}");
        let at = text.find(first).map(|at| at..at + first.len());
        Some(Self::misread(name, text, "this is written in another language", help, at))
    }

    /// Rows, or a grader of others, where a configuration belongs.
    pub(super) fn of_rows(name: &str, text: &str, tree: &Value) -> Option<Self> {
        let is_own = |table: &serde_json::Map<String, Value>| {
            // The schema is large: it is made only where these two keys do not decide.
            ["version", "reward"].iter().any(|key| table.contains_key(*key)) || {
                let known = from_value::properties(&Config::json_schema(), tree, &[]);
                known.is_some_and(|known| table.keys().all(|key| known.contains(key)))
            }
        };
        let help = format!("{GIVE_BOTH}. Graders of OpenAI: docs/verifiers.md");
        (!tree.as_object().is_some_and(is_own))
            .then(|| Self::misread(name, text, "this is a row of a dataset", help, Some(0..1)))
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|char| char.is_ascii_alphanumeric() || "_-.".contains(char))
}
