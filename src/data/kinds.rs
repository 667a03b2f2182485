//! What a text file begins like: lines of JSON, a list of JSON, or something that is none of what is
//! read. Who has such a file is told what it is and what to type, before any row is judged.

use super::error::by_pandas;
use super::logs::{self, LogFormat};

/// So many bytes tell.
pub(super) const HEAD_BYTES: usize = 4 << 10;

/// What some editors, and some clients of Windows, put before a text.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How rows are written.
pub(super) enum Start {
    Lines,
    List,
    /// One object, which holds the samples of a log.
    Log(&'static LogFormat),
}

const UTF_16: &str = "the text is UTF-16; save it as UTF-8";
const UTF_32: &str = "the text is UTF-32; save it as UTF-8";
const CR: &str =
    "its lines end by a carriage return alone; end them by \\n, as by `tr '\\r' '\\n' < FILE`";
const OVER_LINES: &str =
    "one JSON object over many lines; write one object a line, as by `jq -c . FILE > rows.jsonl`";
const YAML: &str = "it looks like YAML; rows are JSON, one object a line. A configuration is TOML and \
                    comes before the data: assay score CONFIG DATA";
const TOML: &str = "it looks like TOML; rows are JSON, one object a line. A configuration comes before \
                    the data: assay score CONFIG DATA";
const ARROW: &str = "Arrow data; write Parquet, as by pyarrow.parquet.write_table, or \
                     datasets.Dataset.to_parquet";

/// What is at a place of files of a kind.
const MAGIC: [(usize, &[u8], &str); 16] = [
    (0, b"\x1f\x8b", "gzip data that were compressed again; unpack them once (`gunzip FILE`)"),
    (
        0,
        b"\x28\xb5\x2f\xfd",
        "zstd data that were compressed again; unpack them once (`zstd -d FILE`)",
    ),
    (0, b"PK\x03\x04", "a ZIP archive; unpack it (`unzip FILE`) and name a file of it"),
    (0, b"\xfd7zXZ\0", "xz data; unpack it first (`xz -d FILE`)"),
    (0, b"BZh", "bzip2 data; unpack it first (`bzip2 -d FILE`)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it (`7z x FILE`) and name a file of it"),
    (0, b"\x04\x22\x4d\x18", "lz4 data; unpack it first (`lz4 -d FILE`)"),
    (257, b"ustar", "a tar archive; unpack it (`tar -xf FILE`) and name a file of it"),
    (0, b"ARROW1", ARROW),
    (0, b"FEA1", ARROW),
    (0, b"\xff\xff\xff\xff", ARROW),
    (0, b"\x89HDF\r\n", "HDF5 data; write its rows as JSON lines or Parquet"),
    (0, b"\x93NUMPY", "an array of NumPy; write its rows as JSON lines or Parquet"),
    (0, b"Obj\x01", "Avro data; write its rows as JSON lines or Parquet"),
    (0, b"SQLite format 3\0", "a database of SQLite; write its rows as JSON lines or Parquet"),
    (0, b"%PDF", "a PDF; write its rows as JSON lines or Parquet"),
];

/// How the rows are written that begin with `head`; `None` where more of it is needed, unless it
/// `ended`.
///
/// # Errors
/// What it is instead, and what to type.
pub(super) fn start(head: &[u8], ended: bool) -> Result<Option<Start>, String> {
    let all = ended || head.len() >= HEAD_BYTES;
    let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    let broken = memchr::memchr(b'\n', text);
    let (line, _) = text.split_at(broken.unwrap_or(text.len()));
    let inner = line.split_first().map_or(&[][..], |(_, inner)| inner.trim_ascii());
    if text.first() == Some(&b'{') {
        match logs::of_head(text.get(..HEAD_BYTES).unwrap_or(text)) {
            Ok(Some(format)) => return Ok(Some(Start::Log(format))),
            Err(()) if !all => return Ok(None),
            _ => {}
        }
    }
    match text.first() {
        Some(b'{' | b'[') if inner.first() == Some(&0) => {
            Err(wide(text).unwrap_or(UTF_16).to_owned())
        }
        Some(b'{') if memchr::memmem::find(line, b"}\r{").is_some() => Err(CR.to_owned()),
        Some(b'{') if !inner.is_empty() => Ok(Some(Start::Lines)),
        Some(b'{') if broken.is_some() => Err(OVER_LINES.to_owned()),
        Some(b'[') if inner.first() == Some(&b'{') => Ok(Some(Start::List)),
        Some(b'[') if broken.is_some() || all => {
            if is_section(inner) {
                return Err(TOML.to_owned());
            }
            Ok(Some(Start::List))
        }
        Some(b'{' | b'[') | None => Ok(all.then_some(Start::Lines)),
        Some(_) if !all => Ok(None),
        Some(_) => foreign(head).map_or(Ok(Some(Start::Lines)), Err),
    }
}

/// Text of units of more than a byte, by its byte order mark or its first character.
pub(super) fn wide(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xff, 0xfe, 0, 0, ..]
        | [0, 0, 0xfe, 0xff, ..]
        | [b'{' | b'[', 0, 0, 0, ..]
        | [0, 0, 0, b'{' | b'[', ..] => Some(UTF_32),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, b'{' | b'[', ..] => Some(UTF_16),
        _ => None,
    }
}

