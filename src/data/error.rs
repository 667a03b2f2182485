//! What goes wrong with data: whole files, and single rows.

use std::fmt;
use std::io;
use std::sync::Arc;

use assay_verifiers::code::Code;

use super::near::nearest;

/// The kinds of file that are read, for messages.
pub(super) const ACCEPTED: &str = ".jsonl, .json, .ndjson (each also .gz or .zst), .parquet, .eval, a folder of these, or - for stdin";

/// Why a dataset cannot be read on. Texts in it are escaped already.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The operating system refused.
    #[error("{file}: {}", reason(.source))]
    Read {
        /// The file or folder.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The name says nothing about what is inside.
    #[error("{file}: not a kind of file that is read; accepted: {ACCEPTED}{}", conversion(.file))]
    Unknown {
        /// The file.
        file: String,
    },
    /// A stream that ended without a row.
    #[error("{stream}: the stream ended without a row; see what was to write it")]
    Empty {
        /// The pipe, or standard input.
        stream: String,
    },
    /// Data without any row.
    #[error(
        "{}: the data have no rows: every file is empty, or holds nothing but blank lines; see what \
         was to write them",
        .files.join(", ")
    )]
    NoRows {
        /// The first of the files.
        files: Vec<String>,
    },
    /// A column that the configuration names and no row has.
    #[error("{}", no_column(.key, .column, *.rows, .has))]
    NoColumn {
        /// The key that names it, such as `data.reference`.
        key: String,
        /// Its name.
        column: String,
        /// How many rows were looked at.
        rows: u64,
        /// The columns that they have.
        has: Vec<String>,
    },
    /// A folder without data, or without the split that was asked for.
    #[error("{folder}: {why}")]
    Folder {
        /// The folder.
        folder: String,
        /// What it has instead.
        why: String,
    },
    /// The bytes are not what they claim to be. The rows before the damage were delivered, up to
    /// the last few kilobytes that a decoder gives out.
    #[error("{file}: {form} data damaged after row {rows}: {why}")]
    Damaged {
        /// The file.
        file: String,
        /// `gzip`, `zstd` or `parquet`.
        form: &'static str,
        /// How many rows came before.
        rows: u64,
        /// What the decoder says.
        why: String,
    },
    /// A limit was reached (a decompression bomb, or a file that claims to be one), or the data
    /// are of a kind that is not read.
    #[error("{file}: {what}")]
    Refused {
        /// The file.
        file: String,
        /// Which of these it is.
        code: Code,
        /// What is refused, and what would not be.
        what: String,
    },
    /// Verdicts that cannot be made columns, or columns that are not verdicts.
    #[error("verdict columns: {why}")]
    Verdicts {
        /// Which, and what is wrong.
        why: String,
    },
    /// Writing failed.
    #[error("parquet output: {why}")]
    Write {
        /// What the encoder says.
        why: String,
    },
}

impl DataError {
    /// Data of a kind that is not read.
    pub(super) fn unread(file: &str, what: impl Into<String>) -> Self {
        Self::Refused { file: file.to_owned(), code: Code::UnknownFormat, what: what.into() }
    }

    /// What is wrong.
    pub fn code(&self) -> Code {
        match self {
            Self::Read { .. } | Self::Folder { .. } => Code::UnreadableFile,
            Self::Unknown { .. } => Code::UnknownFormat,
            Self::Empty { .. } | Self::NoRows { .. } => Code::NoRows,
            Self::NoColumn { .. } => Code::NoColumn,
            Self::Damaged { .. } => Code::Damaged,
            Self::Refused { code, .. } => *code,
            Self::Verdicts { .. } => Code::BadValue,
            Self::Write { .. } => Code::Unwritable,
        }
    }
}

