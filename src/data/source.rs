//! The source: every row of a dataset, in order, in blocks.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_verifiers::Sample;
use assay_verifiers::code::Code;
use serde_json::{Map, Value};

use super::bytes::{Bytes, PARQUET_MAGIC};
use super::cells;
use super::columns::{Columns, Paths};
use super::error::{DataError, Defect, Place, RowError};
use super::inputs::{self, Input};
use super::json::{self, Line};
use super::kinds;
use super::limits::ReadLimits;
use super::lines::{self, Body, Lines};
use super::logs::archive::{Archive, ZIP_MAGIC};
use super::logs::{self, LogFormat};
use super::regular::open_once;
use super::row;
use super::streams::{Noted, StreamNotes};
use super::table::{self, Batch, Table};

/// The rows of a dataset, in order, cut into blocks. Holds a block or so of a file at a time.
pub struct Source {
    inputs: std::vec::IntoIter<Input>,
    /// The number of the next input.
    input: usize,
    current: Option<Current>,
    index: u64,
    limits: ReadLimits,
    read: Arc<AtomicU64>,
    notes: Arc<StreamNotes>,
}

/// The input that is being read.
struct Current {
    name: Arc<str>,
    reader: Reader,
    /// It is a stream that must have rows, and had none so far.
    wants_rows: bool,
    /// The tool whose log it is; the outer `None` is not known yet.
    #[expect(clippy::option_option, reason = "not looked for, none, or one")]
    log: Option<Option<&'static LogFormat>>,
}

