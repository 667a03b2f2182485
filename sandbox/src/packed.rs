//! Guests as they are shipped: compressed, and unpacked into the user's cache when they are first used.
//!
//! `python.wasm` travels as `python.wasm.zst`, its compiled form and its digests beside it in the same
//! way. The folder that they are unpacked into is named after the digests, so that versions lie side by
//! side, and it is renamed into place when it is whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_verifiers::{Digest, canonical};
use sha2::{Digest as _, Sha256};

use crate::runtime::{SandboxError, parts};

/// What ends the name of a packed file.
const SUFFIX: &str = "zst";
/// Packed once a release, unpacked by everybody.
const LEVEL: i32 = 19;

/// Writes a guest, its compiled form and its digests into `folder`, packed.
///
/// # Errors
/// Files that cannot be read or written.
pub fn pack(guest: &Path, folder: &Path) -> Result<(), SandboxError> {
    fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
    parts(guest).iter().try_for_each(|part| {
        let packed = packed(&folder.join(part.file_name().unwrap_or_default()));
        let write =
            || zstd::stream::copy_encode(fs::File::open(part)?, fs::File::create(&packed)?, LEVEL);
        write().map_err(|error| refused(part, &error))
    })
}

/// Where the guest that is packed beside `guest` lies unpacked below `cache`; `None` where it is not
/// packed.
///
/// # Errors
/// No cache, and files that cannot be read or written.
pub(crate) fn unpacked(
    guest: &Path,
    cache: Option<&Path>,
) -> Option<Result<PathBuf, SandboxError>> {
    let shipped = packed(guest);
    if !shipped.is_file() {
        return None;
    }
    let unpack = || {
        let cache = cache.ok_or_else(|| io::Error::other("no cache folder: set XDG_CACHE_HOME"))?;
        let parts = parts(guest);
        let [_, _, sums] = &parts;
        let digest = canonical::hex(&Digest::from(Sha256::digest(fs::read(packed(sums))?)));
        let home = cache.join(format!("unpacked-{}", &digest[..16]));
        let name = guest.file_name().unwrap_or_default();
        if !home.is_dir() {
            fs::create_dir_all(cache)?;
            let work = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(cache)?;
            for part in &parts {
                let file =
                    fs::File::create(work.path().join(part.file_name().unwrap_or_default()))?;
                zstd::stream::copy_decode(fs::File::open(packed(part))?, file)?;
            }
            // Another process may have been faster: its files are the same, and ours go with `work`.
            let moved = fs::rename(work.path(), &home);
            if !home.is_dir() {
                moved?;
            }
        }
        Ok(home.join(name))
    };
    Some(unpack().map_err(|error: io::Error| refused(&shipped, &error)))
}

fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(SUFFIX);
    PathBuf::from(name)
}

fn refused(path: &Path, error: &io::Error) -> SandboxError {
    SandboxError::Guest { name: path.display().to_string(), why: error.to_string() }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes files that nobody else reads")]
mod tests {
    use super::*;

    #[test]
    fn a_packed_guest_comes_back_whole_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let guest = folder.path().join("guest.wasm");
        for (at, part) in parts(&guest).iter().enumerate() {
            fs::write(part, vec![u8::try_from(at).unwrap(); 100_000]).unwrap();
        }
        let (ship, cache) = (folder.path().join("share"), folder.path().join("cache"));
        pack(&guest, &ship).unwrap();
        let shipped = ship.join("guest.wasm");
        let unpacked = |cache: &Path| unpacked(&shipped, Some(cache)).unwrap().unwrap();
        let first = unpacked(&cache);
        for (was, is) in parts(&guest).iter().zip(parts(&first)) {
            assert_eq!(fs::read(was).unwrap(), fs::read(is).unwrap());
        }
        assert_eq!(unpacked(&cache), first);
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 1, "nothing is left of the work");
    }

    #[test]
    fn what_cannot_be_unpacked_names_the_file_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let guest = folder.path().join("guest.wasm");
        assert!(unpacked(&guest, None).is_none(), "nothing is packed there");
        for part in parts(&guest) {
            fs::write(packed(&part), b"not zstd").unwrap();
        }
        let cache = folder.path().join("cache");
        for cache in [None, Some(cache.as_path())] {
            let error = unpacked(&guest, cache).unwrap().unwrap_err().to_string();
            assert!(error.contains("guest.wasm.zst"), "{error}");
        }
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 0);
    }
}
