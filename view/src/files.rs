//! The files of a run folder, which is only read.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::ViewError;
use crate::line::TimingLine;
use crate::text::{ValueLimits, cut_value};

const VERDICTS: &str = "verdicts.jsonl";
const TIMINGS: &str = "timings.jsonl";
const BUFFER_BYTES: usize = 1 << 18;
/// The longest line of verdicts that is read.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// A run folder.
pub(crate) struct RunFiles {
    dir: PathBuf,
    manifest: Value,
    config: Value,
}

impl RunFiles {
    pub(crate) fn open(dir: &Path) -> Result<Self, ViewError> {
        let manifest = read_json(&dir.join("manifest.json"))?;
        let config = read_json(&dir.join("config.resolved.json"))?;
        Ok(Self { dir: dir.to_owned(), manifest, config })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn verdicts(&self) -> PathBuf {
        self.path(VERDICTS)
    }

    /// The name of the folder, without the folders above.
    pub(crate) fn name(&self) -> String {
        let real = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        real.file_name().unwrap_or(real.as_os_str()).to_string_lossy().into_owned()
    }

    /// The rows of the run, one after another.
    pub(crate) fn rows(&self) -> Result<Lines, ViewError> {
        Lines::open(&self.verdicts())
    }

    /// The lines of the timings, as far as there are any.
    pub(crate) fn timings(&self) -> Timings {
        Timings { lines: Lines::open(&self.path(TIMINGS)).ok(), read: 0 }
    }

    /// What a page says of the run: its configuration and what made it. Of paths the last part alone.
    pub(crate) fn about(&self) -> Value {
        let limits = ValueLimits { bytes: 2000, values: 400 };
        let inputs = self.manifest.get("inputs").and_then(Value::as_array).into_iter().flatten();
        let input = |input: &Value| {
            let path = input.get("path").and_then(Value::as_str).unwrap_or("?");
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
            json!({ "file": name, "bytes": input.get("bytes"), "sha256": input.get("sha256") })
        };
        let manifest = json!({
            "assay": self.manifest.get("assay"), "complete": self.manifest.get("complete"),
            "config_hash": self.manifest.get("config_hash"), "limit": self.manifest.get("limit"),
            "verdicts_sha256": self.manifest.get("verdicts_sha256"),
            "inputs": inputs.take(50).map(input).collect::<Vec<_>>(),
        });
        json!({
            "name": self.name(),
            "manifest": cut_value(&manifest, &limits),
            "config": cut_value(&self.config, &limits),
        })
    }
}

fn read_json(path: &Path) -> Result<Value, ViewError> {
    let bytes = fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => {
            ViewError::damaged(path, "is missing, so that this is not a run folder")
        }
        _ => ViewError::io(path, source),
    })?;
    serde_json::from_slice(&bytes).map_err(|why| ViewError::damaged(path, why.to_string()))
}

/// The lines of a file. The last one is left out where it has no end: its writer was stopped.
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Where the next line starts.
    offset: u64,
    count: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, ViewError> {
        let io = |source| ViewError::io(path, source);
        if !fs::metadata(path).map_err(io)?.is_file() {
            return Err(ViewError::damaged(path, "is not a file"));
        }
        let reader = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io)?);
        Ok(Self { path: path.to_owned(), reader, line: Vec::new(), offset: 0, count: 0 })
    }

    /// Goes to a line that starts there.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), ViewError> {
        let moved = self.reader.seek(SeekFrom::Start(offset));
        self.offset = moved.map_err(|source| ViewError::io(&self.path, source))?;
        Ok(())
    }

    /// The next line without its end, and where it starts.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, ViewError> {
        self.line.clear();
        let read = (&mut self.reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| ViewError::io(&self.path, source))?;
        let start = self.offset;
        self.offset += read as u64;
        self.count += 1;
        match self.line.strip_suffix(b"\n") {
            Some(line) => Ok(Some((start, line))),
            None if (read as u64) < LINE_BYTES_MAX => Ok(None),
            None => Err(ViewError::damaged(&self.path, "a line is longer than 256 MiB")),
        }
    }

    /// An error of the line that was read last.
    pub(crate) fn wrong(&self, why: impl std::fmt::Display) -> ViewError {
        let count = self.count;
        ViewError::damaged(&self.path, format!("line {count} is not a verdict row ({why})"))
    }
}

/// The number of each row over the whole input, and how long it took, in the order of the run.
pub(crate) struct Timings {
    lines: Option<Lines>,
    read: u64,
}

impl Timings {
    /// The number and the microseconds of the next row. Without timings, rows are numbered through.
    pub(crate) fn next(&mut self) -> (u64, Option<u64>) {
        let at = self.read;
        self.read += 1;
        let line = self.lines.as_mut().and_then(|lines| lines.next().ok().flatten());
        let timing = line.and_then(|(_, line)| serde_json::from_slice::<TimingLine>(line).ok());
        if let Some(timing) = timing {
            return (timing.row, Some(timing.us()));
        }
        self.lines = None;
        (at, None)
    }
}