/// A reader, and the tool whose log it reads, as far as that is known.
type Opened = (Reader, Option<Option<&'static LogFormat>>);

enum Reader {
    Lines(Box<Lines>),
    Table(Box<Table>),
}

impl Source {
    /// Opens files (`.jsonl`, `.json`, `.ndjson`, each also `.gz` or `.zst`; `.parquet`; `.eval`), dataset
    /// folders and `-` for standard input, read one after the other.
    ///
    /// A folder is read as it lies: its files in the order of their paths. One that holds several
    /// splits wants one named, as in `FOLDER:train`, or `FOLDER:main/train` where several
    /// configurations have one of that name. The first bytes of a file give its format.
    ///
    /// Pipes and standard input are streams: they can be read once, and one that ends without a row
    /// is an error, because whatever was to write it most likely failed.
    pub fn open(paths: &[PathBuf], limits: &ReadLimits) -> Result<Self, DataError> {
        Ok(Self::new(inputs::expand(paths)?, None, limits))
    }

    fn new(inputs: Vec<Input>, current: Option<Current>, limits: &ReadLimits) -> Self {
        Self {
            inputs: inputs.into_iter(),
            input: 0,
            current,
            index: 0,
            limits: *limits,
            read: Arc::default(),
            notes: Arc::default(),
        }
    }

    /// Reads JSON lines, plain or compressed, from a stream that messages call `name`.
    pub fn stream(
        name: &str,
        stream: impl Read + Send + 'static,
        limits: &ReadLimits,
    ) -> Result<Self, DataError> {
        let bytes = Bytes::open(Box::new(stream), name, limits)?;
        let reader = Reader::Lines(Box::new(Lines::new(bytes, limits)));
        let current = Current { name: name.into(), reader, wants_rows: false, log: Some(None) };
        Ok(Self::new(Vec::new(), Some(current), limits))
    }

    /// The files that are still to be opened, in order: before the first block, all of them.
    /// `None` is a stream: standard input or a pipe.
    pub fn paths(&self) -> impl Iterator<Item = Option<&Path>> {
        let inputs = self.inputs.as_slice().iter();
        inputs.map(|input| input.path.as_deref().filter(|_| !input.is_stream))
    }

    /// The same inputs by the paths that were given; `-` is standard input.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        let inputs = self.inputs.as_slice().iter();
        inputs.map(|input| input.path.as_deref().unwrap_or(Path::new("-")))
    }

    /// What messages call the inputs that are not read yet, in order.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Arc<str>> {
        let current = self.current.as_ref().map(|current| &current.name);
        current.into_iter().chain(self.inputs.as_slice().iter().map(|input| &input.name))
    }

    /// Notes the digests of streams as they are read.
    #[must_use]
    pub fn note_streams(self, notes: Arc<StreamNotes>) -> Self {
        Self { notes, ..self }
    }

    /// Counts the bytes of files into `counter` as they are read, for a progress bar.
    #[must_use]
    pub fn count_into(self, counter: Arc<AtomicU64>) -> Self {
        Self { read: counter, ..self }
    }

    fn read(&mut self) -> Result<Option<Block>, DataError> {
        loop {
            let Some(current) = &mut self.current else {
                let Some(input) = self.inputs.next() else { return Ok(None) };
                let (reader, log) = self.open_input(&input)?;
                let wants_rows = input.is_stream;
                self.current = Some(Current { name: input.name, reader, wants_rows, log });
                self.input += 1;
                continue;
            };
            let Some((row, len, body)) = current.reader.read(&current.name)? else {
                if current.wants_rows {
                    return Err(DataError::Empty { stream: current.name.to_string() });
                }
                self.current = None;
                continue;
            };
            current.wants_rows = false;
            let log = *current.log.get_or_insert_with(|| match &current.reader {
                Reader::Lines(lines) => lines.log().or_else(|| body.log()),
                Reader::Table(_) => None,
            });
            if let Reader::Table(table) = &current.reader {
                self.read.fetch_add(table.bytes_of(len), Ordering::Relaxed);
            }
            let index = self.index;
            self.index += len as u64;
            return Ok(Some(Block {
                file: Arc::clone(&current.name),
                index,
                row,
                len,
                body,
                log,
                limits: self.limits,
            }));
        }
    }

    fn open_input(&self, input: &Input) -> Result<Opened, DataError> {
        let name = &*input.name;
        let mut log = None;
        let read = |source| DataError::Read { file: name.to_owned(), source };
        let raw: Box<dyn Read + Send> = match &input.path {
            None => self.noted(std::io::stdin()),
            Some(path) => {
                let file = open_once(path).map_err(read)?;
                let regular = file.metadata().map_err(read)?.is_file();
                let named = path.extension().is_some_and(|extension| extension == "parquet");
                let head = if regular { head(&file).map_err(read)? } else { Vec::new() };
                if regular && (named || head.starts_with(PARQUET_MAGIC)) {
                    if let Some(what) = no_parquet_but(&head) {
                        let (file, why) = (name.to_owned(), format!("it is none; {what}"));
                        return Err(DataError::Damaged { file, form: "parquet", rows: 0, why });
                    }
                    let table = Table::open(file, name, &self.limits)?;
                    return Ok((Reader::Table(Box::new(table)), None));
                }
                if regular && cfg!(feature = "compression") && head.starts_with(ZIP_MAGIC) {
                    let counter = Arc::clone(&self.read);
                    let (archive, format) = Archive::open(file, name, &self.limits, counter)?;
                    log = Some(Some(format));
                    Box::new(archive)
                } else {
                    let counted = Counted { file, read: Arc::clone(&self.read) };
                    if regular { Box::new(counted) } else { self.noted(counted) }
                }
            }
        };
        let bytes = Bytes::open(raw, name, &self.limits)?;
        Ok((Reader::Lines(Box::new(Lines::new(bytes, &self.limits))), log))
    }

    /// A stream whose digest is noted.
    fn noted(&self, raw: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        Box::new(Noted { raw, input: self.input, notes: Arc::clone(&self.notes) })
    }
}

impl Iterator for Source {
    type Item = Result<Block, DataError>;

    /// The next block. After an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose();
        if matches!(read, Some(Err(_))) {
            self.current = None;
            self.inputs = Vec::new().into_iter();
        }
        read
    }
}

impl Reader {
    /// The next block: the number of its first row, how many rows it has, and what it holds.
    fn read(&mut self, file: &str) -> Result<Option<(u64, usize, Held)>, DataError> {
        Ok(match self {
            Self::Lines(lines) => {
                lines.next(file)?.map(|cut| (cut.line, cut.rows, Held::Lines(cut.body)))
            }
            Self::Table(table) => {
                table.next(file)?.map(|(row, batch)| (row, batch.num_rows(), Held::Table(batch)))
            }
        })
    }
}

/// A file that notes how much of it was read.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The first bytes of a file, which is then read from its start.
fn head(mut file: &File) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(kinds::HEAD_BYTES as u64).read_to_end(&mut head)?;
    std::io::Seek::rewind(&mut file)?;
    Ok(head)
}