/// What is said of a column that no row has.
fn no_column(key: &str, column: &str, rows: u64, has: &[String]) -> String {
    let shown = escape(column);
    let help = format!(
        "\n  set {key} to the column, or data.optional = true where it may be missing from all"
    );
    // Settings that may name a file too name a column by a word before it.
    let is_marked = [".config.rubric", ".config.against"].iter().any(|end| key.ends_with(end));
    let mark = if is_marked { "column:" } else { "" };
    let (parent, rest) = column.split_once('.').unwrap_or((column, ""));
    if has.iter().any(|name| name == column) {
        let rows =
            if rows == 1 { "the only row".to_owned() } else { format!("each of {rows} rows") };
        return format!("{key} = \"{mark}{shown}\": null in {rows}{help}");
    }
    let near = if let (1, Some(within)) = (rows, rows_within(has)) {
        within
    } else if let ([only], 1) = (has, rows) {
        let only = escape(only);
        format!("; if \"{only}\" holds the rows, {}", one_a_line(&format!(".{only}[]")))
    } else if column.contains('[') {
        let dotted = column.replace(['\'', '"', ']'], "").replace('[', ".");
        format!("; a member is named by a dot: write \"{}\"", escape(&dotted))
    } else if has.iter().any(|name| name == parent) {
        let (parent, rest) = (escape(parent), escape(rest));
        format!("; \"{parent}\" holds no \"{rest}\"; a text is read as JSON")
    } else {
        let alike = has.iter().find(|name| name.trim().eq_ignore_ascii_case(column.trim()));
        let near = nearest(column, has.iter().map(String::as_str)).map(|(_, near)| near);
        let near = alike.map(String::as_str).or(near);
        near.map_or_else(String::new, |near| format!("; did you mean \"{mark}{}\"?", escape(near)))
    };
    let has: Vec<String> = has.iter().map(|name| escape(name)).collect();
    let rows = if rows == 1 { "the only row".to_owned() } else { format!("any of {rows} rows") };
    format!("{key} = \"{mark}{shown}\": not in {rows}, which have: {}{near}{help}", has.join(", "))
}

/// Members under which files that are one object hold rows: splits, tables, logs of other tools.
const CONTAINERS: [&str; 11] = assay_verifiers::words::list(
    "train test validation val dev data rows samples examples results instances",
);

/// How the rows become lines of a file that is one object with these members; `None` where none of them tells.
fn rows_within(members: &[String]) -> Option<String> {
    let has = |name: &str| members.iter().any(|member| member == name);
    if has("columns") && has("data") {
        return Some(format!("; as pandas writes a table: write rows, by {RECORDS}"));
    }
    let is_index =
        |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if !members.is_empty() && members.iter().all(is_index) {
        return Some(format!("; if its values are the rows, {}", one_a_line(".[]")));
    }
    let held: Vec<&str> = CONTAINERS.into_iter().filter(|name| has(name)).collect();
    let paths: Vec<String> = held
        .iter()
        .map(|name| match *name {
            // The viewer of Hugging Face has a row in a member of each.
            "rows" if has("features") => ".rows[].row".to_owned(),
            name => format!(".{name}[]"),
        })
        .collect();
    let only = members.len() == 1;
    (!held.is_empty() && !only).then(|| {
        let named: Vec<String> = held.iter().map(|name| format!("\"{name}\"")).collect();
        format!("; if {} holds the rows, {}", named.join(" and "), one_a_line(&paths.join(", ")))
    })
}

/// How pandas writes rows.
const RECORDS: &str = "to_json(\"rows.jsonl\", orient=\"records\", lines=True)";

/// How the rows that are within a file become lines.
pub(super) fn one_a_line(filter: &str) -> String {
    format!("write one a line, as by `jq -c '{filter}' FILE > rows.jsonl`")
}

/// How to convert what a function of pandas reads.
pub(super) fn by_pandas(read: &str) -> String {
    format!(
        "convert it: python3 -c 'import pandas; \
         pandas.{read}.to_json(\"rows.jsonl\", orient=\"records\", lines=True)'"
    )
}

