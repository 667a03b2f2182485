//! Files that are read as they lie, and streams that are read once.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Opens a file that is read as it lies. What is none, such as a pipe, a device or a folder, is
/// refused before it is opened: opening it may wait for ever.
///
/// # Errors
/// A path that is not there, or no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() { File::open(path) } else { Err(odd(kind, "a regular file")) }
}

/// Reads a whole file, which must be a regular one.
///
/// # Errors
/// A path that is not there, no regular file, or one that cannot be read.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens what is read once, from its start to its end: a regular file or a pipe. A named pipe waits
/// for its writer.
///
/// # Errors
/// A path that is not there, a device, a socket or a folder.
pub fn open_once(path: &Path) -> io::Result<File> {
    is_stream(path)?;
    File::open(path)
}

/// Whether a path is a pipe, which can be read only once.
///
/// # Errors
/// A path that is not there, or neither a regular file nor a pipe.
pub fn is_stream(path: &Path) -> io::Result<bool> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_fifo() {
        return Ok(kind.is_fifo());
    }
    Err(odd(kind, "a file or a pipe; - reads standard input"))
}

fn odd(kind: FileType, expected: &str) -> io::Error {
    let found = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    io::Error::other(format!("{found}; expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_named_and_not_opened() {
        let said = |path: &str| open_regular(Path::new(path)).unwrap_err().to_string();
        assert_eq!(said("/dev/null"), "a device; expected a regular file");
        assert_eq!(said("/"), "a folder; expected a regular file");
        let device = open_once(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(device, "a device; expected a file or a pipe; - reads standard input");
        assert!(!is_stream(Path::new("Cargo.toml")).unwrap());
    }
}
