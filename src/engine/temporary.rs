//! Temporary files: what becomes a file by being renamed, and what killed processes left of that.
//!
//! A temporary file is locked for as long as its process lives, so that whoever finds one that is not
//! can remove it.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

const PREFIX: &str = ".";
const SUFFIX: &str = ".tmp";

/// A temporary file that is to become one of `folder`, or of a folder beside it.
pub(super) fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    // Readable by others as far as the user's mask allows, like any file that is written plainly.
    let readable = Permissions::from_mode(0o666);
    let mut builder = tempfile::Builder::new();
    let file = builder.prefix(PREFIX).suffix(SUFFIX).permissions(readable).tempfile_in(folder)?;
    // A file system without locks has files that others take for left behind: writing them is
    // tried again by the next run.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Whether a name is that of a temporary file.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Removes the temporary files in `folder` whose processes are gone. What cannot be removed is in
/// nobody's way.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_ours = entry.file_name().to_str().is_some_and(is_temporary);
        if is_file && is_ours && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_live_process_writes_stays_and_the_rest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let live = temporary_in(folder.path()).unwrap();
        let left = temporary_in(folder.path()).unwrap().into_temp_path();
        File::create(folder.path().join("a.tmp")).unwrap();
        fs::create_dir(folder.path().join(".d.tmp")).unwrap();
        sweep(folder.path());
        assert!(live.path().exists() && !left.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
