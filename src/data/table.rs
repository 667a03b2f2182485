//! A Parquet file, read page by page under limits.
//!
//! Nothing in the file is trusted: the footer and every page header are checked before the decoder
//! sees the pages, and a panic of the decoder is an error like any other. Text is read as views
//! into its pages, so that a value that a dictionary repeats is held once.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use assay_verifiers::code::Code;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::cut::{check_depth, check_readable, halve};
use super::error::{DataError, escape, escape_whole};
use super::limits::ReadLimits;
use super::lines::BLOCK_ROWS;
use super::pages::{Bad, Page};

/// How many values of one nested column a batch holds, where its rows are alike.
const BATCH_VALUES: i64 = 1 << 20;

/// How much a batch may take where a dictionary repeats values of fixed width.
const BATCH_FIXED_BYTES: i64 = 64 << 20;

/// How much a batch may take where each value is written as a change of the one before.
const BATCH_DELTA_BYTES: i64 = 32 << 20;

/// Pages up to here may be compressed as well as they like.
const PAGE_FREE_BYTES: i64 = 16 << 20;

/// How many rows a file may have, however small it is.
const ROWS_FREE: u64 = 1 << 20;

/// The longest value of a column of fixed width, in bytes.
const FIXED_BYTES_MAX: i32 = 64 << 10;

/// How much of what the decoder says is passed on, in characters.
const WHY_MAX: usize = 300;

/// `DELTA_BYTE_ARRAY`, as page headers write it.
const DELTA_BYTE_ARRAY: i64 = 7;

/// Rows as columns.
pub(super) type Batch = RecordBatch;

/// What the rows of a batch take in memory, in bytes.
pub(super) fn bytes(batch: &Batch) -> usize {
    let bytes = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    batch.columns().iter().map(bytes).sum()
}

/// A Parquet file that is being read.
pub(super) struct Table {
    file: File,
    file_bytes: u64,
    metadata: ArrowReaderMetadata,
    limits: ReadLimits,
    /// The row group that is read next.
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
    /// Batches that are still to be delivered, the next one last.
    ready: Vec<RecordBatch>,
    /// How many rows were decoded, and how many the footer promised up to here.
    rows: u64,
    rows_promised: u64,
    delivered: u64,
    packed: i64,
    unpacked: i64,
}

impl Table {
    pub(super) fn open(file: File, name: &str, limits: &ReadLimits) -> Result<Self, DataError> {
        let read = |source| DataError::Read { file: name.to_owned(), source };
        let file_bytes = file.metadata().map_err(read)?.len();
        footer(&file, file_bytes, limits).map_err(|why| damaged(name, 0, why))?;
        let metadata = guarded(|| {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            ArrowReaderMetadata::load(&file, options)
        });
        let metadata = metadata.map_err(|why| damaged(name, 0, why))?;
        check_columns(&metadata, limits).map_err(|what| refused(name, what))?;
        let schema = Arc::new(viewed(metadata.schema()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        let metadata =
            guarded(|| ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options));
        let metadata = metadata.map_err(|why| damaged(name, 0, why))?;
        check_readable(metadata.schema()).map_err(|what| DataError::unread(name, what))?;
        Ok(Self {
            file,
            file_bytes,
            metadata,
            limits: *limits,
            group: 0,
            reader: None,
            ready: Vec::new(),
            rows: 0,
            rows_promised: 0,
            delivered: 0,
            packed: 0,
            unpacked: 0,
        })
    }

    /// The share of the file that some of its rows make up, in bytes.
    pub(super) fn bytes_of(&self, rows: usize) -> u64 {
        let all = self.metadata.metadata().file_metadata().num_rows().unsigned_abs().max(1);
        let share = u128::from(self.file_bytes) * rows as u128 / u128::from(all);
        u64::try_from(share).unwrap_or(self.file_bytes)
    }

    /// The next batch and the number of its first row.
    pub(super) fn next(&mut self, name: &str) -> Result<Option<(u64, RecordBatch)>, DataError> {
        loop {
            if let Some(batch) = self.ready.pop() {
                let first = self.delivered + 1;
                self.delivered += batch.num_rows() as u64;
                return Ok(Some((first, batch)));
            }
            if self.reader.is_some() {
                self.decode(name)?;
            } else if self.group < self.metadata.metadata().num_row_groups() {
                self.start_group(name)?;
            } else {
                return Ok(None);
            }
        }
    }

    fn decode(&mut self, name: &str) -> Result<(), DataError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        match guarded(|| reader.next().transpose()).map_err(|why| damaged(name, self.rows, why))? {
            Some(batch) => {
                self.rows += batch.num_rows() as u64;
                halve(batch, &mut self.ready);
            }
            None if self.rows != self.rows_promised => {
                let why = format!("its footer promises {} rows", self.rows_promised);
                return Err(damaged(name, self.rows, why));
            }
            None => self.reader = None,
        }
        Ok(())
    }

