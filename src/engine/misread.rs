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

/// The words after which a line of Python stands.
const PYTHON: [&str; 6] = ["def ", "import ", "from ", "class ", "async def ", "@"];

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

    /// A text that does not parse: a language that it is, where that is plain to see.
    pub(super) fn of_language(name: &str, text: &str) -> Option<Self> {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_line = |line: &&str| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with('#')
        };
        let mut lines = text.lines().map(str::trim_end).filter(is_line);
        let first = lines.clone().next()?;
        let is_toml = lines.any(|line| {
            let key = line.split_once('=').map(|(key, _)| key.trim());
            line.starts_with('[') || key.is_some_and(is_key)
        });
        let key = first.trim_start().trim_start_matches("- ").split_once(':');
        let is_yaml = key.is_some_and(|(key, rest)| {
            is_key(key.trim_matches(['"', '\''])) && (rest.is_empty() || rest.starts_with(' '))
        });
        let (what, help) = if extension == "py" || PYTHON.iter().any(|word| first.starts_with(word))
        {
            let help =
                "a function of your own is named by the configuration (`assay show python_check`)";
            ("this is Python", format!("{help}; it begins\n{FIRST}"))
        } else if matches!(extension, "yaml" | "yml") || first == "---" || is_yaml && !is_toml {
            ("this is YAML", format!("the same in TOML begins\n{FIRST}"))
        } else if matches!(extension, "csv" | "tsv") || first.contains([',', '\t']) && !is_toml {
            ("this is a table of text", format!("{GIVE_BOTH}; rows are JSON lines or Parquet"))
        } else {
            return None;
        };
        let at = text.find(first).map(|at| at..at + first.len());
        Some(Self::misread(name, text, what, help, at))
    }

    /// Rows, or a grader of others, where a configuration belongs.
    pub(super) fn of_rows(name: &str, text: &str, tree: &Value) -> Option<Self> {
        let known = || {
            let schema = Config::json_schema();
            from_value::properties(&schema, tree, &[]).unwrap_or_default()
        };
        let is_own = |table: &serde_json::Map<String, Value>| {
            // The schema is large: it is made only where these two keys do not decide.
            ["version", "reward"].iter().any(|key| table.contains_key(*key)) || {
                let known = known();
                table.keys().all(|key| known.contains(key))
            }
        };
        match tree {
            Value::Object(table) if is_own(table) => None,
            _ => {
                let help = format!("{GIVE_BOTH}. Graders of OpenAI: docs/verifiers.md");
                Some(Self::misread(name, text, "this is a row of a dataset", help, Some(0..1)))
            }
        }
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|char| char.is_ascii_alphanumeric() || "_-.".contains(char))
}
