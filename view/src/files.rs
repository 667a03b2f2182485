//! The files of a run folder, which is only read.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::ViewError;
use crate::text::{ValueLimits, cut_value};

/// The longest line that is read.
const LINE_BYTES_MAX: usize = 256 << 20;

/// A run folder.
pub(crate) struct RunFiles {
    pub(crate) dir: PathBuf,
    manifest: Value,
    pub(crate) config: Value,
}

impl RunFiles {
    pub(crate) fn open(dir: &Path) -> Result<Self, ViewError> {
        let manifest = read_json(&dir.join("manifest.json"))?;
        let config = read_json(&dir.join("config.resolved.json"))?;
        Ok(Self { dir: dir.to_owned(), manifest, config })
    }

    /// What a page says of the run: its configuration and what made it. Of paths the last part alone.
    pub(crate) fn about(&self) -> Value {
        let limits = ValueLimits { bytes: 2000, values: 400 };
        let real = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
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
            "name": real.file_name().unwrap_or(real.as_os_str()).to_string_lossy(),
            "manifest": cut_value(&manifest, &limits), "config": cut_value(&self.config, &limits),
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

/// A file of lines, and where each row starts in it and the last one ends.
pub(crate) struct LinesFile {
    path: PathBuf,
    pub(crate) file: File,
    pub(crate) offsets: Vec<u64>,
}

impl LinesFile {
    /// A file whose rows are not known yet.
    pub(crate) fn open(path: &Path) -> Result<Self, ViewError> {
        let io = |source| ViewError::io(path, source);
        let file = File::open(path).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            return Err(ViewError::damaged(path, "is not a file"));
        }
        Ok(Self { path: path.to_owned(), file, offsets: Vec::new() })
    }

    /// The row at this place, without its line end.
    pub(crate) fn line(&self, at: usize) -> Result<Option<Vec<u8>>, ViewError> {
        let (Some(start), Some(end)) = (self.offsets.get(at), self.offsets.get(at + 1)) else {
            return Ok(None);
        };
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(LINE_BYTES_MAX)];
        let read = self.file.read_exact_at(&mut bytes, *start);
        read.map_err(|source| ViewError::io(&self.path, source))?;
        bytes.truncate(bytes.trim_ascii_end().len());
        Ok(Some(bytes))
    }

    /// Fills the buffer with bytes from a place on, and gives those that are whole lines. Of the last line
    /// there is no more where it has no end.
    pub(crate) fn lines<'a>(
        &self,
        start: u64,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], ViewError> {
        let mut filled = 0;
        loop {
            let read = self.file.read_at(buffer.split_at_mut(filled).1, start + filled as u64);
            let read = read.map_err(|source| ViewError::io(&self.path, source))?;
            filled += read;
            if read > 0 && filled < buffer.len() {
                continue;
            }
            let lines = memchr::memrchr(b'\n', buffer.split_at(filled).0).map_or(0, |end| end + 1);
            if read == 0 || lines > 0 {
                return Ok(buffer.split_at(lines).0);
            }
            if filled >= LINE_BYTES_MAX {
                return Err(ViewError::damaged(&self.path, "a line is longer than 256 MiB"));
            }
            buffer.resize(2 * filled, 0);
        }
    }
}
