//! Sessions that are killed at random moments, over rules, the sandbox and a model, with a limit that
//! moves and faults that are retried in between: the run ends in the bytes of one that was never stopped,
//! and what was written is not judged again.

#![allow(clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use assay::engine::runs::{hash_file, write_atomic};
use serde_json::json;

use crate::root;

/// Kills of each lane in `make test`, and in `make test-kills`.
const FEW: usize = 6;
const MANY: usize = 200;
/// Kills of one run before it goes to its end.
const KILLS_OF_A_RUN: usize = 5;
/// Rows that are written at once: those that a torn write may cost.
const CHUNK_ROWS: usize = 256;

/// What is scored, in a folder of its own.
struct Lane {
    folder: tempfile::TempDir,
    rows: usize,
    /// Milliseconds within which a session is killed, to begin with.
    span_ms: u64,
}

impl Lane {
    fn new(rewards: &str, rows: &[String], span_ms: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_atomic(&folder.path().join("a.toml"), format!("version = 1\n{rewards}").as_bytes())
            .unwrap();
        write_atomic(&folder.path().join("d.jsonl"), rows.concat().as_bytes()).unwrap();
        Self { folder, rows: rows.len(), span_ms }
    }

    fn session(&self, run: &str, more: &[String]) -> Command {
        let assets = root().join("target/assets");
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.current_dir(self.folder.path()).env_clear().env("ASSAY_ASSETS", assets);
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")));
        command.args([
            "score",
            "a.toml",
            "d.jsonl",
            "--no-cache",
            "--bad-rows",
            "fault",
            "-o",
            run,
        ]);
        command.args(["--allow-path", &root().join("fixtures/models").display().to_string()]);
        command.args(more).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn path(&self, run: &str) -> PathBuf {
        self.folder.path().join(run).join("verdicts.jsonl")
    }

    /// Whole lines of verdicts that a run holds.
    fn lines(&self, run: &str) -> usize {
        let bytes = fs::read(self.path(run)).unwrap_or_default();
        bytes.split(|byte| *byte == b'\n').count().saturating_sub(1)
    }

    /// Goes on to the end. What the session says of the rows that were there.
    fn finished(&self, run: &str) -> usize {
        let output = self.session(run, &[]).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        if told.contains("complete already") {
            return self.rows;
        }
        let there = told.split("; ").find_map(|part| part.split_once(" rows were there already"));
        there.map_or(0, |(rows, _)| rows.replace(',', "").parse().unwrap())
    }

    fn hash(&self, run: &str) -> (String, serde_json::Value) {
        let summary = self.folder.path().join(run).join("summary.json");
        let mut summary: serde_json::Value =
            serde_json::from_slice(&fs::read(summary).unwrap()).unwrap();
        summary.as_object_mut().unwrap().remove("cache");
        (hash_file(&self.path(run)).unwrap().0, summary)
    }

    /// Kills sessions until `wanted` were killed at work, and holds every run against a whole one.
    fn kill(mut self, wanted: usize) {
        assert_eq!(self.finished("whole"), 0);
        let expected = self.hash("whole");
        let mut state = 29_u64;
        let mut draw = |below: u64| {
            state = u64::wrapping_mul(state, 6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below.max(1)
        };
        let (mut killed, mut runs, mut torn) = (0, 0, 0);
        while killed < wanted {
            runs += 1;
            for _ in 0..KILLS_OF_A_RUN.min(wanted - killed) {
                let mut more = Vec::new();
                if draw(2) == 0 {
                    let limit = draw(self.rows as u64) + 1;
                    more.extend(["--limit".to_owned(), limit.to_string()]);
                }
                if draw(3) == 0 {
                    more.push("--retry-faults".to_owned());
                }
                let before = self.lines("cut");
                let mut child = self.session("cut", &more).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(draw(self.span_ms)));
                let is_at_work = child.try_wait().unwrap().is_none();
                child.kill().unwrap();
                child.wait().unwrap();
                killed += usize::from(is_at_work);
                // Sooner where sessions end before, and later where they come to nothing.
                let (after, span) = (self.lines("cut"), self.span_ms);
                let is_late = after == before && is_at_work;
                self.span_ms = if is_late { span * 9 / 8 + 1 } else { (span * 15 / 16).max(40) };
                assert!(
                    after + CHUNK_ROWS >= before,
                    "{before} rows were written, and {after} kept"
                );
            }
            let written = self.lines("cut");
            let there = self.finished("cut");
            torn = torn.max(written.saturating_sub(there));
            assert!(there + CHUNK_ROWS >= written, "{written} rows were written, {there} kept");
            assert_eq!(self.hash("cut"), expected, "run {runs} after {killed} kills");
            fs::remove_dir_all(self.folder.path().join("cut")).unwrap();
        }
        println!("{killed} kills, {runs} runs, at most {torn} written rows judged again");
    }
}

/// Every 97th row cannot be read: a fault each time.
fn rows(count: usize, row: impl Fn(usize) -> serde_json::Value) -> Vec<String> {
    let broken = |at: usize| json!({ "id": format!("s{at}"), "completion": at });
    (0..count)
        .map(|at| if at % 97 == 5 { broken(at) } else { row(at) })
        .map(|row| format!("{row}\n"))
        .collect()
}

fn rules() -> Lane {
    let rewards = "[[reward]]\nname = 'exact'\nverifier = 'exact'\n\
                   [[reward]]\nname = 'math'\nverifier = 'math'\nwhen = 'rewards.exact == 0.0'\n";
    let row = |at: usize| {
        let said = format!("{} so the answer is $\\frac{{{at}}}{{2}}$", "We add both. ".repeat(20));
        json!({ "id": format!("s{at}"), "prompt": "?", "completion": said, "reference": format!("{at}/2") })
    };
    Lane::new(rewards, &rows(8_000, row), 1_000)
}

fn sandbox() -> Lane {
    let row = |at: usize| {
        let said = format!("```python\ndef f(x):\n    return sum(range(x)) + {}\n```", at % 3);
        let test = if at % 50 == 7 { "assert g(" } else { "assert f(100) == 4950" };
        json!({ "id": format!("s{at}"), "prompt": "?", "completion": said, "reference": { "test_list": [test] } })
    };
    Lane::new("[[reward]]\nname = 'tests'\nverifier = 'unit_tests'\n", &rows(400, row), 600)
}

fn model() -> Lane {
    let model = root().join("fixtures/models/qwen-prm");
    let rewards = format!(
        "[[reward]]\nname = 'steps'\nverifier = 'process_model'\nconfig = {{ model = '{}' }}\n",
        model.display()
    );
    let row = |at: usize| json!({ "id": format!("s{at}"), "prompt": format!("2 + {at}?"), "completion": format!("{at}.\n\nSo 5.") });
    Lane::new(&rewards, &rows(800, row), 1_000)
}

#[test]
fn killed_runs_of_rules_go_on_to_the_same_bytes() {
    rules().kill(FEW);
}

#[test]
fn killed_runs_of_programs_go_on_to_the_same_bytes() {
    sandbox().kill(FEW);
}

#[test]
fn killed_runs_of_a_model_go_on_to_the_same_bytes() {
    model().kill(FEW);
}

#[test]
#[ignore = "minutes: `make test-kills`"]
fn many_kills_of_rules() {
    rules().kill(MANY);
}

#[test]
#[ignore = "minutes: `make test-kills`"]
fn many_kills_of_programs() {
    sandbox().kill(MANY);
}

#[test]
#[ignore = "minutes: `make test-kills`"]
fn many_kills_of_a_model() {
    model().kill(MANY);
}
