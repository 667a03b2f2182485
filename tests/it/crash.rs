//! A run that is stopped anywhere goes on to the very bytes of one that was not.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{builder, rows};
use assay::Registry;
use assay::data::{ReadLimits, Source};
use assay::engine::runs::{DiskStore, RunError, RunFolder, RunInputs, Store, hash_file};
use assay::engine::{BadRows, CancellationToken, Report, RunSession};

const CONFIG: &str = "[data]\ngroup = 'prompt_id'\n\
    [[reward]]\nname = 'correct'\nverifier = 'exact'\ncache = true\n\
    [[reward]]\nname = 'gated'\nverifier = 'exact'\nwhen = 'rewards.correct == 1.0'\n";

/// The same, with groups that must stay whole.
const GROUPED: &str = "[combine]\non_fault = 'drop_group'\n";

/// A store that dies at the nth write: half of it reaches the disk, and then nothing more.
pub(crate) struct Dying {
    pub(crate) disk: DiskStore,
    pub(crate) dir: PathBuf,
    pub(crate) left: usize,
}

impl Dying {
    /// Counts a write; `true` while the process lives.
    fn lives(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    fn dead<T>() -> io::Result<T> {
        Err(io::Error::other("the process was killed"))
    }
}

impl Store for Dying {
    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let last = self.left == 1;
        if self.lives() {
            return self.disk.append(name, bytes);
        }
        if last {
            self.disk.append(name, &bytes[..bytes.len() / 2])?;
        }
        Self::dead()
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let last = self.left == 1;
        if self.lives() {
            return self.disk.replace(name, bytes);
        }
        if last {
            #[expect(clippy::disallowed_methods, reason = "a temporary file that is left behind")]
            fs::write(self.dir.join(format!(".{name}.tmp")), &bytes[..bytes.len() / 2])?;
        }
        Self::dead()
    }

    fn truncate(&mut self, name: &str, bytes: u64) -> io::Result<()> {
        if self.lives() { self.disk.truncate(name, bytes) } else { Self::dead() }
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        if self.lives() { self.disk.sync(name) } else { Self::dead() }
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        if self.lives() { self.disk.remove(name) } else { Self::dead() }
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        if self.lives() { self.disk.rename(from, to) } else { Self::dead() }
    }
}

