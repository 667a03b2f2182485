//! The rows of the data, found again by where they are in their files.

use std::path::PathBuf;

use assay_verifiers::stats::fnv1a;

use crate::error::ViewError;
use crate::lines::LinesFile;

const BUFFER_BYTES: usize = 1 << 20;

/// A row of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowText {
    /// Its number over the whole input, from 0.
    pub number: u64,
    /// The id under which a run has it.
    pub id: String,
    /// What was asked.
    pub prompt: String,
    /// What was judged.
    pub completion: String,
    /// What a right completion comes to.
    pub reference: Option<String>,
}

/// The rows of the data, in their order.
pub type DataRows<'a> = Box<dyn Iterator<Item = Result<RowText, ViewError>> + 'a>;

/// The data of a run, as the command reads them.
pub trait RunData: Send + Sync {
    /// Reads the files whole: whether they are what was scored, else why not.
    fn check(&self) -> Result<(), String>;

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

/// What one pass over the data finds of a row.
pub(crate) struct DataRow {
    pub(crate) number: u64,
    /// A digest of its id.
    pub(crate) id: u64,
    /// Characters of its completion.
    pub(crate) chars: usize,
    /// Rows that follow each other with one prompt have the same.
    pub(crate) prompt: u32,
}

/// One pass over the data. `is_ended` stops it.
pub(crate) fn data_rows(
    data: &dyn RunData,
    is_ended: &dyn Fn() -> bool,
) -> Result<Vec<DataRow>, ViewError> {
    let (mut rows, mut prompt, mut last) = (Vec::new(), 0, None);
    for row in data.rows()? {
        let row = row?;
        if is_ended() {
            break;
        }
        prompt += u32::from(last.is_some_and(|last| last != row.prompt));
        last = Some(row.prompt);
        let (id, chars) = (fnv1a(0, &row.id), row.completion.chars().count());
        rows.push(DataRow { number: row.number, id, chars, prompt });
    }
    Ok(rows)
}

/// The files, each with the number of its first row. Blank lines belong to the row before.
pub(crate) fn data_files(paths: &[PathBuf]) -> Result<Vec<(u64, LinesFile)>, ViewError> {
    let (mut files, mut first) = (Vec::new(), 0);
    let mut buffer = vec![0; BUFFER_BYTES];
    let is_row = |line: &[u8]| line.iter().any(|byte| !byte.is_ascii_whitespace());
    for path in paths {
        let mut file = LinesFile::open(path)?;
        let mut start = 0;
        loop {
            let lines = file.lines(start, &mut buffer)?;
            let mut from = 0;
            for end in memchr::memchr_iter(b'\n', lines) {
                if lines.get(from..end).is_some_and(is_row) {
                    file.offsets.push(start + from as u64);
                }
                from = end + 1;
            }
            start += lines.len() as u64;
            if lines.is_empty() {
                break;
            }
        }
        // The last row may have no line end.
        let size = file.file.metadata().map_err(|source| ViewError::io(path, source))?.len();
        let count = file.offsets.len();
        file.offsets.extend([start, size]);
        if !file.line(count)?.is_some_and(|line| is_row(&line)) {
            file.offsets.remove(count);
        }
        let rows = file.offsets.len() as u64 - 1;
        files.push((first, file));
        first += rows;
    }
    Ok(files)
}

/// The line of the row with this number over all files.
pub(crate) fn data_line(
    files: &[(u64, LinesFile)],
    number: u64,
) -> Result<Option<Vec<u8>>, ViewError> {
    let own = files.iter().rev().find(|(first, _)| *first <= number);
    let Some((first, file)) = own else { return Ok(None) };
    file.line(usize::try_from(number - first).unwrap_or(usize::MAX - 1))
}
