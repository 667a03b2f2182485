//! The store of replies: recording, replaying, crashes and full disks.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};

use assay_rubrics::judge::{
    Judge, JudgeCounters, RecordedJudge, ReplyFile, ReplyStore, StoreError, StoreMode,
};
use assay_verifiers::{Fault, FaultKind};
use futures_util::future::join_all;

use crate::asking::{Scripted, question};

fn recorded(store: &Arc<ReplyStore>, inner: Option<Scripted>) -> RecordedJudge {
    let identity = Scripted::new(|_| Ok("")).identity();
    let inner = inner.map(|judge| Arc::new(judge) as Arc<dyn Judge>);
    RecordedJudge::new(inner, identity, Arc::clone(store), Arc::<JudgeCounters>::default())
}

fn open(folder: &Path, mode: StoreMode) -> Arc<ReplyStore> {
    Arc::new(ReplyStore::open(folder, mode).unwrap())
}

fn down() -> Fault {
    Fault::new(FaultKind::Upstream, "no answer within 5 ms")
}

/// A folder in which `polite` was answered and `short` was a fault.
async fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let judge = Scripted::new(|at| if at == 0 { Ok("yes") } else { Err(down()) });
    let judge = recorded(&open(folder.path(), StoreMode::Record), Some(judge));
    assert_eq!(judge.ask(question("polite")).await.unwrap().text, "yes");
    assert_eq!(judge.ask(question("short")).await.unwrap_err(), down());
    folder
}

#[tokio::test]
async fn a_replay_gives_replies_and_faults_in_the_same_words() {
    let folder = folder().await;
    let store = open(folder.path(), StoreMode::Replay);
    let judge = recorded(&store, None);
    let reply = judge.ask(question("polite")).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.tokens), ("yes", 10));
    assert_eq!(judge.ask(question("short")).await.unwrap_err(), down());
    let missing = judge.ask(question("kind")).await.unwrap_err();
    assert_eq!(missing.kind, FaultKind::Upstream);
    assert_eq!(missing.why, "no reply is recorded for this request (criterion \"kind\")");
    let mut vote = question("polite");
    vote.vote = 1;
    assert!(judge.ask(vote).await.is_err(), "another vote is another request");
}

