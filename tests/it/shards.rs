//! The shards of a run, merged, are the very bytes of one run.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay::engine::runs::{
    DiskStore, MergeSpec, RunError, RunFolder, RunInputs, VerdictForm, write_atomic,
};
use assay::engine::{BadRows, CancellationToken, FileRun, FileRunSpec, Report, RunSession, Shard};
use assay::verifiers::{Fault, Verdict};
use assay::{Engine, Registry};
use serde_json::Value;

use crate::crash::Dying;
use crate::support::builder;

const COUNTS: [u32; 4] = [1, 2, 3, 7];

/// Groups that need not stand together, and labels.
const PLAIN: &str = "[data]\ngroup = 'g'\nlabel = 'label'\noptional = true\n\
    [[reward]]\nname = 'right'\nverifier = 'exact'\n\
    [[reward]]\nname = 'flaky'\nverifier = 'flaky'\nweight = 0.3\n";

/// The same, with groups that are judged whole.
const GROUPED: &str = "[combine]\non_fault = 'drop_group'\n";

/// An engine whose verifier `flaky` fails for some completions while `fails` is set.
fn engine(config: &str, fails: &Arc<AtomicBool>) -> Engine {
    let fails = Arc::clone(fails);
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    let flaky = move |sample: &assay::Sample, _: assay::verifiers::Earlier<'_>| {
        let text = sample.completion();
        if fails.load(Ordering::SeqCst) && text.ends_with('3') {
            return Verdict::failed(Fault::internal("it is the hour of faults"));
        }
        Verdict::graded(text.len().is_multiple_of(2))
    };
    builder(config, registry).verifier("flaky", flaky).no_cache().jobs(2).build().unwrap()
}

fn steady(config: &str) -> Engine {
    engine(config, &Arc::default())
}

/// `count` rows in groups of one to nine: some without an id, some that are no rows.
fn rows(count: usize) -> String {
    let (mut rows, mut group, mut left) = (String::new(), 0, 0);
    for at in 0..count {
        if left == 0 {
            (group, left) = (group + 1, group % 9 + 1);
        }
        left -= 1;
        let id = if at % 3 == 0 { String::new() } else { format!("\"id\":\"r{at}\",") };
        let row = match at % 37 {
            0 | 36 => format!("{{\"id\":\"bad{at}\"}}"),
            5 => "no json".to_owned(),
            _ => format!(
                "{{{id}\"g\":\"g{group}\",\"completion\":\"so\\n{}\",\"reference\":\"{}\",\"label\":{}}}",
                at % 10,
                at % 4,
                at % 5 == 0
            ),
        };
        let blank = if at % 50 == 7 { "\n" } else { "" };
        writeln!(rows, "{blank}{row}").unwrap();
    }
    rows
}

fn write(path: &Path, text: &str) {
    write_atomic(path, text.as_bytes()).unwrap();
}

fn spec(data: &Path, output: &Path, shard: Option<Shard>, bad_rows: BadRows) -> FileRunSpec {
    let (data, output) = (vec![data.to_owned()], output.to_owned());
    FileRunSpec { data, output, shard, bad_rows, ..FileRunSpec::default() }
}

fn score(engine: &Engine, spec: FileRunSpec) -> Result<Report, RunError> {
    FileRun::open(spec, engine, 1)?.run(&CancellationToken::new(), &mut |_| {})
}

fn shards(of: u32) -> impl Iterator<Item = Shard> {
    (0..of).map(move |index| Shard::new(index, of).unwrap())
}

fn merge(runs: &[PathBuf], output: &Path) -> Result<usize, RunError> {
    let spec = merge_spec(runs, output);
    spec.merge(&mut |_| ControlFlow::Continue(())).map(|report| report.shards)
}

fn merge_spec(runs: &[PathBuf], output: &Path) -> MergeSpec {
    let (output, form) = (output.to_owned(), VerdictForm::Jsonl);
    MergeSpec { runs: runs.to_vec(), output, pid: 1, fresh: false, form }
}

