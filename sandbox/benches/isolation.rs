//! What a fresh interpreter costs, and a task in two rooms, beside `python3` in the same run.
//! `make assets`, then `cargo bench -p assay-sandbox --bench isolation`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use assay_sandbox::isolation::{AssertionTask, Ruling, RunContext, run_assertions, run_program};
use assay_sandbox::runtime::{Guest, Limits, Options, Runtime};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn context(expired: &mut dyn FnMut() -> bool) -> RunContext<'_> {
    RunContext { limits: Limits::default(), seed: 0, expired }
}

/// Milliseconds of each run, sorted.
fn times(runs: usize, mut run: impl FnMut()) -> Vec<f64> {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn at(times: &[f64], share: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let index = ((times.len() - 1) as f64 * share) as usize;
    times.get(index).copied().unwrap_or(f64::NAN)
}

fn tell(what: &str, times: &[f64]) {
    println!("{what:42} p50 {:8.2} ms   p99 {:8.2} ms", at(times, 0.5), at(times, 0.99));
}

/// Kilobytes of this process that are in memory.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn main() {
    let assets = root().join("target/assets");
    let wasm = std::fs::read(assets.join("python.wasm")).unwrap();
    let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
    let runtime = Runtime::new(&options).unwrap();
    drop(Guest::load(&runtime, "python.wasm", &wasm).unwrap());
    let start = Instant::now();
    let python = Guest::load(&runtime, "python.wasm", &wasm).unwrap();
    println!(
        "loading the compiled guest                 {:12.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );

    let fresh = times(2000, || {
        let run = run_program(&python, "pass", b"", context(&mut || false));
        assert_eq!(run.end, Ok(0), "{run:?}");
    });
    tell("a fresh interpreter, `pass`, gone again", &fresh);
    let native = times(100, || {
        let status = Command::new("python3").args(["-I", "-c", "pass"]).status().unwrap();
        assert!(status.success());
    });
    tell("python3 -I -c pass", &native);
    println!("{:42} {:8.1} x", "  ratio of the medians", at(&native, 0.5) / at(&fresh, 0.5));

    let tasks = tasks();
    let mut passed = 0;
    let rooms = times(1, || {
        for (program, test, entry) in &tasks {
            let entry_points = [entry.clone()];
            let task = AssertionTask {
                candidate: program,
                test,
                entry_points: &entry_points,
                ..AssertionTask::default()
            };
            let judged = run_assertions(&python, &task, context(&mut || false));
            passed += usize::from(judged.ruling() == Ruling::Passed);
        }
    });
    let count = tasks.len() as f64;
    println!(
        "two rooms, {} real HumanEval programs    {:10.2} ms each, {passed} passed",
        tasks.len(),
        at(&rooms, 0.5) / count
    );
    let subprocess = times(1, || {
        for (program, test, _) in &tasks {
            let code = format!("{program}\n{test}");
            let mut python = Command::new("python3");
            let _ = python.args(["-I", "-c", &code]).stderr(Stdio::null()).status().unwrap();
        }
    });
    println!(
        "python3 -I, the same in one process each   {:12.2} ms each",
        at(&subprocess, 0.5) / count
    );

    let before = resident_kb();
    for _ in 0..10_000 {
        let _ = run_program(&python, "x = [0] * 100000", b"", context(&mut || false));
    }
    println!("memory of the process over 10,000 runs     {before:>10} kB to {} kB", resident_kb());
}

/// Real programs that pass their tests, with those tests.
fn tasks() -> Vec<(String, String, String)> {
    let file = std::fs::File::open(root().join("fixtures/datasets/code-humaneval.jsonl.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file.unwrap()).read_to_string(&mut text).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let string = |row: &Value, path: &str| {
        row.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    rows.filter(|row| row.get("label") == Some(&Value::Bool(true)))
        .map(|row| {
            let entry = string(&row, "/reference/entry_point");
            (string(&row, "/response"), string(&row, "/reference/test"), entry)
        })
        .collect()
}