#[tokio::test]
async fn a_line_names_what_was_asked() {
    let folder = folder().await;
    let text = fs::read_to_string(folder.path().join("replies.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["subject"], "polite");
    assert_eq!(lines[0]["reply"]["text"], "yes");
    assert_eq!(lines[0]["request"].as_str().unwrap().len(), 64);
    assert_eq!(lines[1]["fault"]["kind"], "Upstream");
    assert_eq!(lines[1]["judge"]["kind"], "scripted");
}

#[tokio::test]
async fn recording_asks_faults_again_and_replies_not() {
    let folder = folder().await;
    let inner = Scripted::new(|_| Ok("no"));
    let asked = Arc::clone(&inner.asked);
    let judge = recorded(&open(folder.path(), StoreMode::Record), Some(inner));
    assert_eq!(judge.ask(question("polite")).await.unwrap().text, "yes");
    assert_eq!(judge.ask(question("short")).await.unwrap().text, "no");
    assert_eq!(*asked.lock().unwrap(), ["short"]);
    drop(judge);
    let replay = recorded(&open(folder.path(), StoreMode::Replay), None);
    assert_eq!(replay.ask(question("short")).await.unwrap().text, "no", "the last line wins");
}

#[tokio::test]
async fn the_same_question_in_flight_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    let inner = Scripted::new(|_| Ok("yes"));
    let asked = Arc::clone(&inner.asked);
    let store = open(folder.path(), StoreMode::Record);
    let judge = recorded(&store, Some(inner));
    let given_up = judge.ask(question("polite"));
    let others: Vec<_> = (0..8).map(|_| judge.ask(question("polite"))).collect();
    drop(given_up);
    assert!(join_all(others).await.into_iter().all(|reply| reply.unwrap().text == "yes"));
    assert_eq!(judge.ask(question("polite")).await.unwrap().text, "yes");
    assert_eq!((asked.lock().unwrap().len(), store.counts().kept), (1, 1));
    drop(judge.ask(question("short")));
    assert_eq!(judge.ask(question("short")).await.unwrap().text, "yes", "given up, asked anew");
}

#[tokio::test]
async fn every_torn_tail_is_cut_when_recording_and_passed_over_when_replaying() {
    let folder = folder().await;
    let path = folder.path().join("replies.jsonl");
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in first..whole.len() {
        fs::File::create(&path).unwrap().write_all(&whole[..length]).unwrap();
        let store = open(folder.path(), StoreMode::Replay);
        assert_eq!(store.len(), 1, "cut to {length}");
        assert_eq!(fs::metadata(&path).unwrap().len(), length as u64, "a replay writes nothing");
        drop(open(folder.path(), StoreMode::Record));
        assert_eq!(fs::read(&path).unwrap(), whole[..first], "cut to {length}");
    }
}

#[tokio::test]
async fn recordings_beside_the_file_are_read_and_the_file_wins() {
    let folder = folder().await;
    let path = folder.path().join("replies.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let polite = text.lines().next().unwrap();
    let packed = |name: &str, text: &str| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
    };
    packed("a.jsonl.gz", &format!("{}\n", polite.replace("yes", "shipped")));
    let ask = || async {
        recorded(&open(folder.path(), StoreMode::Replay), None).ask(question("polite")).await
    };
    assert_eq!(ask().await.unwrap().text, "yes");
    fs::remove_file(&path).unwrap();
    assert_eq!(ask().await.unwrap().text, "shipped");
    packed("b.jsonl.gz", &format!("{}\n", polite.replace("yes", "later")));
    assert_eq!(ask().await.unwrap().text, "later");
    packed("c.jsonl.gz", "{\"request\":\"00\"");
    let error = ReplyStore::open(folder.path(), StoreMode::Replay).err().unwrap().to_string();
    assert_eq!(error, "c.jsonl.gz:1: it breaks off");
}

#[tokio::test]
async fn what_is_not_a_record_is_an_error_with_its_place() {
    let folder = folder().await;
    let path = folder.path().join("replies.jsonl");
    let good = fs::read_to_string(&path).unwrap();
    for (line, why) in [
        ("{}", "missing field `request`"),
        (r#"{"request":"xyz","reply":{}}"#, "`request` is not a SHA-256 in hexadecimal"),
        (
            &format!(r#"{{"request":"{}"}}"#, "0".repeat(64)),
            "expected exactly one of `reply` and `fault`",
        ),
    ] {
        let text = format!("{good}{line}\n{good}");
        fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        let error = ReplyStore::open(folder.path(), StoreMode::Replay).err().unwrap().to_string();
        assert!(error.starts_with(&format!("replies.jsonl:3: {why}")), "{error}");
    }
    let empty = tempfile::tempdir().unwrap();
    let error = ReplyStore::open(empty.path(), StoreMode::Replay).err().unwrap();
    assert!(matches!(error, StoreError::Empty(_)), "{error}");
}

#[test]
fn two_cannot_record_into_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path(), StoreMode::Record);
    let error = ReplyStore::open(folder.path(), StoreMode::Record).err().unwrap();
    assert!(matches!(error, StoreError::Locked(_)), "{error}");
    drop(first);
    assert!(ReplyStore::open(folder.path(), StoreMode::Record).is_ok());
}

/// A file in memory of which the writes with these numbers fail, half done.
#[derive(Clone, Default)]
struct FlakyFile {
    state: Arc<Mutex<(Vec<u8>, usize)>>,
    fails: Option<fn(usize) -> bool>,
    cannot_cut: bool,
}

impl ReplyFile for FlakyFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.state.lock().unwrap().0.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state.lock().unwrap();
        (&state.0[usize::try_from(offset).unwrap()..]).read_some(bytes)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.1 += 1;
        let fails = self.fails.is_some_and(|fails| fails(state.1 - 1));
        let written = if fails { bytes.len() / 2 } else { bytes.len() };
        state.0.extend_from_slice(&bytes[..written]);
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        if self.cannot_cut {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.state.lock().unwrap().0.truncate(usize::try_from(length).unwrap());
        Ok(())
    }
}

trait ReadSome {
    fn read_some(self, bytes: &mut [u8]) -> io::Result<usize>;
}

impl ReadSome for &[u8] {
    fn read_some(mut self, bytes: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut self, bytes)
    }
}

/// Asks four questions of a store whose disk fails; the criteria that a replay knows afterwards.
async fn kept(file: FlakyFile, lost: u64) -> Vec<&'static str> {
    let names = ["a", "b", "c", "d"];
    let store = ReplyStore::over(Box::new(file.clone()), StoreMode::Record).unwrap();
    let store = Arc::new(store);
    let judge = recorded(&store, Some(Scripted::new(|_| Ok("yes"))));
    for name in names {
        assert_eq!(judge.ask(question(name)).await.unwrap().text, "yes", "the reply counts");
    }
    assert_eq!((store.counts().lost, store.counts().kept), (lost, 4 - lost));
    assert_eq!(store.counts().error.is_none(), lost == 0);
    let replay = ReplyStore::over(Box::new(file), StoreMode::Replay).unwrap();
    let replay = recorded(&Arc::new(replay), None);
    let mut known = Vec::new();
    for name in names {
        known.extend(replay.ask(question(name)).await.is_ok().then_some(name));
    }
    known
}

#[tokio::test]
async fn a_full_disk_loses_replies_and_says_so() {
    let flaky = |fails| FlakyFile { fails: Some(fails), ..FlakyFile::default() };
    assert_eq!(kept(FlakyFile::default(), 0).await, ["a", "b", "c", "d"]);
    assert_eq!(
        kept(flaky(|at| at == 0), 1).await,
        ["b", "c", "d"],
        "it goes on when there is room"
    );
    assert_eq!(kept(flaky(|at| at == 2), 1).await, ["a", "b", "d"]);
    assert_eq!(kept(flaky(|at| at >= 1), 3).await, ["a"]);
    let stuck = FlakyFile { cannot_cut: true, ..flaky(|at| at == 1) };
    assert_eq!(kept(stuck, 3).await, ["a"], "nothing is written behind half a line");
}
