//! What can be wrong with a configuration, its data or a request, as words of a closed list.
//!
//! Errors carry a [`Code`] and fields; sentences are made of them and are read by people alone.
//! `docs/codes.md` is generated from this list.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal,)+) => {
        /// What is wrong. The words are part of the command line's, the daemon's and Python's contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        pub enum Code {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $name,)+
        }

        impl Code {
            /// Every code, in the order of its page.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The code as it is written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// What it means and what to do, for `docs/codes.md` and `assay show code:WORD`.
            pub fn page(self) -> String {
                let lines: &[&str] = match self { $(Self::$name => &[$($doc),+],)+ };
                lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
            }
        }
    };
}

codes! {
    /// The text does not parse as TOML or JSON. The message and the place are the parser's.
    Syntax = "syntax",
    /// The file is something else than a configuration: rows of a dataset, YAML, a Python module.
    /// A configuration is TOML, or JSON of the same shape; `assay init` writes one.
    NotAConfiguration = "not_a_configuration",
    /// The bytes are not UTF-8.
    Encoding = "encoding",
    /// A key that this table does not take. `expected` lists those that it takes.
    UnknownKey = "unknown_key",
    /// A key that has no default is left out.
    MissingKey = "missing_key",
    /// A key is written twice.
    DuplicateKey = "duplicate_key",
    /// A value is of another type. `expected` says which types are taken, `found` what is there.
    WrongType = "wrong_type",
    /// A text is none of the words that a setting takes. `expected` lists them.
    UnknownWord = "unknown_word",
    /// A value has the right type and cannot be used: out of range, empty, or refused by the verifier.
    BadValue = "bad_value",
    /// A regular expression does not compile. Patterns are those of the crate `regex`: no look-around and
    /// no backreferences.
    BadPattern = "bad_pattern",
    /// A `when` or an expression does not parse. Expressions are rhai.
    BadExpression = "bad_expression",
    /// A script does not compile, or has no function of the expected name.
    BadScript = "bad_script",
    /// A name that nothing has: a reward, a judge, a column of the settings.
    UnknownName = "unknown_name",
    /// Two things have one name.
    DuplicateName = "duplicate_name",
    /// No verifier has this id. `assay list` names them.
    UnknownVerifier = "unknown_verifier",
    /// A setting that nothing reads as the others are set: it would be ignored without a word.
    NoEffect = "no_effect",
    /// Settings that contradict each other.
    Conflict = "conflict",
    /// Something is needed before it is there: a verdict of a reward that is judged later.
    Order = "order",
    /// `pin` or `version` names another version than this build has.
    Version = "version",
    /// This build lacks the feature.
    FeatureOff = "feature_off",
    /// More than a limit of the configuration allows.
    Limit = "limit",
    /// A file or folder that cannot be read, or may not be.
    UnreadableFile = "unreadable_file",
    /// A file whose format is not read. JSON lines, Parquet and folders of them are.
    UnknownFormat = "unknown_format",
    /// The data have no row.
    NoRows = "no_rows",
    /// A column that the configuration names and no row has.
    NoColumn = "no_column",
    /// A row lacks a value that is needed.
    MissingValue = "missing_value",
    /// Compressed or columnar data, or a file of a run, are damaged. Rows before the damage were read.
    Damaged = "damaged",
    /// Output cannot be written, or a file of a run cannot be read.
    Unwritable = "unwritable",
    /// Another process writes the run.
    RunLocked = "run_locked",
    /// The folder holds a run of other data or of another configuration. `--fresh` starts over.
    OtherRun = "other_run",
    /// Shards that do not fit together, or a shard that does not fit its folder.
    Shards = "shards",
    /// The data were written to while they were read. `--fresh` judges all rows again.
    DataChanged = "data_changed",
    /// The samples of a prompt do not follow each other, and something compares them. Sort the rows by
    /// group.
    ScatteredGroup = "scattered_group",
    /// The command was asked to stop; the run goes on where it is called again.
    Stopped = "stopped",
    /// The command line is wrong, or a file that it names.
    Usage = "usage",
    /// A defect of ours. Please report it with the message.
    Internal = "internal",
}

impl Code {
    /// The code of this word.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.word() == word)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