fn score(
    data: &Path,
    dir: &Path,
    store: impl Store + 'static,
    change: impl FnOnce(&mut RunSession<'_>),
) -> Result<Report, RunError> {
    score_by(CONFIG, data, dir, store, change)
}

fn score_by(
    config: &str,
    data: &Path,
    dir: &Path,
    store: impl Store + 'static,
    change: impl FnOnce(&mut RunSession<'_>),
) -> Result<Report, RunError> {
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    let builder = builder(config, registry).cache_dir(data.with_extension("cache"));
    let engine = builder.jobs(2).build().unwrap();
    let mut session = RunSession {
        engine: &engine,
        folder: RunFolder::open(dir, 1)?,
        store: Box::new(store),
        inputs: RunInputs::find(&[data.to_owned()], &ReadLimits::default()).unwrap(),
        bad_rows: BadRows::Stop,
        limit: None,
        shard: None,
        training: assay::TrainingState::default(),
        fresh: false,
        retry_faults: false,
    };
    change(&mut session);
    let open = || Source::open(&[data.to_owned()], &ReadLimits::default());
    session.run(&open, &CancellationToken::new(), &mut |_, _| {})
}

fn disk(dir: &Path) -> DiskStore {
    DiskStore::new(dir).unwrap()
}

fn output(dir: &Path) -> (String, String) {
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let mut summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    summary.as_object_mut().unwrap().remove("cache");
    (hash_file(&dir.join("verdicts.jsonl")).unwrap().0, summary.to_string())
}

fn dataset(dir: &Path, count: usize, bytes: usize) -> PathBuf {
    let path = dir.join("data.jsonl");
    assay::engine::runs::write_atomic(&path, rows(count, bytes).as_bytes()).unwrap();
    path
}

#[test]
fn killed_at_every_write_then_resumed() {
    killed_at_every_write(CONFIG);
}

#[test]
fn killed_at_every_write_then_resumed_with_whole_groups() {
    killed_at_every_write(&format!("{CONFIG}{GROUPED}"));
}

fn killed_at_every_write(config: &str) {
    let temp = tempfile::tempdir().unwrap();
    // Rows of 16 kB make small blocks, and so many writes.
    let data = dataset(temp.path(), 300, 16_000);
    let whole = temp.path().join("whole");
    score_by(config, &data, &whole, disk(&whole), |_| {}).unwrap();
    let expected = output(&whole);
    for kill_at in 1.. {
        let dir = temp.path().join(format!("run-{kill_at}"));
        let store = Dying { disk: disk(&dir), dir: dir.clone(), left: kill_at };
        let first = score_by(config, &data, &dir, store, |_| {});
        let finished = first.is_ok();
        // Killed twice: the second session dies at the same count.
        let store = Dying { disk: disk(&dir), dir: dir.clone(), left: kill_at };
        let _ = score_by(config, &data, &dir, store, |_| {});
        let report = score_by(config, &data, &dir, disk(&dir), |_| {}).unwrap();
        assert!(report.complete);
        assert_eq!(output(&dir), expected, "killed at write {kill_at}");
        let timings = fs::read_to_string(dir.join("timings.jsonl")).unwrap();
        assert_eq!(timings.lines().count(), 300, "killed at write {kill_at}");
        fs::remove_dir_all(&dir).unwrap();
        if finished {
            assert!(kill_at > 15, "only {kill_at} writes were tried");
            return;
        }
    }
}

#[test]
fn a_torn_tail_is_cut_and_a_foreign_run_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let data = dataset(temp.path(), 300, 1000);
    let dir = temp.path().join("run");
    score(&data, &dir, disk(&dir), |_| {}).unwrap();
    let expected = output(&dir);
    let verdicts = dir.join("verdicts.jsonl");
    let manifest = dir.join("manifest.json");
    let complete = fs::read_to_string(&manifest).unwrap();
    let incomplete = complete.replace("\"complete\": true", "\"complete\": false");
    let whole = fs::read(&verdicts).unwrap();
    for cut in [0, 1, whole.len() / 3, whole.len() - 1] {
        assay::engine::runs::write_atomic(&verdicts, &whole[..cut]).unwrap();
        assay::engine::runs::write_atomic(&manifest, incomplete.as_bytes()).unwrap();
        score(&data, &dir, disk(&dir), |_| {}).unwrap();
        assert_eq!(output(&dir), expected, "cut at {cut}");
    }
    let refused = |change: &dyn Fn()| {
        change();
        let error = score(&data, &dir, disk(&dir), |_| {}).unwrap_err().to_string();
        assay::engine::runs::write_atomic(&manifest, complete.as_bytes()).unwrap();
        assay::engine::runs::write_atomic(&verdicts, &whole).unwrap();
        error
    };
    let error = refused(&|| fs::remove_file(&manifest).unwrap());
    assert!(error.contains("no manifest.json"), "{error}");
    let error = refused(&|| {
        let hash = incomplete.replacen("\"config_hash\": \"", "\"config_hash\": \"x", 1);
        assay::engine::runs::write_atomic(&manifest, hash.as_bytes()).unwrap();
    });
    assert!(error.contains("another configuration"), "{error}");
    let error = refused(&|| {
        let mut bytes = whole.clone();
        bytes[100] = b'\n';
        assay::engine::runs::write_atomic(&verdicts, &bytes).unwrap();
        assay::engine::runs::write_atomic(&manifest, incomplete.as_bytes()).unwrap();
    });
    assert!(error.contains("verdicts.jsonl:1: not a verdict row"), "{error}");
    let other = dataset(temp.path(), 301, 1000);
    let error = score(&other, &dir, disk(&dir), |_| {}).unwrap_err().to_string();
    assert!(error.contains("other data"), "{error}");
    score(&other, &dir, disk(&dir), |session| session.fresh = true).unwrap();
}

#[test]
fn a_limit_is_extended_by_going_on() {
    let temp = tempfile::tempdir().unwrap();
    let data = dataset(temp.path(), 300, 1000);
    for (name, config) in [("plain", CONFIG.to_owned()), ("grouped", format!("{CONFIG}{GROUPED}"))]
    {
        let (whole, parts) = (temp.path().join(name), temp.path().join(format!("{name}-parts")));
        score_by(&config, &data, &whole, disk(&whole), |_| {}).unwrap();
        for (limit, rows) in
            [(Some(6), [6, 8]), (Some(150), [150, 152]), (Some(90), [150, 152]), (None, [300; 2])]
        {
            let set = |session: &mut RunSession<'_>| session.limit = limit;
            let report = score_by(&config, &data, &parts, disk(&parts), set).unwrap();
            assert!(report.complete);
            let expected = rows[usize::from(name == "grouped")];
            assert_eq!(report.summary.rows, expected, "{name}, limit {limit:?}");
        }
        assert_eq!(output(&parts), output(&whole));
    }
}

#[test]
fn two_sessions_on_one_folder_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let held = RunFolder::open(temp.path(), 4711).unwrap();
    let error = RunFolder::open(temp.path(), 2).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("pid 4711"), "{error}");
    drop(held);
    RunFolder::open(temp.path(), 2).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test kills after a measured time")]