    fn start_group(&mut self, name: &str) -> Result<(), DataError> {
        let metadata = Arc::clone(self.metadata.metadata());
        let Some(group) = metadata.row_groups().get(self.group) else { return Ok(()) };
        let damage = |why: String| damaged(name, self.rows, why);
        let promised = u64::try_from(group.num_rows());
        let promised =
            promised.map_err(|_| damage("a row group of fewer than no rows".to_owned()))?;
        let batch_rows = self.check_group(group, name)?;
        let damage = |why: String| damaged(name, self.rows, why);
        let reader = guarded(|| {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                self.file.try_clone()?,
                self.metadata.clone(),
            );
            builder.with_row_groups(vec![self.group]).with_batch_size(batch_rows).build()
        });
        self.reader = Some(reader.map_err(damage)?);
        self.rows_promised = self.rows_promised.saturating_add(promised);
        self.check_rows().map_err(|what| refused(name, what))?;
        self.group += 1;
        Ok(())
    }

    /// A run of nulls, or a file without columns, has as many rows as it likes to claim.
    fn check_rows(&self) -> Result<(), String> {
        let (rows, bytes) = (self.rows_promised, self.file_bytes);
        let most = bytes.saturating_mul(self.limits.inflate_ratio_max).saturating_add(ROWS_FREE);
        if rows <= most {
            return Ok(());
        }
        Err(format!("bomb: {rows} rows in {bytes} bytes; at most {most} are read"))
    }

    /// Holds a row group to the limits; says how many rows of it may be decoded at once.
    fn check_group(&mut self, group: &RowGroupMetaData, name: &str) -> Result<usize, DataError> {
        let most = self.limits.row_group_bytes_max;
        if u64::try_from(group.total_byte_size()).unwrap_or(u64::MAX) > most {
            let bytes = group.total_byte_size();
            return Err(refused(
                name,
                format!("a row group of {bytes} bytes; at most {most} are read"),
            ));
        }
        let mut batch_rows = BLOCK_ROWS;
        for column in group.columns() {
            batch_rows = batch_rows.min(self.check_column(column, group.num_rows(), name)?);
        }
        Ok(batch_rows)
    }

    fn check_column(
        &mut self,
        column: &ColumnChunkMetaData,
        rows: i64,
        name: &str,
    ) -> Result<usize, DataError> {
        let title = escape(&column.column_path().string());
        let refuse = |what: String| refused(name, format!("column \"{title}\": {what}"));
        let damage = |why: &str| damaged(name, self.rows, format!("column \"{title}\": {why}"));
        if column.file_path().is_some() {
            return Err(refuse("its values are in another file".to_owned()));
        }
        if let Some(codec) = unread_codec(column.compression()) {
            let why = format!("compressed with {codec}, which is not read; write it with zstd");
            return Err(refuse(why));
        }
        let offsets = [Some(column.data_page_offset()), column.dictionary_page_offset()];
        if column.compressed_size() < 0 || offsets.into_iter().flatten().any(|offset| offset < 0) {
            return Err(damage("its pages lie before the start of the file"));
        }
        let (start, length) = column.byte_range();
        let end = start.checked_add(length).filter(|end| *end <= self.file_bytes);
        let end = end.ok_or_else(|| damage("its pages lie beyond the end of the file"))?;
        let mut sums = Sums::default();
        let mut at = start;
        while at < end {
            let page = self.page(at, end).map_err(|why| damage(&why))?;
            at += page.header_bytes as u64 + page.packed_bytes.unsigned_abs();
            if page.packed_bytes < 0 || page.unpacked_bytes < 0 || page.values < 0 || at > end {
                return Err(damage("a page header claims an impossible size"));
            }
            self.check_page(&page).map_err(refuse)?;
            sums.add(&page);
        }
        self.packed = self.packed.saturating_add(sums.packed);
        self.unpacked = self.unpacked.saturating_add(sums.unpacked);
        self.check_sums(&sums).map_err(refuse)?;
        let descriptor = column.column_descr();
        if descriptor.max_rep_level() > 0 {
            sums.mean = sums.values / rows.max(1);
        }
        sums.width = i64::from(descriptor.type_length()).max(1);
        sums.batch_rows(&self.limits).map_err(refuse)
    }

    fn check_page(&self, page: &Page) -> Result<(), String> {
        let (packed, unpacked) = (page.packed_bytes, page.unpacked_bytes);
        let most = self.limits.page_bytes_max;
        if unpacked.unsigned_abs() > most {
            return Err(format!("a page of {unpacked} bytes; at most {most} are read"));
        }
        if unpacked > PAGE_FREE_BYTES {
            return self.check_ratio(packed, unpacked);
        }
        Ok(())
    }

    fn check_sums(&self, sums: &Sums) -> Result<(), String> {
        let most = self.limits.column_bytes_max;
        if sums.unpacked.unsigned_abs() > most {
            return Err(format!("{} bytes; at most {most} are read", sums.unpacked));
        }
        if self.unpacked.unsigned_abs() > self.limits.inflate_free_bytes {
            return self.check_ratio(self.packed, self.unpacked);
        }
        Ok(())
    }

    fn check_ratio(&self, packed: i64, unpacked: i64) -> Result<(), String> {
        let ratio = self.limits.inflate_ratio_max;
        if unpacked.unsigned_abs() <= packed.unsigned_abs().saturating_mul(ratio) {
            return Ok(());
        }
        Err(format!(
            "bomb: {unpacked} bytes come out of {packed}; at most {ratio} may come out of each"
        ))
    }

    /// Reads the header of the page at `at`. Most are short; statistics can make one long.
    fn page(&self, at: u64, end: u64) -> Result<Page, String> {
        for take in [512, 64 << 10, 4 << 20] {
            let mut bytes = Vec::new();
            (&self.file).seek(SeekFrom::Start(at)).map_err(|error| error.to_string())?;
            let mut limited = (&self.file).take((end - at).min(take));
            limited.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
            match Page::read(&bytes) {
                Ok(page) => return Ok(page),
                Err(Bad::Short) if end - at > take => {}
                Err(_) => break,
            }
        }
        Err("a page header that cannot be read".to_owned())
    }
}

