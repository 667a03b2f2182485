//! The verdict cache: content-addressed, kept for the next run.
//!
//! One entry is one file, named by its key: SHA-256 over the verifier (id, version, settings,
//! files, fuel) and the sample. The file starts with the SHA-256 of what follows, so a torn or
//! altered entry is found, counted and computed again. Rename is the commit, so processes that
//! share a cache never see half an entry. A cache that is full or read-only slows the run and
//! changes nothing else.

use std::fs;
use std::io::{self, Write as _};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::{Outcome, Sample, Verdict};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A folder of kept verdicts.
pub struct Cache {
    dir: PathBuf,
    counts: Counts,
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
    /// Entries whose digest did not fit: computed again.
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
    /// Entries whose digest does not fit.
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
        Self { dir: dir.into(), counts: Counts::default() }
    }

    /// The key of a verifier's verdict on a sample.
    pub fn key(verifier: &Digest, sample: &Sample) -> Digest {
        canonical::digest_parts(&[verifier, &sample.digest()])
    }

    /// The verdict kept under `key`.
    pub fn get(&self, key: &Digest) -> Option<Verdict> {
        let (count, verdict) = match read(&self.path(key)) {
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
        if write(&self.path(key), verdict).is_err() {
            self.counts.unwritten.fetch_add(1, Ordering::Relaxed);
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

    /// Reads every entry and checks its digest.
    ///
    /// # Errors
    /// A folder that cannot be listed. One that does not exist is an empty cache.
    pub fn verify(&self) -> io::Result<(CacheStats, Vec<PathBuf>)> {
        let mut stats = CacheStats::default();
        let mut bad = Vec::new();
        for path in self.files()? {
            if path.extension().is_some_and(|extension| extension == "tmp") {
                stats.stale += 1;
                continue;
            }
            match read(&path) {
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

    /// The entries: files of our names in folders of our names, sorted.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for shard in list(&self.dir)? {
            if !is_hex(&shard, 2) {
                continue;
            }
            files.extend(list(&shard)?.into_iter().filter(|file| is_hex(file, 62)));
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

fn is_hex(path: &Path, length: usize) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    stem.len() == length && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read(path: &Path) -> Found {
    let Ok(bytes) = fs::read(path) else { return Found::Nothing };
    let Some((digest, body)) = bytes.split_at_checked(64) else { return Found::Corrupt };
    if canonical::hex(&Sha256::digest(body)).as_bytes() != digest {
        return Found::Corrupt;
    }
    match serde_json::from_slice::<Verdict>(body) {
        Ok(verdict) if !matches!(verdict.outcome, Outcome::Failed(_)) => Found::Verdict(verdict),
        Ok(_) | Err(_) => Found::Corrupt,
    }
}

fn write(path: &Path, verdict: &Verdict) -> io::Result<()> {
    let body = serde_json::to_vec(verdict)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let stem = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let temporary =
        || tempfile::Builder::new().prefix(&format!("{stem}.")).suffix(".tmp").tempfile_in(folder);
    // The folder is there for all but the first entry of a shard.
    let mut file = match temporary() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            temporary()?
        }
        other => other?,
    };
    file.write_all(canonical::hex(&Sha256::digest(&body)).as_bytes())?;
    file.write_all(&body)?;
    file.persist(path)?;
    Ok(())
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
        let path = cache.path(&key);
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            #[expect(clippy::disallowed_methods, reason = "plants a bad entry")]
            fs::write(&path, bytes).unwrap();
            assert!(matches!(read(&path), Found::Corrupt), "bit {bit}");
        }
        for end in 0..whole.len() {
            #[expect(clippy::disallowed_methods, reason = "plants a bad entry")]
            fs::write(&path, &whole[..end]).unwrap();
            assert!(matches!(read(&path), Found::Corrupt), "cut at {end}");
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
    fn a_cache_that_cannot_be_written_only_counts() {
        let cache = Cache::new("/proc/no-such-folder");
        cache.put(&[0; 32], &Verdict::graded(true));
        assert_eq!(cache.counts().unwritten, 1);
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
}
