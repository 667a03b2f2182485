//! The verdict cache: content-addressed, kept for the next run.
//!
//! One entry is one file, named by its key: SHA-256 over the verifier (id, version, settings,
//! files, fuel) and the sample. The file holds its key, and the SHA-256 of all of it, so an entry that
//! is torn, altered or in the place of another is found, counted and computed again. What is not a plain
//! file is not an entry. Rename is the commit, so processes that share a cache never see half an entry. A
//! cache that is full or read-only slows the run, is said once, and changes nothing else.

use std::fs;
use std::io::{self, Write as _};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::{Outcome, Sample, Verdict};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::temporary::{is_temporary, sweep, temporary_in};

/// The folder of entries that are being written.
const WRITING: &str = "writing";

/// The length of a digest in hexadecimal.
const HEX: usize = 64;

/// Told what the user should know.
pub type CacheNotice = Arc<dyn Fn(&str) + Send + Sync>;

/// A folder of kept verdicts.
pub struct Cache {
    dir: PathBuf,
    counts: Counts,
    notice: Option<CacheNotice>,
    /// What killed processes left was removed.
    swept: Once,
    /// It was said that the cache cannot be written.
    said: Once,
}

#[derive(Default)]
struct Counts {
    hit: AtomicU64,
    miss: AtomicU64,
    corrupt: AtomicU64,
    unwritten: AtomicU64,
}

/// How a cache fared during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCounts {
    /// Verdicts that were found.
    pub hit: u64,
    /// Verdicts that were not there.
    pub miss: u64,
    /// Entries whose digest or key did not fit: computed again.
    pub corrupt: u64,
    /// Verdicts that could not be kept.
    pub unwritten: u64,
}

impl AddAssign for CacheCounts {
    fn add_assign(&mut self, other: Self) {
        self.hit += other.hit;
        self.miss += other.miss;
        self.corrupt += other.corrupt;
        self.unwritten += other.unwritten;
    }
}

/// What is in a cache folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    /// Entries that are whole.
    pub entries: u64,
    /// Their size.
    pub bytes: u64,
    /// Entries whose digest or key does not fit.
    pub corrupt: u64,
    /// Temporary files that a stopped process left.
    pub stale: u64,
}

enum Found {
    Verdict(Verdict),
    Nothing,
    Corrupt,
}

