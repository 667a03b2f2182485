//! Parquet out: verdicts, and rows of any columns.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use assay_verifiers::Scored;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::error::DataError;
use super::found_columns::{CellType, FoundColumns};
use super::verdict_columns::VerdictColumns;

/// How many rows are turned into columns at once.
const BATCH_ROWS: usize = 1024;

/// How large a row group grows, in bytes of what it encodes to.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Writes verdicts as Parquet, in the columns of [`VerdictColumns`]. The same rows give the same
/// bytes.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    columns: VerdictColumns,
    rows: Vec<Scored>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file whose rewards have these names.
    pub fn new(out: W, names: &[String]) -> Result<Self, DataError> {
        let columns = VerdictColumns::new(names);
        let writer = arrow_writer(out, columns.schema())?;
        Ok(Self { writer, columns, rows: Vec::new() })
    }

    /// Adds a row.
    pub fn write(&mut self, row: Scored) -> Result<(), DataError> {
        self.columns.check(&row)?;
        self.rows.push(row);
        if self.rows.len() == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Ends the file and gives back what it was written to.
    pub fn finish(mut self) -> Result<W, DataError> {
        self.flush()?;
        self.writer.into_inner().map_err(failed)
    }

    fn flush(&mut self) -> Result<(), DataError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let batch = self.columns.batch(&std::mem::take(&mut self.rows))?;
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > ROW_GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }
}

/// A writer whose bytes follow from the columns.
fn arrow_writer<W: Write + Send>(out: W, schema: &SchemaRef) -> Result<ArrowWriter<W>, DataError> {
    let level = ZstdLevel::try_new(3).map_err(failed)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by("assay".to_owned())
        .build();
    // The columns are plain; an embedded Arrow schema would only tie the bytes to a version.
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    ArrowWriter::try_new_with_options(out, Arc::clone(schema), options).map_err(failed)
}

/// Writes rows of any columns as Parquet: cells as JSON text, by the types that were found.
pub struct TableWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    types: Vec<CellType>,
    cells: Vec<Vec<Option<String>>>,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a file with these columns.
    pub fn new(out: W, columns: &FoundColumns) -> Result<Self, DataError> {
        let field = |(name, kind): (&str, CellType)| {
            let data_type = match kind {
                CellType::Bool => DataType::Boolean,
                CellType::Integer => DataType::Int64,
                CellType::Number => DataType::Float64,
                CellType::Text | CellType::Json => DataType::Utf8,
            };
            Field::new(name, data_type, true)
        };
        let schema: SchemaRef =
            Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let types: Vec<CellType> = columns.iter().map(|(_, kind)| kind).collect();
        let writer = arrow_writer(out, &schema)?;
        let cells = types.iter().map(|_| Vec::new()).collect();
        Ok(Self { writer, schema, types, cells })
    }

    /// Adds a row: a cell for each column, as JSON; `None` is null.
    pub fn write(
        &mut self,
        row: impl IntoIterator<Item = Option<String>>,
    ) -> Result<(), DataError> {
        for (column, cell) in self.cells.iter_mut().zip(row) {
            column.push(cell);
        }
        let rows = self.cells.first().map_or(0, Vec::len);
        if rows == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Ends the file and gives back what it was written to.
    pub fn finish(mut self) -> Result<W, DataError> {
        self.flush()?;
        self.writer.into_inner().map_err(failed)
    }

    fn flush(&mut self) -> Result<(), DataError> {
        let columns = self.types.iter().zip(&mut self.cells);
        let columns: Vec<ArrayRef> =
            columns.map(|(kind, cells)| column(*kind, &std::mem::take(cells))).collect();
        if columns.first().is_none_or(|column| column.is_empty()) {
            return Ok(());
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > ROW_GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }
}

/// A column of cells.
fn column(kind: CellType, cells: &[Option<String>]) -> ArrayRef {
    let cells = cells.iter().map(Option::as_deref);
    match kind {
        CellType::Bool => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<BooleanArray>()),
        CellType::Integer => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Int64Array>()),
        CellType::Number => {
            Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Float64Array>())
        }
        CellType::Text => {
            let text = |cell: Option<&str>| serde_json::from_str::<String>(cell?).ok();
            Arc::new(cells.map(text).collect::<StringArray>())
        }
        CellType::Json => Arc::new(cells.collect::<StringArray>()),
    }
}

fn failed(error: impl std::fmt::Display) -> DataError {
    DataError::Write { why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use assay_verifiers::{Fault, Reward, Verdict, Verdicts};

    use super::super::limits::ReadLimits;
    use super::super::table::Table;
    use super::*;

    fn rows() -> Vec<Scored> {
        let names: Arc<[String]> = names().into();
        let verdict = |at: u32| match at % 3 {
            0 => Verdict::failed(Fault::bad_input(format!("row {at}"))),
            1 => Verdict::scored(Reward::new(f64::from(at) / 7.0).unwrap())
                .with("z", at)
                .with("a", 1),
            _ => Verdict::abstained("x".repeat(at as usize % 50)),
        };
        let row = |at: u32| Scored {
            id: format!("../../{at}"),
            group: at.is_multiple_of(4).then(|| "g".to_owned()),
            outcome: verdict(at).outcome,
            verdicts: Verdicts::new(Arc::clone(&names), vec![verdict(at), verdict(at + 1)]),
            spent_ns: Vec::new(),
        };
        (0..3000).map(row).collect()
    }

    fn names() -> [String; 2] {
        ["math".to_owned(), "format".to_owned()]
    }

    fn written(names: &[String]) -> Vec<u8> {
        let mut writer = ParquetWriter::new(Vec::new(), names).unwrap();
        for row in rows() {
            writer.write(row).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn nothing_of_a_line_is_lost_and_the_bytes_are_the_same() {
        let names = names();
        let bytes = written(&names);
        assert_eq!(bytes, written(&names));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        let limits = ReadLimits::default();
        let mut table = Table::open(file, "verdicts.parquet", &limits).unwrap();
        let mut back = Vec::new();
        while let Some((_, batch)) = table.next("verdicts.parquet").unwrap() {
            back.extend(VerdictColumns::lines(&batch).unwrap());
        }
        let line = |row: &Scored| serde_json::to_string(row).unwrap() + "\n";
        assert_eq!(String::from_utf8(back).unwrap(), rows().iter().map(line).collect::<String>());
    }

    #[test]
    fn a_row_has_no_reward_that_the_file_has_not() {
        let mut writer = ParquetWriter::new(Vec::new(), &["math".to_owned()]).unwrap();
        let why = writer.write(rows().remove(0)).unwrap_err().to_string();
        let expected = "row \"../../0\" has a reward \"format\", which the columns have not";
        assert_eq!(why, format!("verdict columns: {expected}"));
    }
}