/// What the pages of one column add up to.
#[derive(Default)]
struct Sums {
    packed: i64,
    unpacked: i64,
    values: i64,
    largest: i64,
    delta: bool,
    /// How many values a row has, in a column of lists.
    mean: i64,
    /// How many bytes a value has, in a column of fixed width.
    width: i64,
}

impl Sums {
    fn add(&mut self, page: &Page) {
        self.packed = self.packed.saturating_add(page.packed_bytes);
        self.unpacked = self.unpacked.saturating_add(page.unpacked_bytes);
        self.values = self.values.saturating_add(page.values);
        self.largest = self.largest.max(page.unpacked_bytes);
        self.delta |= page.encoding == DELTA_BYTE_ARRAY;
    }

    /// How many rows may be decoded at once.
    fn batch_rows(&self, limits: &ReadLimits) -> Result<usize, String> {
        let mean = self.mean.max(1);
        if mean.unsigned_abs() > limits.row_values_max as u64 {
            let most = limits.row_values_max;
            return Err(format!("{mean} values a row; at most {most} are read"));
        }
        let bytes = mean.saturating_mul(self.width);
        if bytes.unsigned_abs() > limits.row_bytes_max as u64 {
            let most = limits.row_bytes_max;
            return Err(format!("{bytes} bytes a row; at most {most} are read"));
        }
        let mut most = (BATCH_VALUES / mean).min(BATCH_FIXED_BYTES / bytes);
        if self.delta {
            most = most.min(BATCH_DELTA_BYTES / self.largest.max(1));
        }
        Ok(usize::try_from(most).unwrap_or(BLOCK_ROWS).clamp(1, BLOCK_ROWS))
    }
}

