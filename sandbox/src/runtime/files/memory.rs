//! The files of one guest, and what it has open.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file::{File, FileError, Stat, Usage};
use super::tree::{Entry, Tree};

/// Files and folders that a guest has open at once.
pub(super) const OPEN_MAX: usize = 1024;
/// Bytes of a path.
pub(super) const PATH_BYTES_MAX: usize = 1024;
/// Bytes that one call reads or writes at most; more would take longer than the call pays for.
pub(super) const CALL_BYTES_MAX: usize = 1 << 20;
/// The folder for files that are needed for a while. Programs look for it by its name.
const TEMPORARY: &str = "tmp";

/// The files of a guest, below `/`, which is its working directory. Clones are the same files.
#[derive(Clone)]
pub struct MemoryFiles(Arc<Held>);

struct Held {
    tree: Mutex<Tree>,
    usage: Arc<Usage>,
}

impl Default for MemoryFiles {
    fn default() -> Self {
        let files = Self(Arc::new(Held { tree: Mutex::new(Tree::new()), usage: Arc::default() }));
        let is_made = files.tree().insert(TEMPORARY, Entry::folder(0).hidden());
        debug_assert!(is_made.is_ok(), "an empty tree has room");
        files
    }
}

impl MemoryFiles {
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
    /// As [`MemoryFiles::put`].
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

    pub(super) fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn folder(&self) -> Result<Open, FileError> {
        Open::new(self, Node::Folder(String::new()), Access::default())
    }

    /// Opens what is at a path, seen from a folder.
    pub(super) fn open(&self, path: &str, how: How) -> Result<Open, FileError> {
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

    pub(super) fn make_folder(&self, path: &str) -> Result<(), FileError> {
        self.tree().insert(path, Entry::folder(self.0.usage.change()))
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        self.tree().rename(from, to, self.0.usage.change())
    }

    pub(super) fn remove(&self, path: &str, is_folder: bool) -> Result<(), FileError> {
        self.tree().remove(path, is_folder, self.0.usage.change())
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Access {
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) append: bool,
}

/// How a file is opened.
#[expect(clippy::struct_excessive_bools, reason = "flags, as systems have them")]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct How {
    pub(super) access: Access,
    pub(super) create: bool,
    pub(super) exclusive: bool,
    pub(super) truncate: bool,
    pub(super) folder: bool,
}

/// An open file or folder.
pub(super) struct Open {
    pub(super) files: MemoryFiles,
    node: Node,
    pub(super) access: Access,
}

enum Node {
    /// By its path.
    Folder(String),
    File(File),
}

impl Open {
    fn new(files: &MemoryFiles, node: Node, access: Access) -> Result<Self, FileError> {
        let open = Self { files: files.clone(), node, access };
        // Dropping takes it back.
        let before = open.files.0.usage.open.fetch_add(1, Ordering::Relaxed);
        if before < OPEN_MAX { Ok(open) } else { Err(FileError::TooManyOpen) }
    }

    /// The path that a guest names from this folder.
    pub(super) fn path(&self, path: &str) -> Result<String, FileError> {
        match &self.node {
            Node::Folder(folder) => resolved(folder, path),
            Node::File(_) => Err(FileError::NotFolder),
        }
    }

    pub(super) fn file(&self) -> Result<&File, FileError> {
        match &self.node {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(FileError::IsFolder),
        }
    }

    pub(super) fn readable(&self) -> Result<&File, FileError> {
        let file = self.file()?;
        if self.access.read { Ok(file) } else { Err(FileError::BadDescriptor) }
    }

    pub(super) fn writable(&self) -> Result<&File, FileError> {
        let file = self.file()?;
        if self.access.write { Ok(file) } else { Err(FileError::BadDescriptor) }
    }

    pub(super) fn stat(&self) -> Result<Stat, FileError> {
        match &self.node {
            Node::File(file) => Ok(file.stat()),
            Node::Folder(path) => self.files.tree().stat(path),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<(String, Stat)>, FileError> {
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
pub(super) fn resolved(folder: &str, path: &str) -> Result<String, FileError> {
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
