//! Storage behind a small trait, so that a test can stop it at the nth write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The files of one run, by name.
pub trait Store: Send {
    /// Appends to a file, making it where it is not there.
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Replaces a file atomically: a reader sees the old bytes or the new ones.
    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file to a length.
    fn truncate(&mut self, name: &str, bytes: u64) -> io::Result<()>;
    /// Brings what was appended to the disk.
    fn sync(&mut self, name: &str) -> io::Result<()>;
    /// Removes a file, if it is there.
    fn remove(&mut self, name: &str) -> io::Result<()>;
    /// Renames a file over another.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;
}

/// A folder on disk.
pub struct DiskStore {
    dir: PathBuf,
    open: Vec<(String, File)>,
}

impl DiskStore {
    /// The store in `dir`, which is made where it is not there.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(dir: impl Into<PathBuf>) -> io::Result<Self> {
        let dir = dir.into();
        fs::create_dir_all(&dir)?;
        Ok(Self { dir, open: Vec::new() })
    }

    fn close(&mut self, name: &str) {
        self.open.retain(|(open, _)| open != name);
    }
}

impl Store for DiskStore {
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some((_, file)) = self.open.iter_mut().find(|(open, _)| open == name) {
            return file.write_all(bytes);
        }
        let mut file = OpenOptions::new().create(true).append(true).open(self.dir.join(name))?;
        file.write_all(bytes)?;
        self.open.push((name.to_owned(), file));
        Ok(())
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.close(name);
        write_atomic(&self.dir.join(name), bytes)
    }

    fn truncate(&mut self, name: &str, bytes: u64) -> io::Result<()> {
        self.close(name);
        match OpenOptions::new().write(true).open(self.dir.join(name)) {
            Ok(file) => file.set_len(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound && bytes == 0 => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        match self.open.iter().find(|(open, _)| open == name) {
            Some((_, file)) => file.sync_all(),
            None => Ok(()),
        }
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.close(name);
        match fs::remove_file(self.dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.sync(from)?;
        self.close(from);
        self.close(to);
        fs::rename(self.dir.join(from), self.dir.join(to))?;
        File::open(&self.dir)?.sync_all()
    }
}

/// Writes a file atomically, so that a reader sees the old bytes or the new ones: a temporary file in
/// the same folder, brought to the disk, renamed, and the folder brought to the disk.
///
/// # Errors
/// A folder that cannot be written.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = temporary_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()
}

/// A temporary file that is to become one of `folder`.
pub(super) fn temporary_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    // Readable by others as far as the user's mask allows, like any file that is written plainly.
    let readable = fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".").suffix(".tmp").permissions(readable).tempfile_in(folder)
}
