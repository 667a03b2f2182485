//! A file of lines that is read by its places.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::error::ViewError;

/// The longest line that is read.
const LINE_BYTES_MAX: usize = 256 << 20;

/// What a thread came to.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A file of lines, and where each row starts in it and the last one ends.
pub(crate) struct LinesFile {
    path: PathBuf,
    pub(crate) file: File,
    pub(crate) offsets: Vec<u64>,
}

impl LinesFile {
    /// A file whose rows are not known yet.
    pub(crate) fn open(path: &Path) -> Result<Self, ViewError> {
        let io = |source| ViewError::io(path, source);
        let file = File::open(path).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            return Err(ViewError::damaged(path, "is not a file"));
        }
        Ok(Self { path: path.to_owned(), file, offsets: Vec::new() })
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

    /// Fills the buffer with bytes from a place on, and gives those that are whole lines. Of the last line
    /// there is no more where it has no end.
    pub(crate) fn lines<'a>(
        &self,
        start: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], ViewError> {
        let mut filled = 0;
        loop {
            let read = self.file.read_at(buffer.split_at_mut(filled).1, start + filled as u64);
            let read = read.map_err(|source| ViewError::io(&self.path, source))?;
            filled += read;
            if read > 0 && filled < buffer.len() {
                continue;
            }
            let lines = memchr::memrchr(b'\n', buffer.split_at(filled).0).map_or(0, |end| end + 1);
            if read == 0 || lines > 0 {
                return Ok(buffer.split_at(lines).0);
            }
            if filled >= LINE_BYTES_MAX {
                return Err(ViewError::damaged(&self.path, "a line is longer than 256 MiB"));
            }
            buffer.resize(2 * filled, 0);
        }
    }
}
