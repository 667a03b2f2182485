//! The store of replies: what a judge said, kept so that a run can be repeated to the byte.
//!
//! A folder holds `replies.jsonl`, to which each reply and each fault is appended by one write, and
//! perhaps recordings that are only read (`*.jsonl.gz`). The last line of a request wins; those of
//! `replies.jsonl` come last.
//!
//! A reply that cannot be written still counts for the sample that it answers: it is what the judge
//! said. [`ReplyStore::counts`] then has the first error and how many were lost, and the run ends with
//! an error: without those replies it cannot be replayed.

mod file;
mod line;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use assay_verifiers::canonical::Digest;
use assay_verifiers::{Fault, FaultKind};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::report::StoreCounts;
use super::{JudgeReply, Subject};
use file::Sequential;
pub use file::{DiskReplyFile, ReplyFile};
use line::Entry;

/// The file that replies are appended to.
const FILE: &str = "replies.jsonl";

/// The most bytes of a line. A reply is at most a mebibyte, and escapes make that no more than six.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// The most bytes that recordings are unpacked to.
const SHIPPED_BYTES_MAX: u64 = 4 << 30;

/// Whether judges are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreMode {
    /// Judges are asked what the store does not hold, and it keeps what they say.
    Record,
    /// The store alone answers.
    Replay,
}

/// Why a store cannot be opened, or is no longer whole.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process records into the folder.
    #[error("{}: another process records into it", .0.display())]
    Locked(PathBuf),
    /// There is nothing to replay.
    #[error("{}: no replies are recorded here: neither `replies.jsonl` nor `*.jsonl.gz`", .0.display())]
    Empty(PathBuf),
    /// A line is not one of a record.
    #[error("{file}:{line}: {why}")]
    Line {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// Replies by the digest of their request. The index is in memory, the texts of `replies.jsonl` are
/// not; those of recordings that are only read are, because they lie compressed.
pub struct ReplyStore {
    mode: StoreMode,
    file: Option<Box<dyn ReplyFile>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    index: HashMap<Digest, Indexed>,
    length: u64,
    /// The end of the file is not known any more, so nothing is appended.
    broken: bool,
    counts: StoreCounts,
}

struct Indexed {
    is_reply: bool,
    place: Line,
}

#[derive(Clone)]
enum Line {
    At { offset: u64, length: usize },
    Whole(Box<[u8]>),
}

impl ReplyStore {
    /// Opens the store in `folder`. To record, the folder is made where it is not there.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or nothing to replay.
    pub fn open(folder: &Path, mode: StoreMode) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| match source.kind() {
                io::ErrorKind::ResourceBusy => StoreError::Locked(path),
                _ => StoreError::Io { path, source },
            }
        };
        let file = match mode {
            StoreMode::Record => {
                fs::create_dir_all(folder).map_err(at(folder))?;
                Some(DiskReplyFile::append(&path).map_err(at(&path))?)
            }
            StoreMode::Replay if path.exists() => {
                Some(DiskReplyFile::read(&path).map_err(at(&path))?)
            }
            StoreMode::Replay => None,
        };
        let recordings = recordings(folder).map_err(at(folder))?;
        if mode == StoreMode::Replay && file.is_none() && recordings.is_empty() {
            return Err(StoreError::Empty(folder.to_owned()));
        }
        let file = file.map(|file| Box::new(file) as Box<dyn ReplyFile>);
        let mut store = Self { mode, file, state: Mutex::default() };
        for recording in recordings {
            store.read_recording(&recording)?;
        }
        store.read_file()?;
        Ok(store)
    }

    /// A store in `file` alone.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn over(file: Box<dyn ReplyFile>, mode: StoreMode) -> Result<Self, StoreError> {
        let mut store = Self { mode, file: Some(file), state: Mutex::default() };
        store.read_file()?;
        Ok(store)
    }

    /// Whether judges are asked.
    pub fn mode(&self) -> StoreMode {
        self.mode
    }

    /// How many requests it knows.
    pub fn len(&self) -> usize {
        self.with(|state| state.index.len())
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it has kept and lost since it was opened.
    pub fn counts(&self) -> StoreCounts {
        self.with(|state| state.counts.clone())
    }

    /// Whether it knows a reply, and not just a fault.
    pub(super) fn has_reply(&self, request: &Digest) -> bool {
        self.with(|state| state.index.get(request).is_some_and(|found| found.is_reply))
    }

    /// What is recorded for a request.
    pub(super) fn find(&self, request: &Digest) -> Option<Result<JudgeReply, Fault>> {
        let place = self.with(|state| state.index.get(request).map(|found| found.place.clone()))?;
        let unreadable = |why: String| {
            Fault::new(FaultKind::Internal, format!("the recorded reply cannot be read: {why}"))
        };
        let answer = match place {
            Line::Whole(line) => line::answer(&line),
            Line::At { offset, length } => {
                self.line_at(offset, length).and_then(|line| line::answer(&line))
            }
        };
        Some(answer.unwrap_or_else(|why| Err(unreadable(why))))
    }

    /// Keeps what was said. An error is not the caller's: the store remembers it.
    pub(super) fn keep(
        &self,
        request: &Digest,
        judge: &Value,
        subject: &Subject,
        answer: &Result<JudgeReply, Fault>,
    ) {
        let entry = Entry { request, judge, subject, answer };
        let line = entry.line().map_err(io::Error::from);
        self.with(|state| {
            let kept = line.and_then(|line| state.append(self.file.as_deref(), &line));
            match kept {
                Ok(place) => {
                    state.counts.kept += 1;
                    state.index.insert(*request, Indexed { is_reply: answer.is_ok(), place });
                }
                Err(error) => {
                    state.counts.lost += 1;
                    state.counts.error.get_or_insert_with(|| error.to_string());
                }
            }
        });
    }

    fn line_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, String> {
        let file = self.file.as_deref().ok_or("there is no file")?;
        let mut line = vec![0; length];
        let mut read = 0;
        while let Some(rest) = line.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, offset + read as u64) {
                Ok(0) => return Err("the file has become shorter".to_owned()),
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(line)
    }

    fn read_recording(&mut self, path: &Path) -> Result<(), StoreError> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let packed = File::open(path);
        let packed = packed.map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
        let unpacked = MultiGzDecoder::new(BufReader::new(packed)).take(SHIPPED_BYTES_MAX);
        let index = &mut self.state.get_mut().unwrap_or_else(PoisonError::into_inner).index;
        let torn = lines(&file, unpacked, |(request, is_reply), _, line| {
            index.insert(request, Indexed { is_reply, place: Line::Whole(line.into()) });
        })?;
        match torn {
            Torn { bytes: 0, .. } => Ok(()),
            Torn { line, .. } => Err(StoreError::Line { file, line, why: "it breaks off".into() }),
        }
    }

    /// Reads the index of the file. What a crash has left of a last line is cut off when recording,
    /// and passed over when replaying.
    fn read_file(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.file.as_deref() else { return Ok(()) };
        let failed = |source| StoreError::Io { path: FILE.into(), source };
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let index = &mut state.index;
        let torn = lines(FILE, Sequential::new(file), |(request, is_reply), offset, line| {
            let place = Line::At { offset, length: line.len() };
            index.insert(request, Indexed { is_reply, place });
        })?;
        state.length = file.length().map_err(failed)?;
        if torn.bytes > 0 && self.mode == StoreMode::Record {
            state.length = state.length.saturating_sub(torn.bytes);
            file.cut(state.length).map_err(failed)?;
        }
        Ok(())
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn append(&mut self, file: Option<&dyn ReplyFile>, line: &[u8]) -> io::Result<Line> {
        let file = file.ok_or(io::ErrorKind::NotFound)?;
        if self.broken {
            return Err(io::Error::other("the end of the file is torn"));
        }
        if let Err(error) = file.append(line) {
            // Half a line must not get into the middle of the file.
            self.broken = file.cut(self.length).is_err();
            return Err(error);
        }
        let place = Line::At { offset: self.length, length: line.len() };
        self.length += line.len() as u64;
        Ok(place)
    }
}

