//! The examples of plugins build from a clean clone, with what package registries have, and judge.

use std::path::{Path, PathBuf};
use std::process::Command;

use assay::engine::runs::write_atomic;
use serde_json::{Value, json};

use crate::root;

/// Builds an example as its page says. Its folder with the component is kept for the next time.
fn built(name: &str) -> PathBuf {
    let example = root().join("examples").join(name);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new("sh").arg(example.join("build.sh")).arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let config = std::fs::read(example.join("polite.toml")).unwrap();
    write_atomic(&out.join("polite.toml"), &config).unwrap();
    out
}

/// The example judges three completions: one with a wanted word of two, one with both, an empty one.
fn judges(folder: &Path) {
    let said = ["Please wait.", "PLEASE sit, and thank you!", " "];
    let row =
        |text: &&str| format!("{}\n", json!({ "id": *text, "prompt": "?", "completion": *text }));
    let rows: String = said.iter().map(row).collect();
    write_atomic(&folder.join("d.jsonl"), rows.as_bytes()).unwrap();
    let words = ["score", "polite.toml", "d.jsonl", "-o", "run", "--fresh", "-q", "--no-cache"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let output = command.args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts = std::fs::read_to_string(folder.join("run/verdicts.jsonl")).unwrap();
    let rows: Vec<Value> =
        verdicts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rewards: Vec<&Value> = rows.iter().map(|row| &row["reward"]).collect();
    assert_eq!(rewards, [&json!(0.5), &json!(1.0), &Value::Null], "{verdicts}");
    let polite = &rows[0]["verdicts"]["polite"];
    assert_eq!(polite["evidence"]["notes"]["missing"], json!(["thank you"]), "{polite}");
    assert_eq!(rows[2]["outcome"], "abstained", "{verdicts}");
}

#[test]
fn the_plugin_in_python_builds_and_judges() {
    judges(&built("plugin-python"));
}

#[test]
fn the_plugin_in_rust_builds_and_judges() {
    let manifest = std::fs::read_to_string(root().join("examples/plugin-rust/Cargo.lock")).unwrap();
    assert!(manifest.contains("name = \"wit-bindgen\""), "the example pins what it is built with");
    let words = ["--print", "target-libdir", "--target", "wasm32-wasip2"];
    let folder = Command::new("rustc").args(words).output().unwrap().stdout;
    // A toolchain need not have the target: `rustup target add wasm32-wasip2`.
    if Path::new(String::from_utf8(folder).unwrap().trim()).is_dir() {
        judges(&built("plugin-rust"));
    }
}
