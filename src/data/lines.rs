//! A stream of bytes, cut into blocks of whole lines.

use assay_verifiers::code::Code;

use super::bytes::Bytes;
use super::elements::Elements;
use super::error::DataError;
use super::kinds::{self, BOM, Start};
use super::limits::ReadLimits;
use super::logs::LogFormat;
use super::logs::samples::Samples;

/// How much a block of lines holds, in bytes, unless one line is longer.
const BLOCK_BYTES: usize = 256 << 10;

/// How many rows a block holds at most.
pub(super) const BLOCK_ROWS: usize = 256;

/// Empty lines that are passed over at once: a file may have millions.
const EMPTY_LINES: [u8; 4 << 10] = [b'\n'; 4 << 10];

/// Cuts a stream into blocks of whole lines. Holds one line at most, and never one that is over
/// the limit.
pub(super) struct Lines {
    bytes: Bytes,
    scratch: Box<[u8]>,
    buffer: Vec<u8>,
    /// Where the bytes begin that no block has yet.
    at: usize,
    /// Up to where it is known that no line ends.
    searched: usize,
    /// The number of the line at `at`; the first is 1.
    line: u64,
    rows: u64,
    ended: bool,
    row_bytes_max: usize,
    /// The first bytes, until they tell how rows are written.
    opening: Option<Vec<u8>>,
    /// Where rows are not a line each.
    cut: Option<RowCut>,
}

/// What cuts rows that are not a line each.
enum RowCut {
    /// The elements of a list.
    List(Elements),
    /// The samples of a log.
    Log(Box<Samples>),
}

/// A block of lines.
pub(super) struct Cut {
    /// The number of the first line.
    pub(super) line: u64,
    /// How many lines are not blank.
    pub(super) rows: usize,
    pub(super) body: Body,
}

pub(super) enum Body {
    /// Whole lines.
    Lines(Vec<u8>),
    /// One line of so many bytes, more than a row may have.
    TooLong(u64),
}

impl Lines {
    pub(super) fn new(bytes: Bytes, limits: &ReadLimits) -> Self {
        Self {
            bytes,
            scratch: vec![0; BLOCK_BYTES].into_boxed_slice(),
            buffer: Vec::new(),
            at: 0,
            searched: 0,
            line: 1,
            rows: 0,
            ended: false,
            row_bytes_max: limits.row_bytes_max,
            opening: Some(Vec::new()),
            cut: None,
        }
    }

    /// The format of a log that is one object, once its first bytes were read.
    pub(super) fn log(&self) -> Option<&'static LogFormat> {
        match &self.cut {
            Some(RowCut::Log(samples)) => Some(samples.format()),
            _ => None,
        }
    }

    /// The next block that has rows.
    pub(super) fn next(&mut self, file: &str) -> Result<Option<Cut>, DataError> {
        loop {
            let first = self.line;
            let (end, rows) = self.scan();
            if rows > 0 {
                let (lines, _) = self.buffer.split_at(end);
                let body = Body::Lines(lines.split_at(self.at).1.to_vec());
                self.at = end;
                self.rows += rows as u64;
                return Ok(Some(Cut { line: first, rows, body }));
            }
            self.at = end;
            if let Some(bytes) = self.long_line(file)? {
                self.rows += 1;
                return Ok(Some(Cut { line: self.line - 1, rows: 1, body: Body::TooLong(bytes) }));
            }
            if self.ended && self.at >= self.buffer.len() {
                return self.whole(file).map(|()| None);
            }
            self.fill(file)?;
        }
    }

    /// Finds the lines of the next block: where they end, and how many are not blank.
    fn scan(&mut self) -> (usize, usize) {
        let (mut end, mut rows) = (self.at, 0);
        while rows < BLOCK_ROWS && end - self.at < BLOCK_BYTES {
            if self.buffer.get(end..).is_some_and(|rest| rest.starts_with(&EMPTY_LINES)) {
                self.line += EMPTY_LINES.len() as u64;
                end += EMPTY_LINES.len();
                continue;
            }
            let Some((next, line)) = self.line_at(end) else { break };
            if line.len() > self.row_bytes_max {
                break;
            }
            rows += usize::from(!blank(line));
            self.line += 1;
            end = next;
        }
        (end, rows)
    }

    /// The line at `start`, if the buffer has all of it, and where the next one starts.
    fn line_at(&self, start: usize) -> Option<(usize, &[u8])> {
        let from = start.max(self.searched);
        match memchr::memchr(b'\n', self.buffer.get(from..)?) {
            Some(found) => Some((from + found + 1, self.buffer.get(start..from + found)?)),
            None if self.ended && start < self.buffer.len() => {
                Some((self.buffer.len(), self.buffer.get(start..)?))
            }
            None => None,
        }
    }

    /// Passes over a line that is over the limit, if one comes next; says how long it is.
    fn long_line(&mut self, file: &str) -> Result<Option<u64>, DataError> {
        if let Some((next, line)) = self.line_at(self.at) {
            let bytes = line.len();
            if bytes <= self.row_bytes_max {
                return Ok(None);
            }
            self.at = next;
            self.line += 1;
            return Ok(Some(bytes as u64));
        }
        let mut bytes = self.buffer.len() - self.at;
        if bytes <= self.row_bytes_max {
            return Ok(None);
        }
        loop {
            self.at = self.buffer.len();
            self.fill(file)?;
            let found = memchr::memchr(b'\n', &self.buffer);
            bytes += found.unwrap_or(self.buffer.len());
            if found.is_some() || self.ended {
                self.at = found.map_or(self.buffer.len(), |found| found + 1);
                self.line += 1;
                return Ok(Some(bytes as u64));
            }
        }
    }

    fn fill(&mut self, file: &str) -> Result<(), DataError> {
        self.buffer.drain(..self.at);
        self.at = 0;
        self.searched = self.buffer.len();
        // One long line must not keep its room for the rest of the file.
        if self.buffer.capacity() > 8 * BLOCK_BYTES && self.buffer.len() < BLOCK_BYTES {
            self.buffer.shrink_to(BLOCK_BYTES);
        }
        let count = self.bytes.read(&mut self.scratch, file, self.rows)?;
        let (read, _) = self.scratch.split_at(count);
        self.ended = count == 0;
        let Some(opening) = &mut self.opening else {
            push(&mut self.cut, read, &mut self.buffer);
            return Ok(());
        };
        opening.extend_from_slice(read);
        let refused = |what: String| DataError::unread(file, what);
        if let Some(start) = kinds::start(opening, self.ended).map_err(refused)? {
            self.cut = match start {
                Start::Lines => None,
                Start::List => Some(RowCut::List(Elements::default())),
                Start::Log(format) => Some(RowCut::Log(Box::new(Samples::new(format)))),
            };
            push(&mut self.cut, opening.strip_prefix(BOM).unwrap_or(opening), &mut self.buffer);
            self.opening = None;
        }
        Ok(())
    }

    /// What is no line by line must have its end.
    fn whole(&self, file: &str) -> Result<(), DataError> {
        let defect = match &self.cut {
            Some(RowCut::List(list)) if list.is_open() => Some(format!(
                "the list has no end: \"]\" is missing after row {}; the file was cut, so fetch or write \
                 it again",
                self.rows
            )),
            Some(RowCut::Log(samples)) => samples.defect(self.rows),
            _ => None,
        };
        defect.map_or(Ok(()), |what| {
            Err(DataError::Refused { file: file.to_owned(), code: Code::Damaged, what })
        })
    }
}

