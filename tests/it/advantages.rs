//! `assay advantages`: what each rollout of a run earned, worked by hand.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use assay::engine::runs::write_atomic;
use serde_json::{Value, json};
use tempfile::TempDir;

const CONFIG: &str = r#"version = 1
[data]
group = "prompt_id"
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "brief"
verifier = "length"
weight = 0.5
config = { ratio = [0.0, 1.0] }
[advantage]
kind = "dr_grpo"
"#;

struct Place(TempDir);

impl Place {
    /// A run of five rows: three of prompt `a`, of which one has no reward, and two of `b`.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("assay.toml", CONFIG);
        let row = |prompt: &str, completion: &str, reference: &str, tokens: u64| {
            let row = json!({
                "prompt_id": prompt, "prompt": prompt, "completion": completion,
                "reference": reference, "tokens": tokens,
            });
            format!("{row}\n")
        };
        let rows = [
            row("a", "yes", "yes", 4),
            row("b", "no", "yes", 1),
            row("a", "wrong", "yes", 2),
            row("a", "yes", "", 9),
            row("b", "no", "yes", 3),
        ];
        place.write("rows.jsonl", &rows.concat());
        // `drop_group` and the like want the rows of a group together; these do not.
        let ran = place.run("score assay.toml rows.jsonl -o run -q");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        write_atomic(&self.path(name), text.as_bytes()).unwrap();
    }

    fn run(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).env_clear();
        command.env("HOME", self.0.path()).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// The lines of `assay advantages`, and what it said of the groups.
    fn lines(&self, words: &str) -> (Vec<Value>, String) {
        let ran = self.run(&format!("advantages {words}"));
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.success(), "{said}");
        let lines = String::from_utf8(ran.stdout).unwrap();
        (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), said)
    }

    fn refused(&self, words: &str) -> String {
        let ran = self.run(&format!("advantages {words}"));
        assert_eq!(ran.status.code(), Some(2), "{words}");
        String::from_utf8(ran.stderr).unwrap()
    }
}

fn advantages(lines: &[Value]) -> Vec<f64> {
    lines.iter().map(|line| line["advantage"].as_f64().unwrap()).collect()
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    let near = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < 1e-12;
    assert!(found.iter().zip(wanted).all(near), "{found:?}, not {wanted:?}");
}

#[test]
fn rewards_of_a_run_become_advantages() {
    let place = Place::new();
    // Rewards: a: 1 + 0.5, 0, a fault (the reference has no length); b: 0.5 twice.
    let (lines, said) = place.lines("run");
    close(&advantages(&lines), &[0.75, 0.0, -0.75, 0.0, 0.0]);
    assert_eq!(lines[0]["group"], "a");
    assert_eq!((&lines[0]["reward"], &lines[3]["reward"]), (&json!(1.5), &Value::Null));
    assert_eq!(
        said.trim(),
        "5 rows in 2 groups; 1 without variance; 1 rows have no reward",
        "{said}"
    );
    assert_eq!(place.lines("run --config assay.toml").0, lines);
    // A preset, and a setting over it: 0.75 / (1.5 / sqrt(2) + 1).
    let (lines, _) = place.lines("run --preset trl-1.16 --set eps=1.0");
    let unit = 0.75 / (1.5 / 2.0_f64.sqrt() + 1.0);
    close(&advantages(&lines), &[unit, 0.0, -unit, 0.0, 0.0]);
    // Parts are normalised one by one, with the weights of the configuration.
    let (lines, _) = place.lines("run --kind gdpo --preset trl-1.16");
    assert!(advantages(&lines)[0] > 0.0 && advantages(&lines)[3].abs() < 1e-12);
    let ran = place.run("advantages run --kind rloo -o out.jsonl --json");
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(report["without_variance"], 1, "{report}");
    assert_eq!(std::fs::read_to_string(place.path("out.jsonl")).unwrap().lines().count(), 5);
}

#[test]
fn columns_of_the_data_are_read_where_an_estimator_needs_them() {
    let place = Place::new();
    let error = place.refused("run --kind opo");
    assert!(error.contains("lengths") && error.contains("opo"), "{error}");
    // OPO: the baseline of a is (4 * 1.5 + 2 * 0) / 6 = 1.
    let (lines, _) = place.lines("run --kind opo --with rows.jsonl --lengths tokens");
    close(&advantages(&lines), &[0.5, 0.0, -1.0, 0.0, 0.0]);
    let error = place.refused("run --kind opo --with rows.jsonl --lengths prompt_id");
    assert!(error.contains("\"prompt_id\"") && error.contains("a number of tokens"), "{error}");
    place.write("other.jsonl", "{\"completion\": \"x\"}\n");
    let error = place.refused("run --kind grpo --with other.jsonl");
    assert!(error.contains("is not in the data"), "{error}");
}

#[test]
fn a_run_whose_rows_name_no_group_goes_by_its_prompts() {
    let place = Place::new();
    let plain = CONFIG.replace("[data]\ngroup = \"prompt_id\"\n", "");
    let plain = plain.replace("[advantage]\nkind = \"dr_grpo\"\n", "");
    place.write("plain.toml", &plain);
    let ran = place.run("score plain.toml rows.jsonl -o plain -q");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    // GRPO where nothing says how: (1.5 - 0.75) / (1.5 / sqrt(2) + 1e-6).
    let unit = 0.75 / (1.5 / 2.0_f64.sqrt() + 1e-6);
    let wanted = [unit, 0.0, -unit, 0.0, 0.0];
    close(&advantages(&place.lines("plain").0), &wanted);
    close(&advantages(&place.lines("plain --with rows.jsonl").0), &wanted);
    place.write("rows.jsonl", "{\"completion\": \"other\"}\n");
    let error = place.refused("plain");
    assert!(error.contains("row 1") && error.contains("names no group"), "{error}");
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    for (words, why) in [
        ("run --kind grop", "no advantage is called \"grop\""),
        ("run --kind grpo --set epss=1", "unknown field `epss`"),
        ("run --kind grpo --set eps", "expected KEY=VALUE"),
        ("run --kind grpo --group-size 2", "--group-size 2 does not divide the 5 rows"),
        ("run --kind grpo --steps none", "no such reward; it has: correct, brief"),
        ("none --kind grpo", "it is no run folder"),
        ("run --kind spiral", "roles"),
    ] {
        let error = place.refused(words);
        assert!(error.contains(why), "{words}: {error}");
    }
    // One group of all rows.
    let (lines, _) = place.lines("run --kind dr_grpo --group-size 5");
    assert_eq!(advantages(&lines).len(), 5);
}

#[test]
fn a_state_is_an_input_and_an_output() {
    let place = Place::new();
    place.lines("run --kind dcpo --state-out first.json");
    let first = std::fs::read_to_string(place.path("first.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&first).unwrap().as_object().unwrap().len() >= 2);
    place.lines("run --kind dcpo --state first.json --state-out second.json");
    let second = std::fs::read_to_string(place.path("second.json")).unwrap();
    assert_ne!(first, second);
    let error = place.refused("run --kind dcpo --state rows.jsonl");
    assert!(error.contains("--state rows.jsonl"), "{error}");
}
