//! Verdicts as Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use assay_verifiers::{FaultKind, Outcome, Reward, Scored};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::error::DataError;

/// How many rows are turned into columns at once.
const BATCH_ROWS: usize = 1024;

/// How large a row group grows, in bytes of what it encodes to.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// What the column of a single reward starts with.
const REWARD_PREFIX: &str = "reward.";

/// Writes verdicts as Parquet: the columns `id`, `group`, `outcome`, `reward`, `fault`, `why`, a
/// `reward.<name>` for each reward, and `verdicts`, as JSON. The same rows give the same bytes.
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    names: Vec<String>,
    rows: Vec<Scored>,
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
        Ok(Self { writer, schema, names: names.to_vec(), rows: Vec::new() })
    }

    /// Adds a row.
    pub fn write(&mut self, row: Scored) -> Result<(), DataError> {
        let odd = row.verdicts.iter().find(|(name, _)| !self.names.iter().any(|have| have == name));
        if let Some((name, _)) = odd {
            let why = format!("row {:?} has a reward {name:?}, which the file has not", row.id);
            return Err(DataError::Write { why });
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

    fn columns(&self, rows: &[Scored]) -> Vec<ArrayRef> {
        let optional = |read: fn(&Scored) -> Option<&str>| -> ArrayRef {
            Arc::new(rows.iter().map(read).collect::<StringArray>())
        };
        let text = |read: fn(&Scored) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(read)))
        };
        let fault: StringArray =
            rows.iter().map(|row| fault(row).map(|kind| kind.to_string())).collect();
        let mut columns = vec![
            text(|row| &row.id),
            optional(|row| row.group.as_deref()),
            text(|row| row.outcome.name()),
            Arc::new(rows.iter().map(Scored::reward).collect::<Float64Array>()),
            Arc::new(fault),
            optional(|row| row.outcome.why()),
        ];
        for name in &self.names {
            let reward = |row: &Scored| row.verdict(name)?.outcome.reward().map(Reward::get);
            columns.push(Arc::new(rows.iter().map(reward).collect::<Float64Array>()));
        }
        // Neither keys nor values can fail to be written: keys are text and numbers are finite.
        let verdicts =
            rows.iter().map(|row| serde_json::to_string(&row.verdicts).unwrap_or_default());
        columns.push(Arc::new(StringArray::from_iter_values(verdicts)));
        columns
    }
}

fn fault(row: &Scored) -> Option<FaultKind> {
    match &row.outcome {
        Outcome::Failed(fault) => Some(fault.kind),
        Outcome::Scored(_) | Outcome::Abstained(_) => None,
    }
}

fn schema(names: &[String]) -> SchemaRef {
    let mut fields = vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("group", DataType::Utf8, true),
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

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use assay_verifiers::{Fault, Verdict, Verdicts};
    use serde_json::{Map, Value};

    use super::super::cells;
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

    /// The verdict line of a row of columns.
    fn scored(mut row: Map<String, Value>) -> Scored {
        let Some(Value::String(verdicts)) = row.remove("verdicts") else { panic!("no verdicts") };
        row.retain(|column, _| !column.starts_with(REWARD_PREFIX));
        let columns = serde_json::to_string(&row).unwrap();
        let columns = columns.strip_suffix('}').unwrap();
        serde_json::from_str(&format!("{columns},\"verdicts\":{verdicts}}}")).unwrap()
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
            let row = |at| scored(cells::row(&batch, at, &limits).unwrap());
            back.extend((0..batch.num_rows()).map(row));
        }
        assert_eq!(back, rows());
    }

    #[test]
    fn a_row_has_no_reward_that_the_file_has_not() {
        let mut writer = ParquetWriter::new(Vec::new(), &["math".to_owned()]).unwrap();
        let why = writer.write(rows().remove(0)).unwrap_err().to_string();
        let expected = "row \"../../0\" has a reward \"format\", which the file has not";
        assert_eq!(why, format!("parquet output: {expected}"));
    }
}
