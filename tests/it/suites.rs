//! `assay validate` on rewards whose reference is tests. The guests must be there: `make assets`
//! builds them.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::root;

/// One run at a time: the first one compiles the guests for all.
static TURN: Mutex<()> = Mutex::new(());

fn validate(folder: &Path, config: &str, data: &Path, more: &[&str]) -> Output {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let path = folder.join("assay.toml");
    std::io::Write::write_all(&mut std::fs::File::create(&path).unwrap(), config.as_bytes())
        .unwrap();
    Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("validate")
        .args([&path, data])
        .args(more)
        .env_clear()
        .env("ASSAY_ASSETS", root().join("target/assets"))
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")))
        .output()
        .unwrap()
}

fn found(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

const CONFIG: &str = "version = 1\n[[reward]]\nname = \"tests\"\nverifier = \"unit_tests\"\n";

#[test]
fn suites_that_trivial_programs_pass_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = root().join("fixtures/sandbox/suites.jsonl");
    let output = validate(folder.path(), CONFIG, &data, &["--json"]);
    let report = found(&output);
    let suites = &report["rewards"][0]["data"]["suites"];
    assert_eq!(
        (&suites["suites"], &suites["weak"], &suites["broken"]),
        (&json!(8), &json!(2), &json!(0))
    );
    let expected = json!([
        {"id": "weak-even", "row": 2, "rows": 2, "passed": ["True", "1"]},
        {"id": "weak-yes", "row": 7, "rows": 1, "passed": ["YES"]},
    ]);
    assert_eq!(suites["weak_suites"], expected);
    // A warning: weak tests are the data's, and a run is still worth having.
    assert_eq!((output.status.code(), &report["ok"]), (Some(0), &json!(true)));
    let text = validate(folder.path(), CONFIG, &data, &[]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("2 of 8 passed by programs that solve nothing: a warning"), "{text}");
    assert!(text.contains("row 2 weak-even and 1 more: True, 1\n"), "{text}");
}

#[test]
fn suites_that_judge_nobody_are_no_warning() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.jsonl");
    let rows = [
        json!({"id": "broken", "completion": "", "reference": {"test": "1 / 0\nassert f() == 1"}}),
        json!({"id": "right", "completion": "", "reference": {"test": "assert f(3) == 4"}}),
    ];
    let rows = rows.map(|row| row.to_string()).join("\n");
    std::io::Write::write_all(&mut std::fs::File::create(&data).unwrap(), rows.as_bytes()).unwrap();
    let output = validate(folder.path(), CONFIG, &data, &["--json"]);
    let report = found(&output);
    let suites = &report["rewards"][0]["data"]["suites"];
    assert_eq!((&suites["weak"], &suites["broken"]), (&json!(0), &json!(1)));
    assert_eq!(suites["broken_suites"][0]["id"], "broken");
    assert_eq!((output.status.code(), &report["ok"]), (Some(1), &json!(false)));
}

#[test]
fn a_program_may_begin_as_its_prompt_does() {
    let folder = tempfile::tempdir().unwrap();
    let data = root().join("fixtures/datasets/humaneval-references.jsonl.gz");
    for (verifier, told) in [("unit_tests", false), ("exact", true)] {
        let config = CONFIG.replace("unit_tests", verifier);
        let config = format!("{config}[data]\ncompletion = \"response\"\n");
        let output = validate(folder.path(), &config, &data, &["--limit", "4", "--json"]);
        let warnings = found(&output)["warnings"].to_string();
        assert_eq!(warnings.contains("prompt_repeated"), told, "{verifier}: {warnings}");
    }
}

#[test]
fn printed_output_is_audited_too() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.jsonl");
    let rows = [
        json!({"id": "echo", "completion": "", "reference": {"cases": [{"stdin": "7\n", "stdout": "7\n"}]}}),
        json!({"id": "nothing", "completion": "", "reference": {"cases": [{"stdin": "", "stdout": "\n"}]}}),
        json!({"id": "good", "completion": "", "reference": {"cases": [{"stdin": "3\n", "stdout": "9\n"}]}}),
    ];
    let rows = rows.map(|row| row.to_string()).join("\n");
    std::io::Write::write_all(&mut std::fs::File::create(&data).unwrap(), rows.as_bytes()).unwrap();
    for language in ["python", "javascript"] {
        let config = CONFIG.replace("unit_tests", "stdin_stdout");
        let config = format!("{config}config = {{ language = \"{language}\" }}\n");
        let report = found(&validate(folder.path(), &config, &data, &["--json"]));
        let weak = &report["rewards"][0]["data"]["suites"]["weak_suites"];
        assert_eq!(
            (&weak[0]["passed"], &weak[1]["passed"], weak.as_array().map(Vec::len)),
            (&json!(["its input"]), &json!(["nothing", "its input"]), Some(2)),
            "{language}"
        );
    }
}

#[test]
fn packages_that_programs_lack_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.jsonl");
    let row = |(id, import): (&str, &str)| {
        let program = format!("```python\n{import}\ndef f(x):\n    return x + 1\n```");
        json!({"id": id, "prompt": "f", "completion": program, "reference": ["assert f(1) == 2"]})
    };
    let rows = [("a", ""), ("b", "import numpy"), ("c", "import torch"), ("d", "import numpy")];
    let rows: String = rows.map(row).iter().map(|row| row.to_string() + "\n").collect();
    std::io::Write::write_all(&mut std::fs::File::create(&data).unwrap(), rows.as_bytes()).unwrap();
    let report = found(&validate(folder.path(), CONFIG, &data, &["--json"]));
    let rows = &report["rewards"][0]["rows"];
    assert_eq!((&rows["scored"], &rows["abstained"]), (&json!(1), &json!(3)), "{report}");
    let told = |at: usize| {
        let own = &rows["abstained_for"][at];
        (own["rows"].clone(), own["id"].clone(), own["reason"].as_str().unwrap().contains("numpy"))
    };
    assert_eq!((told(0), told(1)), ((json!(2), json!("b"), true), (json!(1), json!("c"), false)));
}