impl Cache {
    /// The cache in `dir`, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            counts: Counts::default(),
            notice: None,
            swept: Once::new(),
            said: Once::new(),
        }
    }

    /// Tells `notice` once where verdicts cannot be kept.
    #[must_use]
    pub fn with_notice(self, notice: Option<CacheNotice>) -> Self {
        Self { notice, ..self }
    }

    /// The key of a verifier's verdict on a sample.
    pub fn key(verifier: &Digest, sample: &Sample) -> Digest {
        canonical::digest_parts(&[verifier, &sample.digest()])
    }

    /// The verdict kept under `key`.
    pub fn get(&self, key: &Digest) -> Option<Verdict> {
        let (count, verdict) = match read(&self.path(key), &canonical::hex(key)) {
            Found::Verdict(verdict) => (&self.counts.hit, Some(verdict)),
            Found::Nothing => (&self.counts.miss, None),
            Found::Corrupt => (&self.counts.corrupt, None),
        };
        count.fetch_add(1, Ordering::Relaxed);
        verdict
    }

    /// Keeps a verdict, unless it failed.
    pub fn put(&self, key: &Digest, verdict: &Verdict) {
        if matches!(verdict.outcome, Outcome::Failed(_)) {
            return;
        }
        let Err(error) = self.write(key, verdict) else { return };
        self.counts.unwritten.fetch_add(1, Ordering::Relaxed);
        if let Some(notice) = &self.notice {
            let dir = self.dir.display();
            let text = format!(
                "warning: the cache {dir} cannot be written ({error}): verdicts are given, and not kept"
            );
            self.said.call_once(|| notice(&text));
        }
    }

    fn write(&self, key: &Digest, verdict: &Verdict) -> io::Result<()> {
        let body = serde_json::to_vec(verdict)?;
        let key_hex = canonical::hex(key);
        let mut file = self.temporary()?;
        file.write_all(key_hex.as_bytes())?;
        file.write_all(digest(&key_hex, &body).as_bytes())?;
        file.write_all(&body)?;
        let path = self.path(key);
        // The folder is there for all but the first entry of a shard.
        let Err(failed) = file.persist(&path) else { return Ok(()) };
        if failed.error.kind() != io::ErrorKind::NotFound {
            return Err(failed.error);
        }
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        failed.file.persist(&path)?;
        Ok(())
    }

    /// A file that is to become an entry.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        let folder = self.dir.join(WRITING);
        self.swept.call_once(|| sweep(&folder));
        match temporary_in(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&folder)?;
                temporary_in(&folder)
            }
            other => other,
        }
    }

    /// How the cache fared so far.
    pub fn counts(&self) -> CacheCounts {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CacheCounts {
            hit: load(&self.counts.hit),
            miss: load(&self.counts.miss),
            corrupt: load(&self.counts.corrupt),
            unwritten: load(&self.counts.unwritten),
        }
    }

    /// Reads every entry and checks its digest and its key.
    ///
    /// # Errors
    /// A folder that cannot be listed. One that does not exist is an empty cache.
    pub fn verify(&self) -> io::Result<(CacheStats, Vec<PathBuf>)> {
        let mut stats = CacheStats::default();
        let mut bad = Vec::new();
        for path in self.files()? {
            let Some(key) = key_of(&path) else {
                stats.stale += 1;
                continue;
            };
            match read(&path, &key) {
                Found::Verdict(_) => {
                    stats.entries += 1;
                    stats.bytes += fs::metadata(&path).map_or(0, |meta| meta.len());
                }
                Found::Corrupt => {
                    stats.corrupt += 1;
                    bad.push(path);
                }
                Found::Nothing => {}
            }
        }
        Ok((stats, bad))
    }

    /// Removes every entry and says how many there were. Files that are not ours stay.
    ///
    /// # Errors
    /// An entry that cannot be removed.
    pub fn clear(&self) -> io::Result<u64> {
        let files = self.files()?;
        for path in &files {
            fs::remove_file(path)?;
        }
        Ok(files.len() as u64)
    }

    /// The entries, and what is to become one: plain files of our names in folders of our names,
    /// sorted.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let is_plain = |file: &PathBuf| file.symlink_metadata().is_ok_and(|meta| meta.is_file());
        let mut files = Vec::new();
        for folder in list(&self.dir)? {
            let wanted: fn(&Path) -> bool = match name(&folder) {
                WRITING => |file| is_temporary(name(file)),
                shard if is_hex(shard, 2) => |file| is_hex(stem(file), HEX - 2),
                _ => continue,
            };
            files.extend(list(&folder)?.into_iter().filter(|file| wanted(file)).filter(is_plain));
        }
        files.sort();
        Ok(files)
    }

    fn path(&self, key: &Digest) -> PathBuf {
        let name = canonical::hex(key);
        let (shard, rest) = name.split_at(2);
        self.dir.join(shard).join(rest)
    }
}

fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn stem(path: &Path) -> &str {
    name(path).split('.').next().unwrap_or_default()
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The key of the entry at `path`; `None` where it is to become one.
fn key_of(path: &Path) -> Option<String> {
    let shard = path.parent().map(name).unwrap_or_default();
    is_hex(name(path), HEX - 2).then(|| format!("{shard}{}", name(path)))
}

/// The digest that an entry carries.
fn digest(key: &str, body: &[u8]) -> String {
    canonical::hex(&Sha256::new().chain_update(key).chain_update(body).finalize())
}

fn read(path: &Path, key: &str) -> Found {
    // What is not a plain file may wait for ever, or lead elsewhere.
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return Found::Nothing;
    }
    let Ok(bytes) = fs::read(path) else { return Found::Nothing };
    let Some((held, rest)) = bytes.split_at_checked(HEX) else { return Found::Corrupt };
    let Some((sum, body)) = rest.split_at_checked(HEX) else { return Found::Corrupt };
    if held != key.as_bytes() || sum != digest(key, body).as_bytes() {
        return Found::Corrupt;
    }
    match serde_json::from_slice::<Verdict>(body) {
        Ok(verdict) if !matches!(verdict.outcome, Outcome::Failed(_)) => Found::Verdict(verdict),
        Ok(_) | Err(_) => Found::Corrupt,
    }
}

#[cfg(test)]
mod tests {
    use assay_verifiers::{Fault, Verdict};

    use super::*;

