//! Files of a guest, in memory: those that it is given, and those that it writes. None is a file of the
//! machine. They outlive the guest, however that ended, so that what it wrote can be read.

pub(super) mod component;
pub(super) mod program;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::START;
use tree::{Entry, Tree};

/// Bytes of all files of a guest.
pub const FILES_BYTES_MAX: usize = 32 << 20;
/// Files and folders of a guest.
const ENTRIES_MAX: usize = 4096;
/// Files and folders that a guest has open at once.
const OPEN_MAX: usize = 1024;
/// Bytes of a path.
const PATH_BYTES_MAX: usize = 1024;
/// Bytes that one call reads or writes at most; more would take longer than the call pays for.
const CALL_BYTES_MAX: usize = 64 << 10;
/// The folder for files that are needed for a while. Programs look for it by its name.
const TEMPORARY: &str = "tmp";

/// The files of a guest, below `/`, which is its working directory. Clones are the same files.
#[derive(Clone)]
pub struct Files(Arc<Held>);

struct Held {
    tree: Mutex<Tree>,
    usage: Arc<Usage>,
}

/// What all files have in common.
#[derive(Default)]
struct Usage {
    bytes: AtomicUsize,
    open: AtomicUsize,
    /// Changes so far, which stand for the time.
    changes: AtomicU64,
}

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

impl Default for Files {
    fn default() -> Self {
        let files = Self(Arc::new(Held { tree: Mutex::new(Tree::new()), usage: Arc::default() }));
        let is_made = files.tree().insert(TEMPORARY, Entry::folder(0).hidden());
        debug_assert!(is_made.is_ok(), "an empty tree has room");
        files
    }
}

impl Files {
    /// Puts a file at a path, with the folders on the way.
    ///
    /// # Errors
    /// A path that another file takes or that is not valid, and files that are too large.
    pub fn put(&self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.place(path, bytes, false)
    }

    /// The same for a file that no folder lists, so that a program finds itself and sees only what it
    /// was given.
    ///
    /// # Errors
    /// As [`Files::put`].
    pub fn put_unlisted(&self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.place(path, bytes, true)
    }

    /// What is in the file at a path.
    pub fn get(&self, path: &str) -> Option<Vec<u8>> {
        let path = resolved("", path).ok()?;
        let file = self.tree().entry(&path).ok()?.file.clone()?;
        Some(file.bytes().clone())
    }

    /// Whether a path is taken.
    pub fn has(&self, path: &str) -> bool {
        resolved("", path).is_ok_and(|path| self.tree().entry(&path).is_ok())
    }