/// What a file is that begins with `head` and is not made of JSON.
pub(super) fn foreign(head: &[u8]) -> Option<String> {
    let magic = |(at, bytes, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(bytes))
    };
    if let Some((_, _, what)) = MAGIC.iter().find(magic) {
        return Some((*what).to_owned());
    }
    let told = match head {
        [0x80, 2..=5, ..] => {
            "a pickle of Python; it is not read, because reading one runs code; \
                              write its rows by json.dumps, one a line"
        }
        [_, _, _, _, _, 0, 0, 0, b'{', b'"', ..] => "weights (safetensors), not rows",
        _ if let Some(what) = wide(head) => what,
        [_, 0, _, ..] => UTF_16,
        _ if head.iter().take(512).any(|byte| *byte == 0) => {
            "binary data; write rows as JSON lines or Parquet"
        }
        _ => return text(&String::from_utf8_lossy(head)),
    };
    Some(told.to_owned())
}

fn text(head: &str) -> Option<String> {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let first = head.lines().next().unwrap_or_default().trim_end();
    if first.starts_with("version https://git-lfs") {
        let what = "a pointer of Git LFS in place of the data; fetch them: `git lfs pull`";
        return Some(what.to_owned());
    }
    let lower = first.to_lowercase();
    if ["<!doctype", "<html", "<head", "<?xml"].iter().any(|tag| lower.starts_with(tag)) {
        let what = "a page of the web (HTML or XML), most likely an error or a login that was saved in \
                    place of the data; fetch them again";
        return Some(what.to_owned());
    }
    // Rows follow: the first is a broken one.
    if head.lines().skip(1).any(|line| line.trim_start().starts_with('{')) {
        return None;
    }
    let word = first.find(|char: char| !(char.is_alphanumeric() || "_-.".contains(char)));
    let (word, rest) = first.split_at_checked(word.unwrap_or(first.len()))?;
    let named = word.starts_with(|char: char| char.is_alphabetic() || char == '_');
    let rest = rest.trim_start();
    if first == "---"
        || first.starts_with("- ")
        || (named && (rest == ":" || rest.starts_with(": ")))
    {
        return Some(YAML.to_owned());
    }
    if named && rest.starts_with('=') {
        return Some(TOML.to_owned());
    }
    let separators =
        [(',', "CSV", ""), (';', "CSV", r#", sep=";""#), ('\t', "TSV", r#", sep="\t""#)];
    let separator = separators
        .into_iter()
        .filter(|(separator, ..)| first.contains(*separator) && !first.contains(['{', '[']))
        .max_by_key(|(separator, ..)| first.matches(*separator).count())?;
    let (_, kind, how) = separator;
    let begins = first.starts_with(|char: char| char.is_alphabetic() || "\"_".contains(char));
    let read = || format!("read_csv(\"FILE\"{how})");
    begins.then(|| format!("it looks like {kind}; {}", by_pandas(&read())))
}

/// Whether the rest of a line after its first `[` is that of a header of TOML.
fn is_section(inner: &[u8]) -> bool {
    let inner = inner.strip_prefix(b"[").unwrap_or(inner);
    let Some(name) = inner.strip_suffix(b"]") else { return false };
    let name = name.strip_suffix(b"]").unwrap_or(name);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(plain)
        && ![&b"true"[..], b"false", b"null"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(head: &[u8]) -> String {
        start(head, true).err().unwrap()
    }

    fn kind(head: &[u8], ended: bool) -> Option<&'static str> {
        start(head, ended).unwrap().map(|start| match start {
            Start::Lines => "lines",
            Start::List => "list",
            Start::Log(format) => format.name(),
        })
    }

    #[test]
    fn rows_are_told_by_their_first_bytes() {
        assert_eq!(kind(b"\xef\xbb\xbf {\"a\":", false), Some("lines"));
        assert_eq!(kind(b"{\"version\": 2, ", false), None);
        assert_eq!(kind(b"{\"version\": 2, \"a\": 1", false), Some("lines"));
        let log = b"{\n  \"version\": 2,\n  \"status\": \"success\",\n  \"eval\": {\n";
        assert_eq!(kind(log, false), Some("inspect_ai"));
        assert_eq!(kind(b"[{", false), Some("list"));
        assert_eq!(kind(b"[\n", false), Some("list"));
        assert_eq!(kind(b"not json", false), None);
        for rows in [
            &b"not json"[..],
            b"broken, not a row\n{\"a\": 1}\n",
            b"3",
            b"",
            b" \n",
            b"\"a text\"",
            b"{",
            b"null",
        ] {
            assert_eq!(kind(rows, true), Some("lines"), "{rows:?}");
        }
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (head, what) in [
            (&b"{\n"[..], "over many lines"),
            (b"prompt,completion\n1,2\n", "CSV"),
            (b"prompt\tcompletion\n", "TSV"),
            (b"---\na: 1\n", "YAML"),
            (b"rows:\n  - a: 1\n", "YAML"),
            (b"version = 1\n", "TOML"),
            (b"[[reward]]\n", "TOML"),
            (b"[data]\nid = 1", "TOML"),
            (b"<!DOCTYPE html>", "HTML"),
            (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
            (b"PK\x03\x04aa", "ZIP"),
            (b"\x80\x04\x95", "pickle"),
            (b"{\0\"\0", "UTF-16"),
            (b"\0{\0\"", "UTF-16"),
            (b"{\0\0\0\"\0\0\0", "UTF-32"),
            (b"\xff\xfe\0\0{\0\0\0", "UTF-32"),
            (b"\0\0\0{\0\0\0\"", "UTF-32"),
            (b"{\"a\": 1}\r{\"a\": 2}", "carriage return"),
            (b"\x40\0\0\0\0\0\0\0{\"a\":", "safetensors"),
        ] {
            assert!(said(head).contains(what), "{what}: {}", said(head));
        }
    }
}
