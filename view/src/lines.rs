//! A file of lines that is read by its places.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::ViewError;

/// What is read at once, and the longest line.
const BLOCK_BYTES: usize = 4 << 20;
const LINE_BYTES_MAX: usize = 256 << 20;

/// What a thread came to.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A file of lines, and where each row starts in it and the last one ends. Blank lines belong to the row
/// before.
pub(crate) struct LinesFile {
    path: PathBuf,
    pub(crate) file: File,
    pub(crate) offsets: Vec<u64>,
}

impl LinesFile {
    /// Reads a file in blocks of whole lines, which `take` sees. A last line without an end is a row where
    /// `is_last_row`, and is left out else.
    pub(crate) fn read(
        path: &Path,
        is_last_row: bool,
        mut take: impl FnMut(&[u8]) -> Result<(), ViewError>,
    ) -> Result<Self, ViewError> {
        let io = |source| ViewError::io(path, source);
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        if !file.get_ref().metadata().map_err(io)?.is_file() {
            return Err(ViewError::damaged(path, "is not a file"));
        }
        let is_row = |line: &[u8]| line.iter().any(|byte| !byte.is_ascii_whitespace());
        let (mut offsets, mut start) = (Vec::new(), 0);
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        loop {
            block.clear();
            file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block).map_err(io)?;
            let mut rest = file.by_ref().take(LINE_BYTES_MAX as u64);
            if rest.read_until(b'\n', &mut block).map_err(io)? == LINE_BYTES_MAX {
                return Err(ViewError::damaged(path, "a line is longer than 256 MiB"));
            }
            let is_end = !block.ends_with(b"\n");
            if is_end && !is_last_row {
                block.truncate(memchr::memrchr(b'\n', &block).map_or(0, |end| end + 1));
            }
            let mut from = 0;
            for end in memchr::memchr_iter(b'\n', &block).chain([block.len()]) {
                if block.get(from..end).is_some_and(is_row) {
                    offsets.push(start + from as u64);
                }
                from = end + 1;
            }
            take(&block)?;
            start += block.len() as u64;
            if is_end {
                offsets.push(start);
                return Ok(Self { path: path.to_owned(), file: file.into_inner(), offsets });
            }
        }
    }

    /// The row at this place, without its line end.
    pub(crate) fn line(&self, at: usize) -> Result<Option<Vec<u8>>, ViewError> {
        let (Some(start), Some(end)) =
            (self.offsets.get(at), self.offsets.get(at.saturating_add(1)))
        else {
            return Ok(None);
        };
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(LINE_BYTES_MAX)];
        let read = self.file.read_exact_at(&mut bytes, *start);
        read.map_err(|source| ViewError::io(&self.path, source))?;
        bytes.truncate(bytes.trim_ascii_end().len());
        Ok(Some(bytes))
    }

    /// The row at this place.
    pub(crate) fn value(&self, at: usize) -> Result<Option<Value>, ViewError> {
        let value = self.line(at)?.map(|line| serde_json::from_slice(&line)).transpose();
        value.map_err(|why| ViewError::Data(Box::new(why)))
    }
}
