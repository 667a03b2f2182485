//! One process writes a run at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Held while a run is written. The operating system releases it when the process ends, however
/// it ends, so there are no stale locks.
pub(super) struct Lock {
    file: File,
    /// The process that took it.
    process: u32,
}

impl Drop for Lock {
    /// A process that was forked from this one, and is about to become another program, still has the
    /// file open: closing it here would not release the lock. One that goes on as a copy of this
    /// process must leave it alone.
    fn drop(&mut self) {
        if self.process == std::process::id() {
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
        Ok(Self { file, process: std::process::id() })
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
        assert!(Lock::take(&path, 3).is_ok());
        drop(inherited);
    }
}