/// Everything of a run but its times.
fn contents(dir: &Path) -> [String; 5] {
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let timed = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["row"].to_string()
    };
    let timings: Vec<String> = read("timings.jsonl").lines().map(timed).collect();
    [
        read("verdicts.jsonl"),
        read("summary.json"),
        read("manifest.json"),
        read("config.resolved.json"),
        timings.join(","),
    ]
}

fn assert_same(merged: &Path, whole: &Path, what: &str) {
    for (merged, whole) in contents(merged).iter().zip(contents(whole)) {
        assert_eq!(*merged, whole, "{what}");
    }
}

/// Scores `data` in one run and in shards, and compares.
fn shards_are_the_run(config: &str, data: &Path, bad_rows: BadRows, limit: Option<u64>) {
    let temp = tempfile::tempdir().unwrap();
    let engine = steady(config);
    let whole = temp.path().join("whole");
    let scored = FileRunSpec { limit, ..spec(data, &whole, None, bad_rows) };
    assert!(score(&engine, scored).unwrap().complete);
    for of in COUNTS {
        let run = temp.path().join(format!("run-{of}"));
        for shard in shards(of) {
            let part = FileRunSpec { limit, ..spec(data, &run, Some(shard), bad_rows) };
            assert!(score(&engine, part).unwrap().complete);
        }
        let merged = temp.path().join(format!("merged-{of}"));
        assert_eq!(merge(std::slice::from_ref(&run), &merged).unwrap(), of as usize);
        assert_same(&merged, &whole, &format!("{of} shards of {}, {bad_rows:?}", data.display()));
        // Beside its shards, and again.
        for _ in 0..2 {
            merge(std::slice::from_ref(&run), &run).unwrap();
            assert_same(&run, &whole, &format!("{of} shards in place"));
        }
    }
}

#[test]
fn shards_are_the_bytes_of_one_run() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data.jsonl");
    write(&data, &rows(700));
    for config in [PLAIN.to_owned(), format!("{PLAIN}{GROUPED}")] {
        for bad_rows in [BadRows::Skip, BadRows::Fault] {
            shards_are_the_run(&config, &data, bad_rows, None);
        }
        for limit in [0, 1, 16, 99, 699, 700, 900] {
            shards_are_the_run(&config, &data, BadRows::Skip, Some(limit));
        }
    }
}

#[test]
fn shards_may_be_without_rows() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data.jsonl");
    for count in [1, 5, 40] {
        write(&data, &rows(count));
        for config in [PLAIN.to_owned(), format!("{PLAIN}{GROUPED}")] {
            shards_are_the_run(&config, &data, BadRows::Fault, None);
        }
    }
}

