//! Verdicts as Parquet, and back.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value};

use super::cells;
use super::error::DataError;
use super::limits::Limits;
use super::table::Table;
use super::verdict::VerdictRow;

/// How many rows are turned into columns at once.
const BATCH_ROWS: usize = 1024;

/// How large a row group grows, in bytes of what it encodes to.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// What the column of a single reward starts with.
const REWARD_PREFIX: &str = "reward.";

/// Writes verdicts as Parquet: the columns `id`, `outcome`, `reward`, `fault`, `why`, a
/// `reward.<name>` for each reward, and `verdicts`. The same rows give the same bytes.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    names: usize,
    rows: Vec<VerdictRow>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file whose rewards have these names.
    pub fn new(out: W, names: &[String]) -> Result<Self, DataError> {
        let schema = schema(names);
        let level = ZstdLevel::try_new(3).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("assay".to_owned())
            .build();
        // The columns are plain; an embedded Arrow schema would only tie the bytes to a version.
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer =
            ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options).map_err(failed)?;
        Ok(Self { writer, schema, names: names.len(), rows: Vec::new() })
    }

    /// Adds a row.
    pub fn write(&mut self, row: VerdictRow) -> Result<(), DataError> {
        if row.rewards.len() != self.names {
            let (has, wants) = (row.rewards.len(), self.names);
            return Err(DataError::Write {
                why: format!("a row has {has} rewards; the file has {wants}"),
            });
        }
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
        let rows = std::mem::take(&mut self.rows);
        let batch =
            RecordBatch::try_new(Arc::clone(&self.schema), self.columns(&rows)).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > ROW_GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }

    fn columns(&self, rows: &[VerdictRow]) -> Vec<ArrayRef> {
        let text = |read: fn(&VerdictRow) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(read)))
        };
        let reward: Float64Array = rows.iter().map(|row| row.reward).collect();
        let optional = |read: fn(&VerdictRow) -> Option<&str>| -> ArrayRef {
            Arc::new(rows.iter().map(read).collect::<StringArray>())
        };
        let mut columns = vec![
            text(|row| &row.id),
            text(|row| &row.outcome),
            Arc::new(reward),
            optional(|row| row.fault.as_deref()),
            optional(|row| row.why.as_deref()),
        ];
        for at in 0..self.names {
            let rewards = rows.iter().map(|row| row.rewards.get(at).copied().flatten());
            columns.push(Arc::new(rewards.collect::<Float64Array>()));
        }
        columns.push(text(|row| &row.verdicts));
        columns
    }
}

fn schema(names: &[String]) -> SchemaRef {
    let mut fields = vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("outcome", DataType::Utf8, false),
        Field::new("reward", DataType::Float64, true),
        Field::new("fault", DataType::Utf8, true),
        Field::new("why", DataType::Utf8, true),
    ];
    let reward =
        |name: &String| Field::new(format!("{REWARD_PREFIX}{name}"), DataType::Float64, true);
    fields.extend(names.iter().map(reward));
    fields.push(Field::new("verdicts", DataType::Utf8, false));
    Arc::new(Schema::new(fields))
}

fn failed(error: impl std::fmt::Display) -> DataError {
    DataError::Write { why: error.to_string() }
}

/// Reads back what a [`ParquetWriter`] wrote.
pub struct VerdictReader {
    table: Table,
    file: String,
    names: Vec<String>,
    limits: Limits,
    /// Rows that are read already, the next one last.
    ready: Vec<VerdictRow>,
}

impl VerdictReader {
    /// Opens a file that messages call `name`.
    pub fn open(file: File, name: &str, limits: &Limits) -> Result<Self, DataError> {
        let table = Table::open(file, name, limits)?;
        let names = table.columns().filter_map(|column| column.strip_prefix(REWARD_PREFIX));
        let names = names.map(str::to_owned).collect();
        Ok(Self { table, file: name.to_owned(), names, limits: *limits, ready: Vec::new() })
    }

    /// The names of the rewards.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&mut self) -> Result<Option<VerdictRow>, DataError> {
        while self.ready.is_empty() {
            let Some((first, batch)) = self.table.next(&self.file)? else { return Ok(None) };
            for at in (0..batch.num_rows()).rev() {
                let number = first + at as u64;
                let row = cells::row(&batch, at, &self.limits).map_err(|defect| defect.to_string());
                let row = row.and_then(|row| self.verdicts(row));
                self.ready.push(row.map_err(|why| DataError::Damaged {
                    file: self.file.clone(),
                    form: "parquet",
                    rows: number - 1,
                    why,
                })?);
            }
        }
        Ok(self.ready.pop())
    }

    fn verdicts(&self, mut row: Map<String, Value>) -> Result<VerdictRow, String> {
        let mut text = |column: &str| match row.remove(column) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(format!("column \"{column}\" has no text")),
        };
        let (id, outcome, verdicts) = (text("id")?, text("outcome")?, text("verdicts")?);
        let (fault, why) = (text("fault").ok(), text("why").ok());
        let number = |column: &str| row.get(column).and_then(Value::as_f64);
        let rewards =
            self.names.iter().map(|name| number(&format!("{REWARD_PREFIX}{name}"))).collect();
        Ok(VerdictRow { id, outcome, reward: number("reward"), fault, why, rewards, verdicts })
    }
}

impl Iterator for VerdictReader {
    type Item = Result<VerdictRow, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    fn rows() -> Vec<VerdictRow> {
        let row = |at: u32| VerdictRow {
            id: format!("../../{at}"),
            outcome: if at.is_multiple_of(3) { "failed" } else { "scored" }.to_owned(),
            reward: (!at.is_multiple_of(3)).then_some(f64::from(at) / 7.0),
            fault: at.is_multiple_of(3).then(|| "BadInput".to_owned()),
            why: at.is_multiple_of(6).then(|| format!("row {at}")),
            rewards: vec![at.is_multiple_of(2).then_some(0.1), Some(-0.5)],
            verdicts: format!("{{\"math\":{{\"why\":\"{}\"}}}}", "x".repeat(at as usize % 50)),
        };
        (0..3000).map(row).collect()
    }

    fn written(names: &[String]) -> Vec<u8> {
        let mut writer = ParquetWriter::new(Vec::new(), names).unwrap();
        for row in rows() {
            writer.write(row).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn verdicts_come_back_as_they_were_and_the_bytes_are_the_same() {
        let names = ["math".to_owned(), "format".to_owned()];
        let bytes = written(&names);
        assert_eq!(bytes, written(&names));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        let reader = VerdictReader::open(file, "verdicts.parquet", &Limits::default()).unwrap();
        assert_eq!(reader.names(), names);
        let back: Vec<VerdictRow> = reader.map(Result::unwrap).collect();
        assert_eq!(back, rows());
    }

    #[test]
    fn a_row_must_have_every_reward() {
        let mut writer = ParquetWriter::new(Vec::new(), &["math".to_owned()]).unwrap();
        let why = writer.write(rows().remove(0)).unwrap_err().to_string();
        assert_eq!(why, "parquet output: a row has 2 rewards; the file has 1");
    }
}
