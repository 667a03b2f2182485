//! Storage behind a small trait, so that a test can stop it at the nth write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::data::open_regular;
use crate::engine::temporary::temporary_in;

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
        let path = self.dir.join(name);
        // A pipe in its place would wait for a reader.
        match open_regular(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => write_atomic(&path, bytes),
        }
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
/// the same folder, brought to the disk, renamed, and the folder brought to the disk. What a link
/// names is written, not the link; a device or a pipe is written to as it is.
///
/// # Errors
/// A folder that cannot be written, or a device that does not take all of it.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// A file that is there once all of it was written, as [`write_atomic`] writes it.
pub struct OutputFile(Output);

enum Output {
    /// To be renamed.
    Temporary(NamedTempFile, PathBuf),
    /// Written to as it is.
    Open(File),
}

impl OutputFile {
    /// Starts the file at `path`.
    ///
    /// # Errors
    /// A folder that cannot be written, or a device that cannot be opened.
    pub fn create(path: &Path) -> io::Result<Self> {
        if is_written_to(path) {
            return Ok(Self(Output::Open(OpenOptions::new().append(true).open(path)?)));
        }
        let linked = if path.is_symlink() { fs::canonicalize(path).ok() } else { None };
        let path = linked.unwrap_or_else(|| path.to_owned());
        Ok(Self(Output::Temporary(temporary_in(folder_of(&path))?, path)))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// A disk that does not take it.
    pub fn commit(self) -> io::Result<()> {
        match self.0 {
            Output::Open(mut file) => file.flush(),
            Output::Temporary(file, path) => {
                file.as_file().sync_all()?;
                file.persist(&path)?;
                File::open(folder_of(&path))?.sync_all()
            }
        }
    }
}

impl io::Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Output::Open(file) => file.write(bytes),
            Output::Temporary(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Output::Open(file) => file.flush(),
            Output::Temporary(file, _) => file.flush(),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Whether a path is not a place for a file of ours: a device, a pipe, or a file that this process has
/// open, such as `/dev/stdout`. Renaming a file over it would take it from others.
fn is_written_to(path: &Path) -> bool {
    let is_open = path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    let is_standard = ["/dev/stdout", "/dev/stderr"].iter().any(|own| path == Path::new(own));
    let is_odd = |meta: fs::Metadata| !meta.is_file() && !meta.is_dir();
    is_open || is_standard || fs::metadata(path).is_ok_and(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_written_to_and_links_are_followed() {
        let full = write_atomic(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        write_atomic(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_atomic(&file, b"a").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomic(&link, b"b").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"b");
        assert!(write_atomic(folder.path(), b"c").is_err());
    }

    #[test]
    fn what_is_no_file_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("a")).unwrap();
        let mut store = DiskStore::new(folder.path()).unwrap();
        let error = store.replace("a", b"1").unwrap_err().to_string();
        assert_eq!(error, "a device; expected a regular file");
        store.replace("b", b"1").unwrap();
        store.replace("b", b"2").unwrap();
        assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"2");
    }
}
