//! Digests of large files that were hashed before, and what was proved of them: a start reads 15 GB of weights
//! once.

use std::fs::{self, File, Metadata};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use assay_verifiers::canonical;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Files below this size are hashed each time, in bytes.
const KNOWN_FROM: u64 = 1 << 20;

/// When the files of a model are held to the SHA-256 of its manifest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase", from = "Given")]
#[schemars(with = "Given")]
pub enum VerifyDigests {
    /// At each start.
    Always,
    /// Where a file was not held to it before: its place, inode, size or one of its times is another.
    #[default]
    Once,
    /// Not at all: the manifest is believed.
    Never,
}

/// What a configuration may say.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Given {
    /// `true` is `"always"`, `false` is `"never"`.
    Flag(bool),
    Word(Word),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Word {
    Always,
    Once,
    Never,
}

impl From<Given> for VerifyDigests {
    fn from(given: Given) -> Self {
        match given {
            Given::Flag(true) | Given::Word(Word::Always) => Self::Always,
            Given::Word(Word::Once) => Self::Once,
            Given::Flag(false) | Given::Word(Word::Never) => Self::Never,
        }
    }
}

/// The SHA-256 of what is left of a file.
pub(crate) fn of(file: &mut File) -> std::io::Result<[u8; 32]> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(buffer.split_at(count).0);
    }
}

/// The longest fact that is kept, in bytes.
const FACT_BYTES_MAX: u64 = 1 << 10;

/// A folder that holds the digest of each file that was hashed, and each fact that was proved: a file each.
#[derive(Clone, Debug)]
pub(crate) struct KnownDigests<'a> {
    pub(crate) folder: &'a Path,
}

impl KnownDigests<'_> {
    /// The digest of the file, if it is the one that was hashed.
    pub(crate) fn find(&self, path: &Path, about: &Metadata) -> Option<[u8; 32]> {
        from_hex(&read(&self.place(path, about)?)?)
    }

    /// What was proved under a key.
    pub(crate) fn fact(&self, key: &[u8; 32]) -> Option<String> {
        read(&self.folder.join(canonical::hex(key)))
    }

    /// Keeps what was proved.
    pub(crate) fn keep_fact(&self, key: &[u8; 32], fact: &str) {
        let _ = self.write(&self.folder.join(canonical::hex(key)), fact);
    }

    /// Keeps the digest of a file that was `before` hashing what it is now. What cannot be written is
    /// hashed again.
    pub(crate) fn keep(&self, path: &Path, before: &Metadata, digest: &[u8; 32]) {
        let now = fs::metadata(path).ok();
        let places = now.map(|now| (self.place(path, before), self.place(path, &now)));
        let Some((Some(place), Some(same))) = places else { return };
        if place == same {
            let _ = self.write(&place, &canonical::hex(digest));
        }
    }

    fn write(&self, place: &Path, text: &str) -> std::io::Result<()> {
        fs::create_dir_all(self.folder)?;
        let temporary = place.with_extension(std::process::id().to_string());
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&temporary, place)
    }

    /// Where the digest is kept, by all that tells the file from another one; nowhere for small files.
    fn place(&self, path: &Path, about: &Metadata) -> Option<PathBuf> {
        if about.len() < KNOWN_FROM {
            return None;
        }
        let stamp = stamp(about)?;
        let key = Sha256::digest(format!("{}\n{stamp}", path.display()));
        Some(self.folder.join(canonical::hex(&key)))
    }
}

fn read(place: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(place).ok()?.take(FACT_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// What tells a file from another one, and from itself at another time.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere files have no number that stays")]
pub(crate) fn stamp(about: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let times = (about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec());
    Some(format!("{} {} {} {times:?}", about.dev(), about.ino(), about.size()))
}

/// Elsewhere files have no number that stays.
#[cfg(not(unix))]
pub(crate) fn stamp(_: &Metadata) -> Option<String> {
    None
}

/// The bytes of a SHA-256 in hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_until_anything_of_it_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (file, kept) = (folder.path().join("weights"), folder.path().join("digests"));
        let known = KnownDigests { folder: &kept };
        let about = || fs::metadata(&file).unwrap();
        let write = |byte: u8, length: usize| {
            File::create(&file).unwrap().write_all(&vec![byte; length]).unwrap();
        };
        write(1, 2 << 20);
        let first = about();
        assert_eq!(known.find(&file, &first), None);
        known.keep(&file, &first, &[7; 32]);
        assert_eq!(known.find(&file, &first), Some([7; 32]));
        assert_eq!(known.find(&folder.path().join("other"), &first), None);

        // The same bytes at the same time, but written again.
        let times = fs::FileTimes::new().set_modified(first.modified().unwrap());
        write(2, 2 << 20);
        File::options().write(true).open(&file).unwrap().set_times(times).unwrap();
        assert_eq!(known.find(&file, &about()), None);
        // A file that changes while it is hashed is not kept.
        known.keep(&file, &first, &[8; 32]);
        assert_eq!(known.find(&file, &about()), None);

        write(3, 1 << 10);
        known.keep(&file, &about(), &[9; 32]);
        assert_eq!(known.find(&file, &about()), None, "small files are hashed each time");
    }

    #[test]
    fn settings_are_words_or_flags() {
        for (text, expected) in [
            ("true", VerifyDigests::Always),
            ("false", VerifyDigests::Never),
            ("\"once\"", VerifyDigests::Once),
            ("\"always\"", VerifyDigests::Always),
        ] {
            assert_eq!(serde_json::from_str::<VerifyDigests>(text).unwrap(), expected, "{text}");
        }
        assert!(serde_json::from_str::<VerifyDigests>("\"sometimes\"").is_err());
        assert_eq!((from_hex(&"0f".repeat(32)), from_hex("0f")), (Some([15; 32]), None));
    }
}
