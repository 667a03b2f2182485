//! The rows of the data, found again by where they are in their files.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use crate::error::ViewError;
use crate::index::read_at;
use crate::row::{DataRows, RowText};

const BUFFER_BYTES: usize = 1 << 20;

/// The data of a run, as the command reads them.
pub trait RunData: Send + Sync {
    /// All rows in their order.
    ///
    /// # Errors
    /// Data that cannot be read.
    fn rows(&self) -> Result<DataRows<'_>, ViewError>;

    /// The row of one line of [`RunData::files`]; its number is of no account.
    fn row(&self, line: &[u8]) -> Option<RowText>;

    /// Files of JSON lines, one after another, with a line for each row.
    fn files(&self) -> &[PathBuf];
}

/// Where the rows of the data are.
pub(crate) struct DataIndex {
    files: Vec<DataFile>,
}

/// One file of lines.
pub(crate) struct DataFile {
    path: PathBuf,
    pub(crate) file: File,
    /// The number of its first row.
    pub(crate) first: u64,
    /// Where each row starts and where the last one ends. Blank lines belong to the row before.
    pub(crate) offsets: Vec<u64>,
}

impl DataIndex {
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, ViewError> {
        let (mut files, mut first) = (Vec::new(), 0);
        for path in paths {
            let io = |source| ViewError::io(path, source);
            let mut file = File::open(path).map_err(io)?;
            let offsets = offsets(&mut file).map_err(io)?;
            let rows = offsets.len() as u64 - 1;
            files.push(DataFile { path: path.clone(), file, first, offsets });
            first += rows;
        }
        Ok(Self { files })
    }

    pub(crate) fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// The line of the row with this number.
    pub(crate) fn line(&self, number: u64) -> Result<Option<Vec<u8>>, ViewError> {
        let after = self.files.partition_point(|file| file.first <= number);
        let Some(file) = after.checked_sub(1).and_then(|at| self.files.get(at)) else {
            return Ok(None);
        };
        let Ok(at) = usize::try_from(number - file.first) else { return Ok(None) };
        let (Some(start), Some(end)) = (file.offsets.get(at), file.offsets.get(at + 1)) else {
            return Ok(None);
        };
        let line = read_at(&file.file, *start, *end);
        line.map(Some).map_err(|source| ViewError::io(&file.path, source))
    }
}

/// Where the lines of a file start that are not blank, and where it ends.
fn offsets(file: &mut File) -> std::io::Result<Vec<u64>> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut offsets = Vec::new();
    let (mut at, mut is_blank, mut start) = (0_u64, true, 0);
    loop {
        let read = file.read(&mut buffer)?;
        let (bytes, _) = buffer.split_at(read);
        if bytes.is_empty() {
            offsets.push(at);
            return Ok(offsets);
        }
        let mut from = 0;
        while from < bytes.len() {
            let rest = bytes.split_at(from).1;
            let end = memchr::memchr(b'\n', rest);
            let line = end.map_or(rest, |end| rest.split_at(end).0);
            if is_blank && line.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
                is_blank = false;
                offsets.push(start);
            }
            from += line.len() + usize::from(end.is_some());
            if end.is_some() {
                is_blank = true;
                start = at + from as u64;
            }
        }
        at += read as u64;
    }
}