/// The recordings of a folder that are only read, in the order of their names.
fn recordings(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.retain(|path| path.to_string_lossy().ends_with(".jsonl.gz"));
    found.sort();
    Ok(found)
}

/// What is left of a last line without an end.
struct Torn {
    bytes: u64,
    line: u64,
}

/// Reads lines, and hands over each with its key and its offset.
fn lines(
    file: &str,
    source: impl Read,
    mut found: impl FnMut((Digest, bool), u64, &[u8]),
) -> Result<Torn, StoreError> {
    let failed = |source| StoreError::Io { path: file.into(), source };
    let mut source = BufReader::with_capacity(1 << 16, source);
    let (mut buffer, mut offset, mut line) = (Vec::new(), 0, 0);
    loop {
        buffer.clear();
        let length = (&mut source).take(LINE_BYTES_MAX).read_until(b'\n', &mut buffer);
        let length = length.map_err(failed)? as u64;
        line += 1;
        let wrong = |why: String| StoreError::Line { file: file.to_owned(), line, why };
        if buffer.last() != Some(&b'\n') {
            if length >= LINE_BYTES_MAX {
                return Err(wrong(format!("over {LINE_BYTES_MAX} bytes")));
            }
            return Ok(Torn { bytes: length, line });
        }
        if !buffer.trim_ascii().is_empty() {
            found(line::index(&buffer).map_err(wrong)?, offset, &buffer);
        }
        offset += length;
    }
}