    fn entry() -> (tempfile::TempDir, Cache, Digest, Verdict) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path());
        let sample = Sample::builder("x").build();
        let key = Cache::key(&[7; 32], &sample);
        let verdict = Verdict::graded(true).with("z", 1).with("a", "é".repeat(200));
        (dir, cache, key, verdict)
    }

    #[test]
    fn every_bit_flip_and_every_truncation_is_found() {
        let (_dir, cache, key, verdict) = entry();
        cache.put(&key, &verdict);
        let (path, hex) = (cache.path(&key), canonical::hex(&key));
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            #[expect(clippy::disallowed_methods, reason = "plants a bad entry")]
            fs::write(&path, bytes).unwrap();
            assert!(matches!(read(&path, &hex), Found::Corrupt), "bit {bit}");
        }
        for end in 0..whole.len() {
            #[expect(clippy::disallowed_methods, reason = "plants a bad entry")]
            fs::write(&path, &whole[..end]).unwrap();
            assert!(matches!(read(&path, &hex), Found::Corrupt), "cut at {end}");
        }
        assert_eq!(cache.get(&key), None);
        assert_eq!(cache.verify().unwrap().0.corrupt, 1);
        cache.put(&key, &verdict);
        assert_eq!(cache.get(&key), Some(verdict));
        assert_eq!(cache.counts().corrupt, 1);
    }

    #[test]
    fn a_fault_is_never_kept() {
        let (_dir, cache, key, _) = entry();
        cache.put(&key, &Verdict::failed(Fault::internal("x")));
        assert_eq!(cache.get(&key), None);
        assert_eq!(cache.clear().unwrap(), 0);
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_said_once() {
        let said = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&said);
        let notice: CacheNotice = Arc::new(move |text| {
            assert!(text.contains("/proc/no-such-folder cannot be written"), "{text}");
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let cache = Cache::new("/proc/no-such-folder").with_notice(Some(notice));
        cache.put(&[0; 32], &Verdict::graded(true));
        cache.put(&[1; 32], &Verdict::graded(true));
        assert_eq!((cache.counts().unwritten, said.load(Ordering::Relaxed)), (2, 1));
    }

    #[test]
    fn clear_leaves_what_is_not_ours() {
        let (dir, cache, key, verdict) = entry();
        cache.put(&key, &verdict);
        fs::create_dir(dir.path().join("ab")).ok();
        let other = dir.path().join("ab").join("notes.txt");
        #[expect(clippy::disallowed_methods, reason = "a file of somebody else")]
        fs::write(&other, "x").unwrap();
        assert_eq!(cache.clear().unwrap(), 1);
        assert!(other.exists());
    }

    #[test]
    fn an_entry_in_the_place_of_another_is_refused() {
        let (dir, cache, key, verdict) = entry();
        let other = Cache::key(&[8; 32], &Sample::builder("x").build());
        cache.put(&key, &verdict);
        cache.put(&other, &Verdict::graded(false));
        let (one, two) = (cache.path(&key), cache.path(&other));
        fs::rename(&one, dir.path().join("held")).unwrap();
        fs::rename(&two, &one).unwrap();
        fs::rename(dir.path().join("held"), &two).unwrap();
        assert_eq!((cache.get(&key), cache.get(&other)), (None, None));
        let (stats, bad) = cache.verify().unwrap();
        assert_eq!((stats.entries, stats.corrupt, bad.len()), (0, 2, 2));
        cache.put(&key, &verdict);
        assert_eq!(cache.get(&key), Some(verdict));
    }

    #[test]
    fn what_is_no_plain_file_is_no_entry() {
        let (dir, cache, key, verdict) = entry();
        let path = cache.path(&key);
        cache.put(&key, &verdict);
        let kept = dir.path().join("kept");
        fs::rename(&path, &kept).unwrap();
        std::os::unix::fs::symlink(&kept, &path).unwrap();
        assert_eq!(cache.get(&key), None);
        assert_eq!(cache.counts().miss, 1);
        assert_eq!(cache.verify().unwrap().0, CacheStats::default());
        cache.put(&key, &verdict);
        assert!(!path.is_symlink());
        assert_eq!(cache.get(&key), Some(verdict));
    }

    #[test]
    fn the_next_process_removes_what_one_that_was_killed_left() {
        let (dir, cache, key, verdict) = entry();
        cache.put(&key, &verdict);
        let writing = dir.path().join(WRITING);
        fs::File::create(writing.join(".x.tmp")).unwrap();
        assert_eq!(cache.verify().unwrap().0.stale, 1);
        Cache::new(dir.path()).put(&key, &verdict);
        assert_eq!(fs::read_dir(writing).unwrap().count(), 0);
        assert_eq!(cache.verify().unwrap().0.stale, 0);
    }
}
