//! The cookbook and the pages of the command do what they say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use assay::engine::runs::write_atomic;
use serde_json::Value;

use crate::place::Place;
use crate::root;

const COOKBOOK: &str = include_str!("../../docs/cookbook.md");
const VERIFIERS: &str = include_str!("../../docs/verifiers.md");

#[test]
fn the_cookbook_runs_from_the_top_to_the_bottom() {
    let place = Place::with(&[]);
    let blocks = COOKBOOK.split("```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    let script = format!("set -e\n{}", blocks.collect::<Vec<_>>().join("\n"));
    assert!(script.matches("\nassay ").count() >= 10, "{script}");
    let binary = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap().display().to_string();
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(place.path(""))
        .env_clear()
        .env("PATH", format!("{binary}:/usr/bin:/bin"))
        .env("HOME", place.path(""))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let shown = String::from_utf8_lossy(&output.stdout);
    // What the page says of its rows is so.
    assert!(shown.contains("row 3  b-1  reward 1"), "{shown}");
    let joined = fs::read_to_string(place.path("trl-rewards.jsonl")).unwrap();
    let rewards: Vec<f64> = joined
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["reward"].as_f64().unwrap())
        .collect();
    assert_eq!(rewards, [1.1, 1.0, 0.1, 1.1]);
}

#[test]
fn fences_of_the_cookbook_are_all_run() {
    let fences: BTreeSet<&str> =
        COOKBOOK.lines().filter_map(|line| line.strip_prefix("```")).collect();
    assert_eq!(fences, BTreeSet::from(["", "sh"]));
}

/// The ids in the first columns of the page's tables.
fn documented() -> BTreeSet<String> {
    let first = VERIFIERS.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let ids = first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned));
    ids.collect()
}

#[test]
fn the_list_has_every_verifier_that_the_page_names() {
    let place = Place::with(&[]);
    let listed = place.run("list --json").json();
    let listed: BTreeSet<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect();
    let registry = assay::Registry::standard(&Arc::default(), &Arc::default());
    assert_eq!(listed, registry.ids().map(str::to_owned).collect());
    assert_eq!(listed, documented());
    let text = place.run("list").out;
    let families: Vec<&str> = text.lines().filter(|line| line.ends_with(':')).collect();
    assert_eq!(families, ["rules:", "groups:", "programs:", "models:", "rubrics and judges:"]);
    let family = |id: &str| {
        let at = text.find(&format!("\n{id} ")).unwrap();
        text[..at].lines().rev().find(|line| line.ends_with(':')).unwrap().to_owned()
    };
    for (id, wanted) in [
        ("choice", "rules:"),
        ("tags", "rules:"),
        ("contrast", "groups:"),
        ("self_consistency", "groups:"),
        ("sql", "programs:"),
        ("wasm", "programs:"),
        ("embedding_diversity", "models:"),
        ("pairwise", "rubrics and judges:"),
        ("text_similarity", "rubrics and judges:"),
    ] {
        assert_eq!(family(id), wanted, "{id}");
    }
}

fn copy_model(from: &str, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(root().join("fixtures/models").join(from)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn the_example_of_every_verifier_builds() {
    let place = Place::with(&[]);
    for (name, model) in [
        ("outcome", "arch-qwen2"),
        ("process", "qwen-prm"),
        ("judge", "yes-no-judge"),
        ("preference", "pairrm"),
        ("embedding", "sentence-embedding"),
        ("likelihood", "log-probability"),
    ] {
        copy_model(model, &place.path("models").join(name));
    }
    let cases = fs::read_to_string(root().join("fixtures/checks/wasm.toml")).unwrap();
    let cases: toml::Value = toml::from_str(&cases).unwrap();
    let plugin = cases["case"][0]["files"]["plugin.wat"].as_str().unwrap();
    place.write("plugin.wasm", plugin);
    let assets = root().join("target/assets").display().to_string();
    let registry = assay::Registry::standard(&Arc::default(), &Arc::default());
    for id in registry.ids() {
        let page = place.run(&format!("show {id} --json")).json();
        let example = page["example"].as_str().unwrap();
        assert!(example.contains(&format!("verifier = \"{id}\"")), "{example}");
        write_atomic(&place.path("a.toml"), example.as_bytes()).unwrap();
        let validate = place.command("validate a.toml").env("ASSAY_ASSETS", &assets).output();
        let output = validate.unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{id}\n{example}\n{told}");
        // The text shows it first, and what is shown can be copied as it stands.
        let text = place.run(&format!("show {id}")).out;
        let shown = text.split("\nexample\n").nth(1).unwrap();
        let lines: Vec<&str> =
            shown.lines().take_while(|line| line.is_empty() || line.starts_with("  ")).collect();
        let copied = toml::from_str::<toml::Value>(&lines.join("\n")).unwrap();
        assert_eq!(copied, toml::from_str::<toml::Value>(example).unwrap());
    }
}

#[test]
fn settings_within_tables_and_values_are_told() {
    let place = Place::with(&[]);
    let page = place.run("show stdin_stdout").out;
    for told in [
        "  comparison.how  (\"tokens\" | \"lines\" | \"exact\"; default \"tokens\")",
        "\"lines\": The lines, without blanks at their ends",
        "  limits.fuel  (integer; default 75000000000)",
        "comparison.float_tolerance.absolute  (number; ",
    ] {
        assert!(page.contains(told), "{told}\n{page}");
    }
    assert!(!page.contains("\ncases\n"), "{page}");
    assert!(place.run("show stdin_stdout --cases").out.contains("\ncases\n"));
    let bare = place.run("show tags --json").json();
    assert!(bare.get("cases").is_none(), "{bare}");
    assert!(place.run("show tags --json --cases").json()["cases"].is_array());
    let none = place.run("show shape.overlong --cases");
    assert_eq!(none.code, 2, "{}", none.out);
}

/// The pages that a page names: `assay-score(1)`.
fn pages(page: &str) -> Vec<String> {
    let page = page.replace("\\-", "-").replace("\\fR", "").replace("\\fB", "");
    let named = page.split_whitespace().filter_map(|word| word.split_once("(1)"));
    named.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn every_page_that_a_manual_page_names_is_printed() {
    let place = Place::with(&[]);
    let mut waiting = vec![String::new()];
    let mut seen = 0;
    while let Some(verb) = waiting.pop() {
        let ran = place.run(&format!("man {verb}"));
        assert_eq!(ran.code, 0, "{verb}\n{}", ran.err);
        assert!(ran.out.contains(".TH assay"), "{verb}\n{}", ran.out);
        seen += 1;
        for name in pages(&ran.out) {
            let inner = name.strip_prefix("assay-").unwrap().replace('-', " ");
            if inner != verb {
                waiting.push(inner);
            }
        }
    }
    assert!(seen >= 20, "only {seen} pages were found");
    let none = place.run("man scor");
    assert_eq!(none.code, 2);
    assert!(none.err.contains("score"), "{}", none.err);
}
