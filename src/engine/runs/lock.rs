//! One process writes a run at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How often a lock is tried whose file its holder just removed.
const TRIES: usize = 100;

/// Held while a run is written. The operating system releases it when the process ends, however
/// it ends, so there are no stale locks. Its file goes with it; that of a process that was killed
/// goes with the next lock.
pub(super) struct Lock {
    file: File,
    path: PathBuf,
    /// The process that took it.
    process: u32,
}

impl Drop for Lock {
    /// A process that was forked from this one, and is about to become another program, still has the
    /// file open: closing it here would not release the lock. One that goes on as a copy of this
    /// process must leave it alone.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // Removed while it is held: who opened it before sees that it is gone.
            let _ = fs::remove_file(&self.path);
            let _ = self.file.unlock();
        }
    }
}

pub(super) enum Refused {
    /// Another process holds it; its id, where it can be read.
    Held(Option<u32>),
    Io(io::Error),
}

impl Lock {
    pub(super) fn take(path: &Path, pid: u32) -> Result<Self, Refused> {
        for _ in 0..TRIES {
            let file = open_locked(path, pid)?;
            // Its last holder may have removed it between the opening and the locking.
            if is_at(&file, path) {
                return Ok(Self { file, path: path.to_owned(), process: std::process::id() });
            }
        }
        Err(Refused::Held(None))
    }
}

fn open_locked(path: &Path, pid: u32) -> Result<File, Refused> {
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .open(path)
        .map_err(Refused::Io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _ = file.read_to_string(&mut text);
            return Err(Refused::Held(text.trim().parse().ok()));
        }
        Err(TryLockError::Error(error)) => return Err(Refused::Io(error)),
    }
    let write = |file: &mut File| {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        writeln!(file, "{pid}")
    };
    write(&mut file).map_err(Refused::Io)?;
    Ok(file)
}

/// Whether a file is the one that is at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |meta: fs::Metadata| (meta.dev(), meta.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(there)) => place(own) == place(there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_released_though_another_holder_of_the_file_lives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::take(&path, 1).ok().unwrap();
        let inherited = lock.file.try_clone().unwrap();
        assert!(matches!(Lock::take(&path, 2), Err(Refused::Held(Some(1)))));
        drop(lock);
        assert!(!path.exists());
        assert!(Lock::take(&path, 3).is_ok());
        drop(inherited);
        assert!(!path.exists());
    }
}
