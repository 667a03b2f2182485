//! What is in a file, and how much all of them may hold.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::clock::START;

/// Bytes of all files of a guest.
pub const FILES_BYTES_MAX: usize = 32 << 20;

/// Why something cannot be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// There is no such file.
    #[error("there is no such file or folder")]
    NoEntry,
    /// Another file has the name.
    #[error("there is a file or folder of that name already")]
    Exists,
    /// A file stands where a folder is needed.
    #[error("not a folder")]
    NotFolder,
    /// A folder stands where a file is needed.
    #[error("a folder")]
    IsFolder,
    /// A folder that is not empty.
    #[error("the folder is not empty")]
    NotEmpty,
    /// No room for more.
    #[error("no room for more files, or for more in them")]
    NoSpace,
    /// Too many are open.
    #[error("too many open files")]
    TooManyOpen,
    /// A name that is too long.
    #[error("the path is too long")]
    NameTooLong,
    /// What cannot be meant.
    #[error("not a valid argument")]
    Invalid,
    /// Nothing is open under this number, or not for this.
    #[error("not open, or not for this")]
    BadDescriptor,
    /// Links.
    #[error("not supported")]
    Unsupported,
}

/// What all files have in common.
#[derive(Default)]
pub(super) struct Usage {
    bytes: AtomicUsize,
    /// Files and folders that are open.
    pub(super) open: AtomicUsize,
    /// Changes so far, which stand for the time.
    changes: AtomicU64,
}

impl Usage {
    /// The number of a change that is made now.
    pub(super) fn change(&self) -> u64 {
        self.changes.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A file, which is there as long as a folder has it or a guest has it open.
#[derive(Clone)]
pub(super) struct File(Arc<Content>);

struct Content {
    number: u64,
    changed: AtomicU64,
    bytes: Mutex<Vec<u8>>,
    usage: Arc<Usage>,
}

impl File {
    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) fn new(usage: &Arc<Usage>) -> Self {
        let number = usage.change();
        let (changed, usage) = (AtomicU64::new(number), Arc::clone(usage));
        Self(Arc::new(Content { number, changed, bytes: Mutex::default(), usage }))
    }

    pub(super) fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read(&self, at: u64, length: usize) -> Vec<u8> {
        let bytes = self.bytes();
        let (_, rest) = bytes.split_at(usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len()));
        rest.split_at(length.min(rest.len())).0.to_vec()
    }

    /// Writes at a place, or at the end, and gives the place after it.
    pub(super) fn write(&self, at: Option<u64>, more: &[u8]) -> Result<u64, FileError> {
        let mut bytes = self.bytes();
        let at = at.unwrap_or(bytes.len() as u64);
        let start = usize::try_from(at).map_err(|_| FileError::NoSpace)?;
        let end = start.checked_add(more.len()).ok_or(FileError::NoSpace)?;
        if end > bytes.len() && !more.is_empty() {
            self.fit(&mut bytes, end)?;
        }
        if let Some(place) = bytes.get_mut(start..end) {
            place.copy_from_slice(more);
        }
        self.0.changed.store(self.0.usage.change(), Ordering::Relaxed);
        Ok(at + more.len() as u64)
    }

    pub(super) fn resize(&self, length: u64) -> Result<(), FileError> {
        let length = usize::try_from(length).map_err(|_| FileError::NoSpace)?;
        self.fit(&mut self.bytes(), length)?;
        self.0.changed.store(self.0.usage.change(), Ordering::Relaxed);
        Ok(())
    }

    fn fit(&self, bytes: &mut Vec<u8>, length: usize) -> Result<(), FileError> {
        let used = &self.0.usage.bytes;
        let have = bytes.len();
        if length <= have {
            bytes.truncate(length);
            bytes.shrink_to_fit();
            used.fetch_sub(have - length, Ordering::Relaxed);
            return Ok(());
        }
        let more = length - have;
        let fits = |used: usize| used.checked_add(more).filter(|all| *all <= FILES_BYTES_MAX);
        let granted = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        granted.map_err(|_| FileError::NoSpace)?;
        bytes.resize(length, 0);
        Ok(())
    }

    pub(super) fn stat(&self) -> Stat {
        let changed = self.0.changed.load(Ordering::Relaxed);
        Stat { number: self.0.number, bytes: Some(self.bytes().len() as u64), changed }
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        let bytes = self.bytes.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.usage.bytes.fetch_sub(bytes.len(), Ordering::Relaxed);
    }
}

/// What is known of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) number: u64,
    /// None for a folder.
    pub(super) bytes: Option<u64>,
    pub(super) changed: u64,
}

impl Stat {
    /// When it was changed last. Each change takes a microsecond, which is as much as programs can tell
    /// apart.
    pub(super) fn changed(&self) -> Duration {
        START + Duration::from_micros(self.changed)
    }
}