/// What a file is that is called Parquet and begins otherwise, where that can be told.
fn no_parquet_but(head: &[u8]) -> Option<String> {
    if head.starts_with(PARQUET_MAGIC) {
        return None;
    }
    match head.trim_ascii_start().first() {
        Some(b'{' | b'[') => Some("it looks like JSON; let its name end in .jsonl".to_owned()),
        _ => kinds::foreign(head),
    }
}

/// Some rows of a dataset, not yet parsed. Send it to another thread to have it parsed there.
pub struct Block {
    file: Arc<str>,
    index: u64,
    row: u64,
    len: usize,
    body: Held,
    /// The tool whose log it is.
    log: Option<&'static LogFormat>,
    limits: ReadLimits,
}

enum Held {
    Lines(Body),
    Table(Batch),
}

impl Held {
    /// The format of a log, by its first sample.
    fn log(&self) -> Option<&'static LogFormat> {
        let Self::Lines(Body::Lines(bytes)) = self else { return None };
        logs::of_line(bytes.split(|byte| *byte == b'\n').find(|line| !lines::blank(line))?)
    }
}

/// One row of a dataset.
#[derive(Debug)]
pub struct Row {
    /// Its number over the whole input; the first is 0.
    pub index: u64,
    /// Its file, and its place there.
    pub place: Place,
    /// Its bytes in the input.
    pub bytes: usize,
    /// The sample, or why there is none.
    pub sample: Result<Sample, RowError>,
    /// The label, where the columns name one and the row has it.
    pub label: Option<Value>,
}

#[cfg(feature = "parquet")]
impl Block {
    /// The rows of a batch of Arrow, in order. Messages call it `name`; the row `first` of the whole
    /// input, counted from 0, is its first.
    ///
    /// # Errors
    /// A column of a type that has no form as JSON, or columns beyond the limits.
    pub fn of_batch(
        name: &str,
        first: u64,
        batch: &arrow_array::RecordBatch,
        limits: &ReadLimits,
    ) -> Result<Vec<Self>, DataError> {
        let refused = |what| DataError::Refused { file: name.to_owned(), code: Code::Limit, what };
        super::cut::check_foreign(batch.schema_ref(), limits).map_err(refused)?;
        let (file, mut index): (Arc<str>, u64) = (name.into(), first);
        let block = |part: Batch| {
            let (at, len) = (index, part.num_rows());
            index += len as u64;
            let body = Held::Table(part);
            let (file, row, log, limits) = (Arc::clone(&file), at + 1, None, *limits);
            Self { file, index: at, row, len, body, log, limits }
        };
        Ok(super::cut::parts(batch).into_iter().map(block).collect())
    }
}

