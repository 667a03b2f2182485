//! The same programs get the same verdicts, byte for byte and fuel included: in 48 runs, on one to
//! eight threads, and in another process. The guests must be there: `make assets` builds them.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use assay_sandbox::runtime::Options;
use assay_sandbox::verifiers::ALL;
use assay_sandbox::{Sandbox, SandboxConfig};
use assay_verifiers::{Built, Earlier, Lane, Meter, NoFiles, Outcome, Sample, Verdict, canonical};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Set in the environment of the second process.
const SECOND: &str = "ASSAY_TEST_SECOND_PROCESS";
const RUNS: usize = 48;

#[derive(Deserialize)]
struct Samples {
    sample: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default = "unit_tests")]
    verifier: String,
    #[serde(default)]
    config: Map<String, Value>,
    completion: String,
    reference: Value,
    reward: Option<f64>,
}

fn unit_tests() -> String {
    "unit_tests".to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rows() -> Vec<Row> {
    let path = root().join("fixtures/sandbox/determinism.toml");
    toml::from_str::<Samples>(&std::fs::read_to_string(path).unwrap()).unwrap().sample
}

fn sandbox() -> Arc<Sandbox> {
    let assets = root().join("target/assets");
    let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
    Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets], options }))
}

/// A verifier for each judgement: one that is kept would remember its verdicts.
fn judged(sandbox: &Arc<Sandbox>, row: &Row) -> Verdict {
    let mut settings = row.config.clone();
    let limits =
        json!({"fuel": 100_000_000, "memory_bytes_max": 64 << 20, "output_bytes_max": 1 << 16});
    settings.insert("limits".to_owned(), limits);
    let entry = ALL.iter().find(|entry| entry.about.id == row.verifier).unwrap();
    let Built { lane, .. } = (entry.build)(sandbox, settings.into(), &NoFiles).unwrap();
    let Lane::Compute(verifier) = lane else { unreachable!("these run on this machine") };
    let completion = format!("```\n{}```\n", row.completion);
    let sample = Sample::builder(completion).id("s").reference(row.reference.clone()).build();
    verifier.verify(&sample, Earlier::default(), &mut Meter::default())
}

fn bytes(verdict: &Verdict) -> Vec<u8> {
    format!("{verdict:?}").into_bytes()
}

fn all(sandbox: &Arc<Sandbox>) -> Vec<Vec<u8>> {
    rows().iter().map(|row| bytes(&judged(sandbox, row))).collect()
}

fn digest(verdicts: &[Vec<u8>]) -> String {
    let parts: Vec<&[u8]> = verdicts.iter().map(Vec::as_slice).collect();
    canonical::hex(&canonical::digest_parts(&parts))
}

#[test]
fn each_program_gets_what_it_deserves() {
    let sandbox = sandbox();
    for row in rows() {
        let verdict = judged(&sandbox, &row);
        let Some(reward) = row.reward else { continue };
        let found = verdict.outcome.reward().map(assay_verifiers::Reward::get);
        assert_eq!(found, Some(reward), "{}: {verdict:?}", row.name);
        assert!(verdict.evidence.get("fuel").is_some(), "{}: {verdict:?}", row.name);
    }
    assert!(rows().len() >= 20);
}

#[test]
fn many_runs_on_one_to_eight_threads_agree() {
    let sandbox = sandbox();
    let rows = rows();
    let first = all(&sandbox);
    let differing = Mutex::new(Vec::new());
    for threads in 1..=8 {
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(row) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                (at < rows.len() * RUNS.div_ceil(8)).then(|| at % rows.len())
            } {
                let again = bytes(&judged(&sandbox, &rows[row]));
                if again != first[row] {
                    let again = String::from_utf8_lossy(&again).into_owned();
                    differing.lock().unwrap().push((threads, row, again));
                }
            }
        };
        std::thread::scope(|scope| {
            (0..threads).for_each(|_| drop(scope.spawn(work)));
        });
    }
    let differing = differing.into_inner().unwrap();
    let shown = differing.first().map(|(threads, row, again)| {
        format!(
            "{} on {threads} threads: {again}, was {}",
            rows[*row].name,
            String::from_utf8_lossy(&first[*row])
        )
    });
    assert!(differing.is_empty(), "{} differ; {}", differing.len(), shown.unwrap_or_default());
}

#[test]
fn another_process_agrees() {
    let own = digest(&all(&sandbox()));
    if std::env::var_os(SECOND).is_some() {
        println!("digest {own}");
        return;
    }
    let second = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "determinism::another_process_agrees", "--nocapture"])
        .env(SECOND, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&second.stdout).into_owned();
    let told = stdout.lines().find_map(|line| line.split("digest ").nth(1));
    assert_eq!(told, Some(own.as_str()), "{stdout}{}", String::from_utf8_lossy(&second.stderr));
}

#[test]
fn tests_that_call_nobody_are_to_blame_themselves() {
    let sandbox = sandbox();
    let row = rows().into_iter().find(|row| row.name == "tests that call nobody").unwrap();
    let verdict = judged(&sandbox, &row);
    assert!(matches!(verdict.outcome, Outcome::Failed(_)), "{verdict:?}");
}
