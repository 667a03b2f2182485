//! What people reported of other tools: `fixtures/field-reports`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::place::{Place, Ran};

/// Cases whose verdict is another, and why.
const KNOWN: [(&str, &str); 2] = [
    ("k16", "numpy is no part of the guest"),
    (
        "x70",
        "a template that opens a tag is named by `opened`; without it a missing mark is missing",
    ),
];

#[test]
fn reported_cases_are_right() {
    let root = Path::new(crate::ROOT);
    let cases = fs::read_to_string(root.join("fixtures/field-reports/cases.jsonl")).unwrap();
    let place = Place::with(&[]);
    let (mut wrong, mut count) = (String::new(), 0);
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let (found, expected) = (verdict(&place, root, &case), &case["expected"]);
        let is_right = match (found.as_f64(), expected.as_f64()) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
            _ => found == *expected,
        };
        let is_known = KNOWN.iter().any(|(known, _)| *known == id);
        if is_right == is_known {
            writeln!(wrong, "{id}: expected {expected}, found {found}: {line}").unwrap();
        }
        count += 1;
    }
    assert!(count > 100 && wrong.is_empty(), "{wrong}");
}

/// The reward, `fault`, another outcome, or `config error`.
fn verdict(place: &Place, root: &Path, case: &Value) -> Value {
    let input = &case["input"];
    let mut command = place.command("check --json");
    command.arg(case["verifier"].as_str().unwrap());
    command.env("ASSAY_ASSETS", root.join("target/assets"));
    let mut give = |flag: &str, value: &Value| {
        if !value.is_null() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            command.args([flag.to_owned(), text]);
        }
    };
    give("-c", &input["completion"]);
    let flag = if input["reference"].is_string() { "-r" } else { "--reference-json" };
    give(flag, &input["reference"]);
    give("-p", &input["prompt"]);
    give("--meta", &input["meta"]);
    for (key, value) in input["set"].as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        command.args(["--set".to_owned(), format!("{key}={value}")]);
    }
    let ran = Ran::of(command.output().unwrap());
    let Ok(verdict) = serde_json::from_str::<Value>(&ran.out) else { return "config error".into() };
    let of = |key: &str| verdict.get(key).cloned().unwrap_or_default();
    match of("outcome").as_str() {
        Some("scored") => of("reward"),
        Some("failed") => "fault".into(),
        _ => of("outcome"),
    }
}
