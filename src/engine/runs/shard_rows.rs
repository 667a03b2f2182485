//! The rows of one shard, read in order beside those of the others.

use std::io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use assay_verifiers::canonical;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::folder::RunError;
use super::{TIMINGS, VERDICTS};
use crate::data::open_regular;

/// A file that is open only while it is read, so that the number of shards is not bounded by that of
/// open files.
struct ClosedFile {
    path: PathBuf,
    at: u64,
}

impl Read for ClosedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = open_regular(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// What a timing line says of its row.
#[derive(Deserialize)]
pub(super) struct TimedRow {
    pub(super) row: u64,
    /// The group of the row, by its number; 0 is none.
    #[serde(default)]
    pub(super) group: u64,
}

/// The verdict and timing lines of a complete shard.
pub(super) struct ShardRows {
    dir: PathBuf,
    verdicts: BufReader<ClosedFile>,
    timings: BufReader<ClosedFile>,
    sha256: Sha256,
    /// Rows that are still to come.
    left: u64,
    /// The verdict line of the row in hand, with its line end.
    pub(super) verdict: Vec<u8>,
    /// Its timing line.
    pub(super) timing: Vec<u8>,
}

impl ShardRows {
    /// The `rows` rows of the shard in `dir`, read through buffers of `buffer_bytes`.
    pub(super) fn new(dir: &Path, rows: u64, buffer_bytes: usize) -> Self {
        let open = |name| {
            let file = ClosedFile { path: dir.join(name), at: 0 };
            BufReader::with_capacity(buffer_bytes, file)
        };
        Self {
            dir: dir.to_owned(),
            verdicts: open(VERDICTS),
            timings: open(TIMINGS),
            sha256: Sha256::new(),
            left: rows,
            verdict: Vec::new(),
            timing: Vec::new(),
        }
    }

    /// Takes the next row in hand. `None` after the last row.
    pub(super) fn advance(&mut self) -> Result<Option<TimedRow>, RunError> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        line(&mut self.verdicts, &mut self.verdict)
            .map_err(|error| self.failed(VERDICTS, error))?;
        self.sha256.update(&self.verdict);
        line(&mut self.timings, &mut self.timing).map_err(|error| self.failed(TIMINGS, error))?;
        let timed: Result<TimedRow, _> = serde_json::from_slice(&self.timing);
        let damaged = |error| self.damaged(&format!("{TIMINGS} has a damaged line: {error}"));
        timed.map(Some).map_err(damaged)
    }

    /// Reads the timings of rows that were judged again. Returns whether there was one.
    pub(super) fn next_retry(&mut self) -> Result<bool, RunError> {
        self.timing.clear();
        let read = self.timings.read_until(b'\n', &mut self.timing);
        read.map_err(|error| self.failed(TIMINGS, error))?;
        // A session that was killed may have left half a line.
        Ok(self.timing.last() == Some(&b'\n'))
    }

    /// Checks that the lines that were read are those of the manifest.
    pub(super) fn check(&mut self, sha256: Option<&str>) -> Result<(), RunError> {
        let at_end = self.verdicts.fill_buf().map(<[u8]>::is_empty);
        let at_end = at_end.map_err(|error| self.failed(VERDICTS, error))?;
        let digest = canonical::hex(&std::mem::take(&mut self.sha256).finalize());
        if at_end && sha256 == Some(digest.as_str()) {
            return Ok(());
        }
        Err(self.damaged(&format!("{VERDICTS} is not the file that its manifest describes")))
    }

    /// An error about this shard.
    pub(super) fn damaged(&self, why: &str) -> RunError {
        RunError::shards(&self.dir, format!("{why}; score the shard again with --fresh"))
    }

    fn failed(&self, name: &str, source: io::Error) -> RunError {
        if source.kind() == io::ErrorKind::UnexpectedEof {
            return self.damaged(&format!("{name} has fewer rows than its manifest says"));
        }
        RunError::Io { file: self.dir.join(name).display().to_string(), source }
    }
}

/// Reads a whole line, its end included.
fn line(reader: &mut BufReader<ClosedFile>, line: &mut Vec<u8>) -> io::Result<()> {
    line.clear();
    reader.read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