#[test]
fn shards_read_every_kind_of_file() {
    let temp = tempfile::tempdir().unwrap();
    let text = rows(700);
    let gzip = temp.path().join("data.jsonl.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    write_atomic(&gzip, &packed.finish().unwrap()).unwrap();
    let zstd = temp.path().join("data.jsonl.zst");
    write_atomic(&zstd, &zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    for data in [&gzip, &zstd] {
        shards_are_the_run(PLAIN, data, BadRows::Skip, None);
    }
    // The verdicts of a run are a Parquet file with ids, groups and texts.
    let run = temp.path().join("run");
    let parquet =
        FileRunSpec { form: VerdictForm::Parquet, ..spec(&gzip, &run, None, BadRows::Fault) };
    score(&steady(PLAIN), parquet).unwrap();
    let config = PLAIN.replace("group = 'g'", "group = 'outcome'\ncompletion = 'verdicts'");
    shards_are_the_run(&config, &run.join("verdicts.parquet"), BadRows::Fault, None);
    let folder = temp.path().join("folder");
    fs::create_dir(&folder).unwrap();
    for (at, part) in text.as_bytes().chunks(text.len() / 3).enumerate() {
        // A line that is cut in two is two rows that cannot be read.
        write_atomic(&folder.join(format!("train-{at}.jsonl")), part).unwrap();
    }
    shards_are_the_run(PLAIN, &folder, BadRows::Fault, None);
}

#[test]
fn groups_are_never_cut() {
    let temp = tempfile::tempdir().unwrap();
    let (data, run) = (temp.path().join("data.jsonl"), temp.path().join("run"));
    let mut text = String::new();
    for row in 0..400 {
        writeln!(text, "{{\"g\":\"g{}\",\"label\":1,\"completion\":\"{row}\"}}", row / 25).unwrap();
    }
    write(&data, &text);
    let engine = steady(&format!("{PLAIN}{GROUPED}"));
    let mut sizes = Vec::new();
    for shard in shards(3) {
        score(&engine, spec(&data, &run, Some(shard), BadRows::Stop)).unwrap();
        let lines =
            fs::read_to_string(run.join(shard.folder_name()).join("timings.jsonl")).unwrap();
        let rows: Vec<u64> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["row"].as_u64().unwrap())
            .collect();
        for group in rows.chunks(25) {
            assert_eq!((group.len(), group[24] - group[0]), (25, 24), "shard {shard}");
        }
        sizes.push(rows.len());
    }
    assert_eq!(sizes, [150, 125, 125]);
}

#[test]
fn faults_of_shards_are_judged_again() {
    let temp = tempfile::tempdir().unwrap();
    let (data, run) = (temp.path().join("data.jsonl"), temp.path().join("run"));
    write(&data, &rows(300));
    for config in [PLAIN.to_owned(), format!("{PLAIN}{GROUPED}")] {
        let whole = temp.path().join("whole");
        let fails = Arc::new(AtomicBool::new(true));
        let engine = engine(&config, &fails);
        let fresh = |spec: FileRunSpec| FileRunSpec { fresh: true, ..spec };
        score(&engine, fresh(spec(&data, &whole, None, BadRows::Skip))).unwrap();
        let faulty = contents(&whole);
        for shard in shards(3) {
            score(&engine, fresh(spec(&data, &run, Some(shard), BadRows::Skip))).unwrap();
        }
        let merged = temp.path().join("merged");
        let again = MergeSpec { fresh: true, ..merge_spec(std::slice::from_ref(&run), &merged) };
        again.merge(&mut |_| ControlFlow::Continue(())).unwrap();
        assert_same(&merged, &whole, "with faults");
        fails.store(false, Ordering::SeqCst);
        let retry = |spec: FileRunSpec| FileRunSpec { retry_faults: true, ..spec };
        score(&engine, retry(spec(&data, &whole, None, BadRows::Skip))).unwrap();
        for shard in shards(3) {
            score(&engine, retry(spec(&data, &run, Some(shard), BadRows::Skip))).unwrap();
        }
        // The run that is there is of the same rows, so it is replaced.
        merge(std::slice::from_ref(&run), &merged).unwrap();
        let (merged, mended) = (contents(&merged), contents(&whole));
        assert_eq!(merged[..4], mended[..4]);
        assert_ne!(merged[0], faulty[0]);
        // Rows that were judged again come once more, shard by shard.
        let sorted = |rows: &str| {
            let mut rows: Vec<u32> = rows.split(',').map(|row| row.parse().unwrap()).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(sorted(&merged[4]), sorted(&mended[4]));
    }
}

#[test]
fn a_shard_that_was_killed_goes_on_to_the_same_bytes() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data.jsonl");
    let filler = "x".repeat(20_000);
    write(&data, &rows(300).replace("so\\n", &format!("{filler}\\n")));
    for config in [PLAIN.to_owned(), format!("{PLAIN}{GROUPED}")] {
        let engine = steady(&config);
        let whole = temp.path().join("whole");
        let fresh = FileRunSpec { fresh: true, ..spec(&data, &whole, None, BadRows::Fault) };
        score(&engine, fresh).unwrap();
        for kill_at in [3, 6, 9, 14] {
            let run = temp.path().join(format!("run-{kill_at}"));
            for shard in shards(2) {
                let dir = run.join(shard.folder_name());
                for left in [kill_at, usize::MAX] {
                    let store =
                        Dying { disk: DiskStore::new(&dir).unwrap(), dir: dir.clone(), left };
                    let ended = session(&engine, &data, &dir, store, shard);
                    assert_eq!(ended.is_ok(), left == usize::MAX, "killed at {left}");
                }
            }
            merge(std::slice::from_ref(&run), &run).unwrap();
            assert_same(&run, &whole, &format!("killed at write {kill_at}"));
            fs::remove_dir_all(&run).unwrap();
        }
    }
}

fn session(
    engine: &Engine,
    data: &Path,
    dir: &Path,
    store: Dying,
    shard: Shard,
) -> Result<Report, RunError> {
    let mut session = RunSession {
        engine,
        folder: RunFolder::open(dir, 1)?,
        store: Box::new(store),
        inputs: RunInputs::find(&[data.to_owned()], &assay::data::ReadLimits::default()).unwrap(),
        bad_rows: BadRows::Fault,
        limit: None,
        shard: Some(shard),
        training: assay::TrainingState::default(),
        fresh: false,
        retry_faults: false,
    };
    let limits = assay::data::ReadLimits::default();
    let open = || assay::data::Source::open(&[data.to_owned()], &limits);
    session.run(&open, &CancellationToken::new(), &mut |_, _| {})
}

#[test]
fn a_merge_that_was_killed_leaves_no_half_run() {
    let temp = tempfile::tempdir().unwrap();
    let (data, run) = (temp.path().join("data.jsonl"), temp.path().join("run"));
    write(&data, &rows(200));
    let engine = steady(PLAIN);
    let whole = temp.path().join("whole");
    score(&engine, spec(&data, &whole, None, BadRows::Skip)).unwrap();
    for shard in shards(3) {
        score(&engine, spec(&data, &run, Some(shard), BadRows::Skip)).unwrap();
    }
    let runs = std::slice::from_ref(&run);
    for kill_at in 1.. {
        assert!(kill_at < 100, "a merge has so many writes");
        let out = temp.path().join(format!("out-{kill_at}"));
        let disk = DiskStore::new(&out).unwrap();
        let mut store = Dying { disk, dir: out.clone(), left: kill_at };
        let ended = merge_spec(runs, &out).merge_into(&mut store).is_ok();
        let manifest = fs::read_to_string(out.join("manifest.json")).unwrap_or_default();
        assert_eq!(manifest.contains("\"complete\": true"), ended, "killed at write {kill_at}");
        merge(runs, &out).unwrap();
        assert_same(&out, &whole, &format!("killed at write {kill_at}"));
        if ended {
            assert!(kill_at > 10, "only {kill_at} writes were tried");
            return;
        }
    }
}

#[test]
fn shards_that_do_not_fit_are_refused_by_name() {
    let temp = tempfile::tempdir().unwrap();
    let (data, run) = (temp.path().join("data.jsonl"), temp.path().join("run"));
    write(&data, &rows(300));
    let engine = steady(PLAIN);
    let part = |shard: Shard, run: &Path| spec(&data, run, Some(shard), BadRows::Skip);
    for shard in shards(3) {
        score(&engine, part(shard, &run)).unwrap();
    }
    let out = temp.path().join("out");
    let dirs: Vec<PathBuf> = shards(3).map(|shard| run.join(shard.folder_name())).collect();
    let refused = |runs: &[PathBuf], why: &str| {
        let error = merge(runs, &out).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(!out.exists(), "a merge that is refused writes nothing");
    };
    refused(&dirs[1..], "shards are missing: 0/3");
    refused(&dirs[..1], "shards are missing: 1/3, 2/3");
    refused(&[run.clone(), dirs[1].clone()], "shard 1/3 is there twice");
    refused(&[temp.path().join("none")], "no shard");
    let other = temp.path().join("other");
    score(&engine, part(Shard::new(0, 2).unwrap(), &other)).unwrap();
    refused(&[run.clone(), other.join("shard-00000-of-00002")], "is not of the 3 shards");
    let error = score(&engine, part(Shard::new(0, 3).unwrap(), &other)).unwrap_err().to_string();
    assert!(error.contains("is of 2 shards, not 3"), "{error}");
    let whole = temp.path().join("whole");
    score(&engine, spec(&data, &whole, None, BadRows::Skip)).unwrap();
    refused(std::slice::from_ref(&whole), "a whole run");
    let error = score(&engine, part(Shard::new(0, 3).unwrap(), &whole)).unwrap_err().to_string();
    assert!(error.contains("a whole run"), "{error}");
    let error = score(&engine, spec(&data, &run, None, BadRows::Skip)).unwrap_err().to_string();
    assert!(error.contains("assay merge"), "{error}");
    let strange = temp.path().join("strange");
    score(&steady(&PLAIN.replace("0.3", "0.4")), part(Shard::new(1, 3).unwrap(), &strange))
        .unwrap();
    let strange = strange.join(dirs[1].file_name().unwrap());
    refused(&[dirs[0].clone(), strange, dirs[2].clone()], "of another configuration");
    let into = merge(std::slice::from_ref(&run), &dirs[0]).unwrap_err().to_string();
    assert!(into.contains("the folder of one of its shards"), "{into}");
    // A copy under the name of another shard.
    fs::remove_dir_all(&dirs[2]).unwrap();
    fs::create_dir(&dirs[2]).unwrap();
    for name in ["manifest.json", "verdicts.jsonl", "timings.jsonl", "summary.json"] {
        fs::copy(dirs[1].join(name), dirs[2].join(name)).unwrap();
    }
    refused(std::slice::from_ref(&run), "shard 1/3 is there twice");
    let error = score(&engine, part(Shard::new(2, 3).unwrap(), &run)).unwrap_err().to_string();
    assert!(error.contains("holds shard 1/3, not shard 2/3"), "{error}");
}

#[test]
fn a_shard_that_is_damaged_or_not_complete_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let (data, run) = (temp.path().join("data.jsonl"), temp.path().join("run"));
    write(&data, &rows(300));
    let engine = steady(PLAIN);
    for shard in shards(2) {
        score(&engine, spec(&data, &run, Some(shard), BadRows::Skip)).unwrap();
    }
    let (dir, out) = (run.join("shard-00001-of-00002"), temp.path().join("out"));
    let refused = |name: &str, change: &dyn Fn(&str) -> String, why: &str| {
        let before = fs::read_to_string(dir.join(name)).unwrap();
        write(&dir.join(name), &change(&before));
        let error = merge(std::slice::from_ref(&run), &out).unwrap_err().to_string();
        assert!(error.contains("shard-00001-of-00002") && error.contains(why), "{error}");
        assert!(!out.join("manifest.json").exists());
        write(&dir.join(name), &before);
    };
    let incomplete = |text: &str| text.replace("\"complete\": true", "\"complete\": false");
    refused("manifest.json", &incomplete, "shard 1/2 is not complete");
    refused("verdicts.jsonl", &|text| text.replacen("scored", "Scored", 1), "no verdict row");
    refused("verdicts.jsonl", &|text| text.replacen("\"r", "\"s", 1), "is not the file");
    refused("verdicts.jsonl", &|text| format!("{text}{{}}\n"), "is not the file");
    refused("verdicts.jsonl", &|text| text[..text.len() / 2].to_owned(), "fewer rows");
    refused("timings.jsonl", &|text| text[..text.len() / 2].to_owned(), "fewer rows");
    refused("timings.jsonl", &|text| text.replacen("row\":16,", "row\":15,", 1), "is there twice");
    merge(std::slice::from_ref(&run), &out).unwrap();
}

#[test]
fn standard_input_has_no_shards() {
    let temp = tempfile::tempdir().unwrap();
    let shard = Shard::new(0, 2).unwrap();
    let stdin = spec(Path::new("-"), temp.path(), Some(shard), BadRows::Stop);
    let error = score(&steady(PLAIN), stdin).unwrap_err().to_string();
    assert!(error.contains("standard input"), "{error}");
}