    fn place(&self, path: &str, bytes: &[u8], is_hidden: bool) -> Result<(), FileError> {
        let path = resolved("", path)?;
        let mut folder = String::new();
        let (above, _) = path.rsplit_once('/').unwrap_or_default();
        for part in above.split('/').filter(|part| !part.is_empty()) {
            folder = resolved(&folder, part)?;
            match self.tree().insert(&folder, Entry::folder(self.0.usage.change())) {
                Ok(()) | Err(FileError::Exists) => {}
                Err(error) => return Err(error),
            }
        }
        let entry = Entry::file(File::new(&self.0.usage));
        let file = entry.file.clone();
        self.tree().insert(&path, if is_hidden { entry.hidden() } else { entry })?;
        file.ok_or(FileError::Invalid)?.write(Some(0), bytes).map(drop)
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(&self) -> Result<Open, FileError> {
        Open::new(self, Node::Folder(String::new()), Access::default())
    }

    /// Opens what is at a path, seen from a folder.
    fn open(&self, path: &str, how: How) -> Result<Open, FileError> {
        let mut tree = self.tree();
        let found = match tree.entry(path) {
            Ok(_) if how.create && how.exclusive => return Err(FileError::Exists),
            Ok(entry) => entry.file.clone(),
            Err(FileError::NoEntry) if how.create && !how.folder => {
                let file = File::new(&self.0.usage);
                tree.insert(path, Entry::file(file.clone()))?;
                Some(file)
            }
            Err(error) => return Err(error),
        };
        drop(tree);
        let node = match found {
            Some(_) if how.folder => return Err(FileError::NotFolder),
            None if how.access.write || how.truncate => return Err(FileError::IsFolder),
            None => Node::Folder(path.to_owned()),
            Some(file) => {
                if how.truncate {
                    file.resize(0)?;
                }
                Node::File(file)
            }
        };
        Open::new(self, node, how.access)
    }

    fn make_folder(&self, path: &str) -> Result<(), FileError> {
        self.tree().insert(path, Entry::folder(self.0.usage.change()))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        self.tree().rename(from, to, self.0.usage.change())
    }

    fn remove(&self, path: &str, is_folder: bool) -> Result<(), FileError> {
        self.tree().remove(path, is_folder, self.0.usage.change())
    }
}

impl Usage {
    /// The number of a change that is made now.
    fn change(&self) -> u64 {
        self.changes.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A file, which is there as long as a folder has it or a guest has it open.
#[derive(Clone)]
struct File(Arc<Content>);

struct Content {
    number: u64,
    changed: AtomicU64,
    bytes: Mutex<Vec<u8>>,
    usage: Arc<Usage>,
}

impl File {
    fn new(usage: &Arc<Usage>) -> Self {
        let number = usage.change();
        let (changed, usage) = (AtomicU64::new(number), Arc::clone(usage));
        Self(Arc::new(Content { number, changed, bytes: Mutex::default(), usage }))
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, at: u64, length: usize) -> Vec<u8> {
        let start = usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = self.bytes();
        let rest = bytes.get(start..).unwrap_or_default();
        rest.get(..length).unwrap_or(rest).to_vec()
    }

    /// Writes at a place, or at the end, and gives the place behind it.
    fn write(&self, at: Option<u64>, more: &[u8]) -> Result<u64, FileError> {
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

    fn resize(&self, length: u64) -> Result<(), FileError> {
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

    fn stat(&self) -> Stat {
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
struct Stat {
    number: u64,
    /// None for a folder.
    bytes: Option<u64>,
    changed: u64,
}

impl Stat {
    /// When it was changed last. Each change takes a microsecond, which is as much as programs can tell
    /// apart.
    fn changed(&self) -> Duration {
        START + Duration::from_micros(self.changed)
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, Default)]
struct Access {
    read: bool,
    write: bool,
    append: bool,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
struct How {
    access: Access,
    create: bool,
    exclusive: bool,
    truncate: bool,
    folder: bool,
}

/// An open file or folder.
struct Open {
    files: Files,
    node: Node,
    access: Access,
}

enum Node {
    /// By its path.
    Folder(String),
    File(File),
}

impl Open {
    fn new(files: &Files, node: Node, access: Access) -> Result<Self, FileError> {
        let open = Self { files: files.clone(), node, access };
        // Dropping takes it back.
        let before = open.files.0.usage.open.fetch_add(1, Ordering::Relaxed);
        if before < OPEN_MAX { Ok(open) } else { Err(FileError::TooManyOpen) }
    }

    /// The path that a guest names from this folder.
    fn path(&self, path: &str) -> Result<String, FileError> {
        match &self.node {
            Node::Folder(folder) => resolved(folder, path),
            Node::File(_) => Err(FileError::NotFolder),
        }
    }

    fn file(&self) -> Result<&File, FileError> {
        match &self.node {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(FileError::IsFolder),
        }
    }

    fn readable(&self) -> Result<&File, FileError> {
        let file = self.file()?;
        if self.access.read { Ok(file) } else { Err(FileError::BadDescriptor) }
    }

    fn writable(&self) -> Result<&File, FileError> {
        let file = self.file()?;
        if self.access.write { Ok(file) } else { Err(FileError::BadDescriptor) }
    }

    fn stat(&self) -> Result<Stat, FileError> {
        match &self.node {
            Node::File(file) => Ok(file.stat()),
            Node::Folder(path) => self.files.tree().stat(path),
        }
    }

    fn list(&self) -> Result<Vec<(String, Stat)>, FileError> {
        match &self.node {
            Node::Folder(path) => self.files.tree().list(path),
            Node::File(_) => Err(FileError::NotFolder),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.files.0.usage.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A path as the tree has it: from the root, without what stands for nothing.
fn resolved(folder: &str, path: &str) -> Result<String, FileError> {
    if path.contains('\0') {
        return Err(FileError::Invalid);
    }
    if path.len() > PATH_BYTES_MAX {
        return Err(FileError::NameTooLong);
    }
    let mut parts: Vec<&str> = Vec::new();
    let folder = if path.starts_with('/') { "" } else { folder };
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let whole = parts.join("/");
    if whole.len() > PATH_BYTES_MAX { Err(FileError::NameTooLong) } else { Ok(whole) }
}