impl Block {
    /// The number of its first row over the whole input.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The tool whose log the rows are of, where they are of one: `inspect_ai`, `lm_eval`, `nemo_gym`,
    /// `verifiers`.
    pub fn log(&self) -> Option<&str> {
        self.log.map(LogFormat::name)
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// How many bytes of the input it takes.
    pub fn bytes(&self) -> usize {
        match &self.body {
            Held::Lines(Body::Lines(bytes)) => bytes.len(),
            Held::Lines(Body::TooLong(_)) => 0,
            Held::Table(batch) => table::bytes(batch),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Parses the rows.
    pub fn rows(&self, columns: &Columns) -> Vec<Row> {
        self.rows_where(columns, |_| true)
    }

    /// Parses the rows whose numbers over the whole input `wanted` takes, and passes over the others.
    pub fn rows_where(&self, columns: &Columns, wanted: impl Fn(u64) -> bool) -> Vec<Row> {
        self.parsed(Paths::new(columns), wanted)
    }

    /// The text of each row as a JSON object, along [`Block::rows`]: the line itself, or the columns in
    /// their order. `None` where a row cannot be read as text.
    pub fn objects(&self) -> Vec<Option<String>> {
        match &self.body {
            Held::Lines(Body::Lines(bytes)) => {
                let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !lines::blank(line));
                let text = |line: &[u8]| match self.log {
                    None => Some(std::str::from_utf8(line).ok()?.trim().to_owned()),
                    Some(_) => serde_json::to_string(&self.read(Line::Bytes(line)).ok()?).ok(),
                };
                lines.map(text).collect()
            }
            Held::Lines(Body::TooLong(_)) => vec![None],
            Held::Table(batch) => {
                let text = |at| cells::text(batch, at, &self.limits).ok();
                (0..batch.num_rows()).map(text).collect()
            }
        }
    }

    /// The columns of a line; of a sample of a log, those of its format too.
    fn read(&self, line: Line<'_>) -> Result<Map<String, Value>, Defect> {
        let row = json::row(line, &self.limits)?;
        match self.log {
            Some(log) => log.row(row),
            None => Ok(row),
        }
    }

    /// Parses rows that are yet to be answered: one without a completion has an empty one.
    pub fn tasks(&self, columns: &Columns) -> Vec<Row> {
        self.parsed(Paths::of_tasks(columns), |_| true)
    }

    fn parsed(&self, paths: Paths, wanted: impl Fn(u64) -> bool) -> Vec<Row> {
        let rows = Vec::with_capacity(self.len);
        let mut out = Out { block: self, paths, wanted, next: self.index, rows };
        match &self.body {
            Held::Lines(Body::Lines(bytes)) => out.lines(bytes),
            Held::Lines(Body::TooLong(bytes)) => {
                let most = self.limits.row_bytes_max;
                let why = format!("the row has {bytes} bytes; at most {most} are read");
                out.row(self.row, 0, |_| Err(Defect::new(Code::Limit, why)));
            }
            Held::Table(batch) => out.table(batch),
        }
        out.rows
    }
}

struct Out<'a, W> {
    block: &'a Block,
    paths: Paths,
    wanted: W,
    /// The number of the next row over the whole input.
    next: u64,
    rows: Vec<Row>,
}

impl<W: Fn(u64) -> bool> Out<'_, W> {
    fn lines(&mut self, bytes: &[u8]) {
        // One pass over the block spares one for every text in it.
        let text = std::str::from_utf8(bytes).ok();
        let mut start = 0;
        let mut number = self.block.row;
        while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let (line, _) = rest.split_at(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
            let end = start + line.len();
            if !lines::blank(line) {
                let line = match text.and_then(|text| text.get(start..end)) {
                    Some(text) => Line::Text(text),
                    None => Line::Bytes(line),
                };
                let block = self.block;
                self.row(number, end - start, |_| block.read(line));
            }
            start = end + 1;
            number += 1;
        }
    }

    fn table(&mut self, batch: &Batch) {
        let bytes = table::bytes(batch);
        for at in 0..batch.num_rows() {
            let limits = &self.block.limits;
            let number = self.block.row + at as u64;
            self.row(number, bytes / batch.num_rows(), |paths| {
                cells::row(batch, at, limits, |path| paths.judge(path))
            });
        }
    }

    /// Takes the next row, or passes over it.
    fn row(
        &mut self,
        number: u64,
        bytes: usize,
        read: impl FnOnce(&Paths) -> Result<Map<String, Value>, Defect>,
    ) {
        let index = self.next;
        self.next += 1;
        if !(self.wanted)(index) {
            return;
        }
        let place = Place { file: Arc::clone(&self.block.file), row: number };
        let (sample, label) = match read(&self.paths).and_then(|row| row::sample(row, &self.paths))
        {
            Ok((sample, label)) => (Ok(sample), label),
            Err(defect) => (Err(RowError { place: place.clone(), defect }), None),
        };
        self.rows.push(Row { index, place, bytes, sample, label });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_parsed_on_other_threads() {
        fn sent<T: Send>(value: T) -> T {
            value
        }
        let text = std::io::Cursor::new("{\"completion\":\"a\",\"label\":1}\n3\n");
        let source = sent(Source::stream("stdin", text, &ReadLimits::default()).unwrap());
        let columns = Columns { label: Some("label".to_owned()), ..Columns::default() };
        let blocks: Vec<Block> = source.map(Result::unwrap).collect();
        let parse = |block: Block| {
            std::thread::scope(|scope| scope.spawn(|| sent(block).rows(&columns)).join().unwrap())
        };
        let rows: Vec<Row> = blocks.into_iter().flat_map(parse).collect();
        assert_eq!(rows[0].sample.as_ref().unwrap().completion(), "a");
        assert_eq!(rows[0].label, Some(Value::from(1)));
        assert_eq!(rows[1].place.to_string(), "stdin:2");
        assert!(rows[1].sample.is_err());
    }
}