fn killed_at_random_moments_then_resumed() {
    let temp = tempfile::tempdir().unwrap();
    let data = dataset(temp.path(), 8_000, 1000);
    let config = temp.path().join("assay.toml");
    let text = format!("version = 1\n{CONFIG}");
    assay::engine::runs::write_atomic(&config, text.as_bytes()).unwrap();
    let command = |dir: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.arg("score").arg(&config).arg(&data).arg("-o").arg(dir).arg("--quiet");
        command.arg("--no-cache").stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let whole = temp.path().join("whole");
    let start = Instant::now();
    assert!(command(&whole).status().unwrap().success());
    let full_us = u64::try_from(start.elapsed().as_micros()).unwrap();
    let expected = output(&whole);
    let mut state = std::env::var("ASSAY_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(17_u64);
    println!("ASSAY_SEED={state}");
    for point in 0..10 {
        let dir = temp.path().join("killed");
        // Two kills at random moments, then to the end.
        for _ in 0..2 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let mut child = command(&dir).spawn().unwrap();
            std::thread::sleep(Duration::from_micros((state >> 33) % full_us));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(command(&dir).status().unwrap().success(), "point {point}");
        assert_eq!(output(&dir), expected, "point {point}");
        fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn rows_with_faults_are_judged_again() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data.jsonl");
    let text = "{\"id\":\"a\",\"completion\":\"4\",\"reference\":\"4\"}\n{\"id\":\"b\",\"completion\":5}\n\
                {\"id\":\"c\",\"completion\":\"4\",\"reference\":\"5\"}\n";
    assay::engine::runs::write_atomic(&data, text.as_bytes()).unwrap();
    let dir = temp.path().join("run");
    let fault = |session: &mut RunSession<'_>| session.bad_rows = BadRows::Fault;
    let report = score(&data, &dir, disk(&dir), fault).unwrap();
    assert_eq!((report.summary.rows, report.summary.total.failed), (3, 1));
    let expected = output(&dir);
    // As if the fault had been another verifier's doing that is mended by now.
    let verdicts = fs::read_to_string(dir.join("verdicts.jsonl")).unwrap();
    let broken = verdicts.replacen(
        "\"outcome\":\"scored\",\"reward\":0.0,\"verdicts\":{\"correct\":{\"outcome\":\"scored\",\"reward\":0.0",
        "\"outcome\":\"failed\",\"reward\":null,\"fault\":\"Upstream\",\"why\":\"x\",\"verdicts\":{\"correct\":{\"outcome\":\"failed\",\"fault\":\"Upstream\",\"why\":\"x\"",
        1,
    );
    assert_ne!(broken, verdicts);
    let manifest = fs::read_to_string(dir.join("manifest.json")).unwrap();
    let digest = |text: &str| {
        assay::verifiers::canonical::hex(&<sha2::Sha256 as sha2::Digest>::digest(text.as_bytes()))
    };
    let manifest = manifest.replace(&digest(&verdicts), &digest(&broken));
    assay::engine::runs::write_atomic(&dir.join("manifest.json"), manifest.as_bytes()).unwrap();
    assay::engine::runs::write_atomic(&dir.join("verdicts.jsonl"), broken.as_bytes()).unwrap();
    let retry = |session: &mut RunSession<'_>| {
        session.bad_rows = BadRows::Fault;
        session.retry_faults = true;
    };
    let report = score(&data, &dir, disk(&dir), retry).unwrap();
    assert_eq!(report.scored, 2, "the fault and the row that cannot be read");
    assert_eq!(output(&dir), expected);
    assert!(!dir.join("verdicts.jsonl.retry").exists());
}
