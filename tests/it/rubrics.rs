//! Rubrics from outside: the examples earn their labels without a network, and `assay convert`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assay::data::{ReadLimits, Source};
use assay::setup::Environment;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::support;

fn fixtures() -> PathBuf {
    Path::new(crate::ROOT).join("fixtures/rubrics")
}

/// The configurations of the examples with their rows. A rubric file is neither.
fn examples() -> Vec<(PathBuf, PathBuf)> {
    let folder = fixtures().join("examples");
    let files: BTreeSet<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let rows = |config: &PathBuf| {
        let mut named =
            ["jsonl", "jsonl.gz"].map(|ending| config.with_extension(ending)).into_iter();
        Some((config.clone(), named.find(|data| data.exists())?))
    };
    let configs = files.iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    configs.filter_map(rows).collect()
}

fn rows(data: &Path) -> Vec<Value> {
    let mut text = String::new();
    let mut file = fs::File::open(data).unwrap();
    if data.extension().is_some_and(|end| end == "gz") {
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        file.read_to_string(&mut text).unwrap();
    }
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_example_earns_its_labels() {
    let examples = examples();
    assert_eq!(examples.len(), 7);
    for (config, data) in examples {
        let environment = Environment::read();
        let document = environment.document(&config).unwrap();
        let builder = environment.builder(&config, document, Vec::new());
        let engine = builder.no_cache().build().unwrap();
        let source = Source::open(std::slice::from_ref(&data), &ReadLimits::default()).unwrap();
        let lines = String::from_utf8(support::lines(&engine, source)).unwrap();
        let rows = rows(&data);
        assert_eq!(lines.lines().count(), rows.len(), "{}", data.display());
        for (line, row) in lines.lines().zip(&rows) {
            let verdict: Value = serde_json::from_str(line).unwrap();
            let (id, label) = (&row["id"], row["label"].as_f64().unwrap());
            assert_eq!(&verdict["id"], id);
            let agrees = verdict["reward"].as_f64().is_some_and(|own| (own - label).abs() <= 1e-12);
            assert!(agrees, "{id}: the label is {label}: {line}");
        }
    }
}

fn convert(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["convert", "rubric"]).args(words).current_dir(fixtures()).env_clear();
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_converted_rubric_is_read_again_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    for file in [
        "healthbench/row.json",
        "paperbench/plain-semantic-self-consistency.json",
        "promptfoo/judged.json",
        "research_rubrics/row.json",
        "rubrics_as_rewards/words.json",
        "verifiers/review.toml",
    ] {
        let out = place.path().join("own.toml").display().to_string();
        let written = convert(&[file, "-o", &out]);
        assert!(written.status.success() && written.stdout.is_empty(), "{}", text(&written.stderr));
        let toml = convert(&[file]);
        assert_eq!(text(&toml.stdout), fs::read_to_string(&out).unwrap(), "{file}");
        let json = text(&convert(&[file, "--json"]).stdout);
        assert_eq!(json, text(&convert(&[&out, "--json"]).stdout), "{file}");
        assert_eq!(text(&convert(&[&out, "--from", "assay"]).stdout), text(&toml.stdout));
    }
}

#[test]
fn what_cannot_be_converted_is_named_with_its_place() {
    let place = tempfile::tempdir().unwrap();
    let bad = place.path().join("bad.json");
    let rubric = r#"{"rubrics": [{"criterion": "a", "points": "many"}]}"#;
    assay::engine::runs::write_atomic(&bad, rubric.as_bytes()).unwrap();
    let bad = bad.display().to_string();
    for (words, told) in [
        (vec![bad.as_str()], "bad.json: rubrics[0].points: expected a number, found text"),
        (vec!["none.json"], "none.json: "),
        (vec!["healthbench/row.json", "--from", "research_rubrics"], "expected a list"),
        (vec!["healthbench/row.json", "--from", "healthbenh"], "did you mean \"healthbench\""),
        (vec!["promptfoo/none.yaml"], "none.yaml: "),
    ] {
        let output = convert(&words);
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{error}");
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn the_formats_of_rubrics_are_listed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let output = command.args(["list", "rubrics", "--json"]).env_clear().output().unwrap();
    let known: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(known.iter().any(|one| one["format"] == "healthbench"), "{known:?}");
    assert!(known.iter().all(|one| one["shape"].as_str().is_some_and(|shape| !shape.is_empty())));
}
