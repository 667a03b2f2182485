//! The rows of the data, found again by where they are in their files.

use std::path::PathBuf;

use assay_verifiers::stats::fnv1a;
use serde::Serialize;

use crate::error::ViewError;
use crate::lines::LinesFile;

/// A row of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowText {
    /// Its number over the whole input, from 0.
    #[serde(skip)]
    pub number: u64,
    /// The id under which a run has it.
    pub id: String,
    /// What was asked.
    pub prompt: String,
    /// What was judged.
    pub completion: String,
    /// What a right completion comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// One pass over the data.
pub(crate) fn data_rows(data: &dyn RunData) -> Result<Vec<DataRow>, ViewError> {
    let (mut prompt, mut last) = (0, None);
    let row = |row: Result<RowText, ViewError>| {
        let row = row?;
        prompt += u32::from(last.as_ref().is_some_and(|last| *last != row.prompt));
        last = Some(row.prompt);
        let (id, chars) = (fnv1a(0, &row.id), row.completion.chars().count());
        Ok(DataRow { number: row.number, id, chars, prompt })
    };
    data.rows()?.map(row).collect()
}

/// The files, each with the number of its first row.
pub(crate) fn data_files(paths: &[PathBuf]) -> Result<Vec<(u64, LinesFile)>, ViewError> {
    let mut first = 0;
    let file = |path: &PathBuf| {
        let file = LinesFile::read(path, true, |_| Ok(()))?;
        let own = first;
        first += file.offsets.len() as u64 - 1;
        Ok((own, file))
    };
    paths.iter().map(file).collect()
}
