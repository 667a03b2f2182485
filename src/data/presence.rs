//! Whether the rows have the columns that a configuration names: a name that no row has is a slip, which
//! would otherwise come out as rewards that abstain.

use std::collections::VecDeque;

use assay_verifiers::column_path::at;
use serde_json::{Map, Value};

use super::columns::{Columns, has_column};
use super::error::DataError;
use super::source::{Block, Source};

/// So many rows are looked at.
const ROWS_MAX: u64 = 1000;
/// The most names of columns that a message lists.
const NAMES_MAX: usize = 20;
/// The most files that a message lists.
const FILES_MAX: usize = 5;

/// Blocks of which the first rows are looked at, before any is handed on, for as long as a column that
/// the configuration names was in none of them.
pub struct Checked<S> {
    source: S,
    /// The columns that were in no row yet. `None` once all is decided.
    absent: Option<Vec<Named>>,
    waiting: VecDeque<Result<Block, DataError>>,
    rows: u64,
    /// The names of the columns that rows have.
    has: Vec<String>,
    files: Vec<String>,
}

/// A column that is named.
struct Named {
    key: String,
    column: String,
    /// Where else it may stand: what verifiers read is metadata.
    also: Option<String>,
}

impl Checked<Source> {
    /// Looks at the first rows of `source` for the columns that are named, unless they are `optional`.
    /// Data without any row are an error.
    pub fn new(source: Source, columns: &Columns) -> Self {
        let named = if columns.optional { Vec::new() } else { columns.named() };
        let named = named.into_iter().map(|(key, column)| Named {
            key: format!("data.{key}"),
            column: column.to_owned(),
            also: None,
        });
        let absent = named.collect();
        let files = source.shown().take(FILES_MAX).map(ToString::to_string).collect();
        let (waiting, has) = (VecDeque::new(), Vec::new());
        Self { source, absent: Some(absent), waiting, rows: 0, has, files }
    }

    /// Looks for columns of metadata too, which are given by the keys that name them.
    #[must_use]
    pub fn and_meta(mut self, columns: &Columns, named: Vec<(String, String)>) -> Self {
        let meta = columns.meta.as_deref().unwrap_or("meta");
        let named = named.into_iter().filter(|_| !columns.optional).map(|(key, column)| {
            let also = Some(format!("{meta}.{column}"));
            Named { key, column, also }
        });
        self.absent.get_or_insert_default().extend(named);
        self
    }
}

impl<S: Iterator<Item = Result<Block, DataError>>> Checked<S> {
    /// Reads until every column was seen, or enough rows were.
    fn decide(&mut self, mut absent: Vec<Named>) {
        loop {
            let block = match self.source.next() {
                Some(Ok(block)) => block,
                Some(Err(error)) => return self.waiting.push_back(Err(error)),
                None if self.rows == 0 => {
                    let files = std::mem::take(&mut self.files);
                    return self.waiting.push_back(Err(DataError::NoRows { files }));
                }
                None => break,
            };
            self.rows += block.len() as u64;
            if !absent.is_empty() {
                self.look(&block, &mut absent);
            }
            self.waiting.push_back(Ok(block));
            if absent.is_empty() || self.rows >= ROWS_MAX {
                break;
            }
        }
        // Where no row can be read, what is wrong with the first of them is said.
        let named = absent.into_iter().next().filter(|_| !self.has.is_empty());
        if let Some(Named { key, column, .. }) = named {
            self.waiting.clear();
            let (rows, has) = (self.rows, std::mem::take(&mut self.has));
            self.waiting.push_back(Err(DataError::NoColumn { key, column, rows, has }));
        }
    }

    fn look(&mut self, block: &Block, absent: &mut Vec<Named>) {
        for text in block.objects().into_iter().flatten() {
            let row: Map<String, Value> = match serde_json::from_str(&text) {
                Ok(row) => row,
                // Whoever reads the row says what is wrong with it.
                Err(_) => continue,
            };
            // Text is read as JSON on the way to a column of `[data]`, and not to metadata.
            let is_meta = |path: &str| at(&row, path).is_some_and(|value| !value.is_null());
            absent.retain(|Named { column, also, .. }| match also {
                Some(also) => !is_meta(column) && !is_meta(also),
                None => !has_column(&row, column),
            });
            for name in row.keys() {
                if self.has.len() < NAMES_MAX && !self.has.contains(name) {
                    self.has.push(name.clone());
                }
            }
            if absent.is_empty() {
                return;
            }
        }
    }
}

impl<S: Iterator<Item = Result<Block, DataError>>> Iterator for Checked<S> {
    type Item = Result<Block, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(absent) = self.absent.take() {
            self.decide(absent);
        }
        self.waiting.pop_front().or_else(|| self.source.next())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::limits::ReadLimits;
    use super::super::source::Source;
    use super::*;

    fn rows(columns: &Columns, text: &'static str) -> Result<usize, String> {
        let source = Source::stream("a.jsonl", Cursor::new(text), &ReadLimits::default());
        let blocks = Checked::new(source.unwrap(), columns);
        let read: Result<Vec<Block>, DataError> = blocks.collect();
        read.map(|blocks| blocks.iter().map(Block::len).sum()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_column_that_no_row_has_is_named_with_what_there_is() {
        let columns = Columns { reference: "anwser".to_owned(), ..Columns::default() };
        let text = "{\"completion\": \"1\", \"answer\": 1}\n";
        let error = rows(&columns, text).unwrap_err();
        assert!(error.contains("data.reference = \"anwser\": not in the only row"), "{error}");
        assert!(error.contains("have: answer, completion; did you mean \"answer\"?"), "{error}");
        assert_eq!(rows(&Columns { optional: true, ..columns }, text), Ok(1));
        // What is not named may be missing; one row with a column is enough, wherever it is nested.
        assert_eq!(rows(&Columns::default(), text), Ok(1));
        let nested = Columns { label: Some("extra.gold".to_owned()), ..Columns::default() };
        assert_eq!(rows(&nested, "{\"a\": 1}\nnot json\n{\"extra\": {\"gold\": true}}\n"), Ok(3));
        assert!(rows(&nested, "{\"extra\": {\"gold\": null}}\n").is_err());
    }

    #[test]
    fn columns_of_verifiers_are_looked_for_in_the_metadata() {
        let columns = Columns::default();
        for (text, is_there) in [
            ("{\"completion\": \"1\", \"choices\": []}\n", true),
            ("{\"completion\": \"1\", \"meta\": {\"choices\": []}}\n", true),
            ("{\"completion\": \"1\", \"choises\": []}\n", false),
        ] {
            let source = Source::stream("a.jsonl", Cursor::new(text), &ReadLimits::default());
            let named = vec![("reward[0].config.options".to_owned(), "choices".to_owned())];
            let mut blocks = Checked::new(source.unwrap(), &columns).and_meta(&columns, named);
            match blocks.next().unwrap() {
                Ok(_) => assert!(is_there, "{text}"),
                Err(error) => assert!(
                    !is_there && error.to_string().contains("did you mean \"choises\"?"),
                    "{error}"
                ),
            }
        }
    }

    #[test]
    fn data_without_a_row_are_an_error() {
        assert!(rows(&Columns::default(), "\n \n").unwrap_err().contains("no rows"));
    }
}
