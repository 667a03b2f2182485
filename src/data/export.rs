//! Verdicts as Parquet.

use std::io::Write;
use std::sync::Arc;

use assay_verifiers::Scored;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::error::DataError;
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
        let level = ZstdLevel::try_new(3).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("assay".to_owned())
            .build();
        // The columns are plain; an embedded Arrow schema would only tie the bytes to a version.
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let schema = Arc::clone(columns.schema());
        let writer = ArrowWriter::try_new_with_options(out, schema, options).map_err(failed)?;
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