/// How a file of another kind becomes one that is read.
fn conversion(file: &str) -> String {
    let extension = |name: &str| {
        name.rsplit_once('.').map_or_else(String::new, |(_, last)| last.to_ascii_lowercase())
    };
    // pandas knows what is compressed by its ending.
    let plain =
        [".gz", ".bz2", ".xz", ".zip", ".zst"].iter().find_map(|end| file.strip_suffix(end));
    let read = match extension(plain.unwrap_or(file)).as_str() {
        "csv" => "read_csv(\"FILE\", sep=None, engine=\"python\")",
        "tsv" => "read_csv(\"FILE\", sep=\"\\t\")",
        "xlsx" | "xls" => "read_excel(\"FILE\")",
        "feather" | "arrow" => "read_feather(\"FILE\")",
        "pkl" | "pickle" => "read_pickle(\"FILE\")",
        "jsonl" | "ndjson" if plain.is_some() => "read_json(\"FILE\", lines=True)",
        "json" if plain.is_some() => "read_json(\"FILE\")",
        "txt" | "text" | "jsonlines" | "jl" | "log" => {
            return "; where its lines are rows of JSON, name it so: `mv FILE rows.jsonl`"
                .to_owned();
        }
        "toml" | "yaml" | "yml" => {
            return "; a configuration comes before the data: assay score CONFIG DATA".to_owned();
        }
        _ => {
            let command = match extension(file).as_str() {
                "zip" => "unzip",
                "xz" => "unxz -k",
                "bz2" => "bunzip2 -k",
                _ => return String::new(),
            };
            return format!("; `{command} FILE` takes it out");
        }
    };
    format!("; {}", by_pandas(read))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => match error.get_ref() {
            Some(own) => own.to_string(),
            None => "no such file or folder".to_owned(),
        },
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Where a row stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was named, escaped.
    pub file: Arc<str>,
    /// The line of a text file, the row of a Parquet file; the first is 1.
    pub row: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.row)
    }
}

/// Why a row cannot be read. Everything in it is escaped: it may go to a terminal or a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {defect}")]
pub struct RowError {
    /// The row.
    pub place: Place,
    /// What is wrong with it.
    pub(super) defect: Defect,
}

impl RowError {
    /// What is wrong with a row, in the column of this name where it is one column's.
    pub fn new(place: Place, code: Code, field: Option<&str>, message: impl Into<String>) -> Self {
        let defect = Defect::new(code, message);
        let defect = match field {
            Some(field) => defect.at_field(field),
            None => defect,
        };
        Self { place, defect }
    }

    /// What is wrong.
    pub fn code(&self) -> Code {
        self.defect.code
    }

    /// The column at fault, where that is known.
    pub fn field(&self) -> Option<&str> {
        self.defect.field.as_deref()
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> String {
        self.defect.to_string()
    }
}

/// What is wrong with a row, before anyone knows which row it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    pub(super) code: Code,
    pub(super) field: Option<String>,
    pub(super) message: String,
    pub(super) byte: Option<usize>,
}

impl Defect {
    /// What is wrong.
    pub fn code(&self) -> Code {
        self.code
    }

    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, field: None, message: message.into(), byte: None }
    }

    pub(super) fn at_field(mut self, field: &str) -> Self {
        self.field = Some(field_name(field));
        self
    }
}

/// A column as a message names it.
pub(super) fn field_name(field: &str) -> String {
    if field.is_empty() { "\"\"".to_owned() } else { escape(field) }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)?;
        match self.byte {
            Some(byte) => write!(f, " at byte {byte}"),
            None => Ok(()),
        }
    }
}

/// How much of a text from a dataset a message repeats, in characters.
const SHOWN_MAX: usize = 80;

/// A text from a dataset as a message may show it: cut, and with everything that a terminal or a
/// reader's eye could be fooled by written as an escape.
pub fn escape(text: &str) -> String {
    let mut shown = escape_whole(text.chars().take(SHOWN_MAX));
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// The same, without the cut: for names of files.
pub(super) fn escape_whole(text: impl Iterator<Item = char>) -> String {
    let mut shown = String::new();
    for char in text {
        if char.is_control() || unseen(char) {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Zero-width, bidirectional and separator characters: they change what a reader sees.
fn unseen(char: char) -> bool {
    matches!(
        char,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(escape("a\u{1b}[31m\r\n\u{202e}b"), "a\\u{1b}[31m\\r\\n\\u{202e}b");
        assert_eq!(escape("plain <b> é"), "plain <b> é");
        assert_eq!(escape(&"x".repeat(200)).chars().count(), SHOWN_MAX + 1);
    }
}