fn push(cut: &mut Option<RowCut>, bytes: &[u8], buffer: &mut Vec<u8>) {
    match cut {
        Some(RowCut::List(list)) => list.push(bytes, buffer),
        Some(RowCut::Log(samples)) => samples.push(bytes, buffer),
        None => buffer.extend_from_slice(bytes),
    }
}

/// Whether a line holds white space alone.
pub(super) fn blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time, as a pipe does.
    struct Drip(Vec<u8>, usize);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            let rest = self.0.split_off(count);
            buffer[..count].copy_from_slice(&self.0);
            self.0 = rest;
            Ok(count)
        }
    }

    /// Every line that is not blank, with its number; of one that is too long, its length.
    fn cut(text: &str, step: usize, limits: &ReadLimits) -> Vec<(u64, Result<String, u64>)> {
        let bytes = Bytes::open(Box::new(Drip(text.into(), step)), "test", limits).unwrap();
        let mut lines = Lines::new(bytes, limits);
        let mut seen = Vec::new();
        while let Some(cut) = lines.next("test").unwrap() {
            let before = seen.len();
            match cut.body {
                Body::TooLong(bytes) => seen.push((cut.line, Err(bytes))),
                Body::Lines(bytes) => {
                    seen.extend(split(&String::from_utf8(bytes).unwrap(), cut.line));
                }
            }
            assert_eq!(seen.len() - before, cut.rows);
        }
        seen
    }

    fn split(text: &str, first: u64) -> Vec<(u64, Result<String, u64>)> {
        let lines = text.split('\n').zip(first..).filter(|(line, _)| !blank(line.as_bytes()));
        lines.map(|(line, number)| (number, Ok(line.to_owned()))).collect()
    }

    proptest! {
        #[test]
        fn cutting_loses_no_line_and_no_number(
            text in "[ab \r\n]{0,120}", step in 1_usize..40, row_bytes_max in 1_usize..30,
        ) {
            let limits = ReadLimits { row_bytes_max, ..ReadLimits::default() };
            let limited = |(number, line): (u64, Result<String, u64>)| match line {
                Ok(line) if line.len() > row_bytes_max => (number, Err(line.len() as u64)),
                line => (number, line),
            };
            // A line of blanks that is too long is reported too: its inside is not read.
            let mut expected = Vec::new();
            for (line, number) in text.split('\n').zip(1..) {
                let long = line.len() > row_bytes_max;
                if long || !blank(line.as_bytes()) {
                    expected.push(limited((number, Ok(line.to_owned()))));
                }
            }
            prop_assert_eq!(cut(&text, step, &limits), expected);
        }
    }

    #[test]
    fn a_block_has_so_many_rows_and_no_more() {
        let text = "{}\n".repeat(1000);
        let bytes =
            Bytes::open(Box::new(std::io::Cursor::new(text)), "test", &ReadLimits::default());
        let mut lines = Lines::new(bytes.unwrap(), &ReadLimits::default());
        let mut rows = Vec::new();
        while let Some(cut) = lines.next("test").unwrap() {
            rows.push((cut.line, cut.rows));
        }
        assert_eq!(rows, [(1, 256), (257, 256), (513, 256), (769, 232)]);
    }
}
