//! Streams for a verb that reads its data more than once: each is copied into a file first.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use assay::data::{DataError, escape, is_stream, open_once};

use super::exit::Failure;

/// Data that can be read again.
pub(super) struct Spooled {
    /// What was given, with files in the place of streams.
    pub(super) paths: Vec<PathBuf>,
    /// Where those lie.
    _folder: Option<tempfile::TempDir>,
}

impl Spooled {
    pub(super) fn new(data: &[PathBuf]) -> Result<Self, Failure> {
        let mut folder = None;
        let mut paths = Vec::with_capacity(data.len());
        for (at, path) in data.iter().enumerate() {
            if path.as_os_str() != "-" && !is_stream(path).unwrap_or_default() {
                paths.push(path.clone());
                continue;
            }
            let folder = match &mut folder {
                Some(folder) => folder,
                none => none.insert(tempfile::tempdir()?),
            };
            let file = folder.path().join(format!("stream-{}.jsonl", at + 1));
            let name = if path.as_os_str() == "-" { Path::new("stdin") } else { path.as_path() };
            if copy(path, &file).map_err(Failure::unread(name))? == 0 {
                return Err(DataError::Empty { stream: escape(&name.display().to_string()) }.into());
            }
            paths.push(file);
        }
        Ok(Self { paths, _folder: folder })
    }
}

/// Whether a file begins as JSON lines do that are not compressed.
pub(super) fn is_lines(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    open_once(path)?.take(64).read_to_end(&mut head)?;
    Ok(head.trim_ascii_start().starts_with(b"{"))
}

fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut file = File::create(to)?;
    if from.as_os_str() == "-" {
        return io::copy(&mut io::stdin().lock(), &mut file);
    }
    io::copy(&mut open_once(from)?, &mut file)
}
