//! The input of a run: its files as they were when their digests were taken, and its streams.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::RunError;
use super::manifest::{InputFile, hash_file};
use crate::data::{ReadLimits, Source, StreamNotes};

/// The input of a run, file by file.
pub struct RunInputs {
    files: Vec<InputFile>,
    /// How each file was found; `None` for a stream.
    stamps: Vec<Option<Stamp>>,
    notes: Arc<StreamNotes>,
}

/// What tells that a file was written to or replaced, without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    place: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let meta = fs::metadata(path)?;
        Ok(Self {
            place: (meta.dev(), meta.ino()),
            bytes: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        })
    }
}

impl RunInputs {
    /// Finds the files and takes their digests. That of a stream is taken as it is read.
    ///
    /// # Errors
    /// Data that cannot be read.
    pub fn find(data: &[PathBuf], limits: &ReadLimits) -> Result<Self, RunError> {
        let source = Source::open(data, limits)?;
        let mut inputs = Self { files: Vec::new(), stamps: Vec::new(), notes: Arc::default() };
        for (name, path) in source.names().zip(source.paths()) {
            let shown = name.display().to_string();
            let Some(path) = path else {
                inputs.files.push(InputFile { path: shown, bytes: 0, sha256: None });
                inputs.stamps.push(None);
                continue;
            };
            let found = Stamp::of(path).and_then(|stamp| Ok((stamp, hash_file(path)?)));
            let (stamp, (sha256, bytes)) =
                found.map_err(|source| RunError::Io { file: shown.clone(), source })?;
            inputs.files.push(InputFile { path: shown, bytes, sha256: Some(sha256) });
            inputs.stamps.push(Some(stamp));
        }
        Ok(inputs)
    }

    /// The files, with what is known of them by now.
    pub fn files(&self) -> &[InputFile] {
        &self.files
    }

    /// The first input that can be read only once.
    pub fn stream(&self) -> Option<&InputFile> {
        let inputs = self.files.iter().zip(&self.stamps);
        inputs.filter(|(_, stamp)| stamp.is_none()).map(|(file, _)| file).next()
    }

    /// Where the digests of streams are noted: for [`Source::note_streams`].
    pub fn notes(&self) -> Arc<StreamNotes> {
        Arc::clone(&self.notes)
    }

    /// Once the data were read: fills in what is known of streams.
    ///
    /// # Errors
    /// A file that is not as it was found. It then counts as unknown.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        let mut changed = Ok(());
        for (at, (file, stamp)) in self.files.iter_mut().zip(&self.stamps).enumerate() {
            match stamp {
                None => {
                    if let Some((sha256, bytes)) = self.notes.digest(at) {
                        (file.sha256, file.bytes) = (Some(sha256), bytes);
                    }
                }
                Some(stamp) => {
                    if Stamp::of(Path::new(&file.path)).ok() != Some(*stamp) {
                        file.sha256 = None;
                        changed = Err(RunError::Changed { file: file.path.clone() });
                    }
                }
            }
        }
        changed
    }
}
