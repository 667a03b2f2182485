//! The file that replies are appended to, behind a trait, so that full and broken disks can be
//! tested.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// A file that grows at its end.
pub trait ReplyFile: Send + Sync {
    /// Its length.
    ///
    /// # Errors
    /// It cannot be asked.
    fn length(&self) -> io::Result<u64>;

    /// Reads from `offset` on; 0 bytes at the end.
    ///
    /// # Errors
    /// It cannot be read.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Appends all of `bytes` by one write.
    ///
    /// # Errors
    /// Not all of them could be written; the file may hold some of them.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to `length`.
    ///
    /// # Errors
    /// It cannot be cut.
    fn cut(&self, length: u64) -> io::Result<()>;
}

/// A file on a disk.
#[derive(Debug)]
pub struct DiskReplyFile(File);

impl DiskReplyFile {
    /// Opens `path` for reading alone.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn read(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Opens or makes `path` for appending, and locks it: two that append would not know where their
    /// replies lie.
    ///
    /// # Errors
    /// It cannot be opened, or is locked (`ResourceBusy`).
    pub fn append(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(std::fs::TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl ReplyFile for DiskReplyFile {
    fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|data| data.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(bytes, offset)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let written = (&self.0).write(bytes)?;
        if written < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}

/// Reads a file from its start.
pub(super) struct Sequential<'a> {
    file: &'a dyn ReplyFile,
    offset: u64,
}

impl<'a> Sequential<'a> {
    pub(super) fn new(file: &'a dyn ReplyFile) -> Self {
        Self { file, offset: 0 }
    }
}

impl Read for Sequential<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
