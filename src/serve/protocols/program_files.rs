//! The files that a request brings for its program, and those that it asks for afterwards.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::error::{ApiError, ErrorKind};
use crate::sandbox::runtime::{FILES_BYTES_MAX, FileError, MemoryFiles};

/// The longest name of a file.
const NAME_BYTES_MAX: usize = 255;

/// The files of a program, and where it lies itself among them.
#[derive(Clone)]
pub(super) struct ProgramFiles {
    pub(super) files: MemoryFiles,
    pub(super) path: String,
}

/// The bytes of a text in base64, which may have white space in it.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(text).ok()
}

/// The bytes of a text of hexadecimal digits.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// Puts a file at a path. `field` is where the request has it.
pub(super) fn put(
    files: &MemoryFiles,
    path: &str,
    bytes: &[u8],
    field: &str,
) -> Result<(), ApiError> {
    let refused = |error: FileError| {
        let kind = match error {
            FileError::NoSpace => ErrorKind::TooLarge,
            _ => ErrorKind::BadRequest,
        };
        let room = FILES_BYTES_MAX >> 20;
        let message = match error {
            FileError::NoSpace => format!("no room for {path}: files may have {room} MiB in all"),
            _ if path.trim_matches('/').is_empty() => format!("{path:?} names no file"),
            FileError::Exists => format!("two files are called {path}"),
            error => format!("{path}: {error}"),
        };
        ApiError::new(kind, message).at(field)
    };
    files.put(path, bytes).map_err(refused)
}

/// The path of a file below the folder of the program.
pub(super) fn below(name: &str, at: usize) -> Result<String, ApiError> {
    if name.is_empty() {
        return Ok(format!("file{at}.code"));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| *part != ".").collect();
    let is_odd = |part: &&str| part.is_empty() || *part == ".." || part.contains(['\0', '\\']);
    if name.len() > NAME_BYTES_MAX || parts.is_empty() || parts.iter().any(is_odd) {
        let message = "expected a path below the folder of the program";
        return Err(ApiError::bad_request(message).at(format!("files[{at}].name")));
    }
    Ok(parts.join("/"))
}

/// What is in the files of these names, in base64. A name that there is no file of is left out. None
/// where it is too much for an answer.
pub(super) fn fetched(files: &MemoryFiles, names: Vec<String>) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut bytes = 0;
    for name in names {
        let Some(content) = files.get(&name).filter(|_| !found.contains_key(&name)) else {
            continue;
        };
        bytes += content.len();
        if bytes > FILES_BYTES_MAX {
            return None;
        }
        found.insert(name, STANDARD.encode(content));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_folder_of_the_program() {
        assert_eq!(below("./a/./b.py", 1).unwrap(), "a/b.py");
        assert_eq!(below("", 3).unwrap(), "file3.code");
        for odd in
            ["../a", "a/../../b", "/etc/passwd", "a//b", ".", "a\\b", "a\0", &"a".repeat(300)]
        {
            let error = below(odd, 2).unwrap_err();
            assert_eq!(error.field.as_deref(), Some("files[2].name"), "{odd}");
        }
    }

    #[test]
    fn no_file_stands_for_another() {
        let files = MemoryFiles::default();
        put(&files, "a.py", b"1", "files[0]").unwrap();
        let error = put(&files, "a.py", b"2", "files[1]").unwrap_err();
        assert!(error.message.contains("two files are called a.py"), "{}", error.message);
        let error = put(&files, "a.py/b", b"2", "files[1]").unwrap_err();
        assert!(error.message.contains("not a folder"), "{}", error.message);
    }

    #[test]
    fn files_are_bounded_on_both_ways() {
        let files = MemoryFiles::default();
        let half = vec![0; FILES_BYTES_MAX / 2 + 1];
        put(&files, "a", &half, "files[0]").unwrap();
        let error = put(&files, "b", &half, "files[1]").unwrap_err();
        assert_eq!(error.kind, ErrorKind::TooLarge);
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(fetched(&files, names(&["a", "a", "none"])).unwrap().len(), 1);
        assert_eq!(fetched(&files, names(&["a", "./a"])), None);
    }
}