fn damaged(file: &str, rows: u64, why: impl Display) -> DataError {
    DataError::Damaged {
        file: file.to_owned(),
        form: "parquet",
        rows,
        why: escape_whole(why.to_string().chars().take(WHY_MAX)),
    }
}

fn refused(file: &str, what: String) -> DataError {
    DataError::Refused { file: file.to_owned(), code: Code::Limit, what }
}

/// The name of a codec that there is no decoder of.
fn unread_codec(codec: Compression) -> Option<&'static str> {
    match codec {
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZO => Some("lzo"),
        _ => None,
    }
}

/// Runs the decoder. It checks much and panics on some of the rest.
fn guarded<T, E: Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(decode)) {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("the decoder gave up on it".to_owned()),
    }
}

/// Reads the last bytes of the file, which say how long its footer is.
fn footer(mut file: &File, file_bytes: u64, limits: &ReadLimits) -> Result<(), String> {
    if file_bytes < 12 {
        return Err(format!("{file_bytes} bytes are too few"));
    }
    let mut tail = [0; 8];
    file.seek(SeekFrom::Start(file_bytes - 8)).map_err(|error| error.to_string())?;
    file.read_exact(&mut tail).map_err(|error| error.to_string())?;
    let [a, b, c, d, magic @ ..] = tail;
    match &magic {
        b"PAR1" => {}
        b"PARE" => return Err("its footer is encrypted".to_owned()),
        _ => return Err("it does not end in the magic bytes of its format".to_owned()),
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let most = limits.footer_bytes_max.min(file_bytes - 12);
    if length > most {
        return Err(format!("a footer of {length} bytes; at most {most} are possible"));
    }
    Ok(())
}

fn check_columns(metadata: &ArrowReaderMetadata, limits: &ReadLimits) -> Result<(), String> {
    let columns = metadata.metadata().file_metadata().schema_descr().num_columns();
    let most = limits.row_columns_max;
    if columns > most {
        return Err(format!("{columns} columns; at most {most} are read"));
    }
    check_depth(metadata.schema())?;
    for column in metadata.metadata().file_metadata().schema_descr().columns() {
        if column.physical_type() == parquet::basic::Type::FIXED_LEN_BYTE_ARRAY
            && column.type_length() > FIXED_BYTES_MAX
        {
            let (name, length) = (escape(&column.path().string()), column.type_length());
            return Err(format!(
                "column \"{name}\": values of {length} bytes; at most {FIXED_BYTES_MAX} are read"
            ));
        }
    }
    Ok(())
}

/// The same columns, with text and bytes read as views.
fn viewed(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(viewed_field).collect::<Vec<_>>())
}

fn viewed_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(inner) => DataType::List(viewed_field(inner)),
        DataType::Map(inner, sorted) => DataType::Map(viewed_field(inner), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed_field).collect()),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()))
}
