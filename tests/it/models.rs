//! Reward models from the command line: rewards, benchmarks, and what the machine has.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::place::{assay, model};
use crate::support::wait_for;
use serde_json::Value;

fn json(output: &Output) -> Value {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) {
    File::create(folder.join(name)).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_run_scores_by_two_models_and_names_them() {
    let place = tempfile::tempdir().unwrap();
    let (outcome, process) = (model("arch-qwen2"), model("qwen-prm"));
    let config = format!(
        "version = 1\n\
         [[reward]]\nname = \"whole\"\nverifier = \"outcome_model\"\nconfig = {{ model = '{outcome}' }}\n\
         [[reward]]\nname = \"steps\"\nverifier = \"process_model\"\nconfig = {{ model = '{process}' }}\n"
    );
    write(place.path(), "a.toml", &config);
    let rows: Vec<String> = (0..40)
        .map(|at| format!(r#"{{"id":"{at}","prompt":"What is 2 + {at}?","completion":"The sum is 5.\n\nSo {at}."}}"#))
        .collect();
    write(place.path(), "d.jsonl", &rows.join("\n"));
    let fixtures = model("");
    let words = [
        "score",
        "a.toml",
        "d.jsonl",
        "-o",
        "run",
        "--no-cache",
        "--json",
        "--allow-path",
        &fixtures,
    ];
    let summary = json(&assay(place.path(), &words));
    assert_eq!(summary["total"]["scored"], 40, "{summary}");
    let verdicts = std::fs::read_to_string(place.path().join("run/verdicts.jsonl")).unwrap();
    for line in verdicts.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let steps = &row["verdicts"]["steps"];
        assert_eq!(steps["steps"].as_array().unwrap().len(), 2, "{line}");
        assert_eq!(steps["usage"]["calls"], 1, "{line}");
        assert!(steps["evidence"]["model"].as_str().unwrap().starts_with("qwen-prm@"), "{line}");
    }
}

#[test]
fn a_run_that_asks_a_model_stops_at_once_and_goes_on_to_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let config = format!(
        "version = 1\n[[reward]]\nname = \"steps\"\nverifier = \"process_model\"\n\
         config = {{ model = '{}' }}\n",
        model("qwen-prm")
    );
    write(place.path(), "a.toml", &config);
    let row = |at| format!(r#"{{"id":"{at}","prompt":"2 + {at}?","completion":"{at}.\n\nSo 5."}}"#);
    let rows: Vec<String> = (0..6_000).map(row).collect();
    write(place.path(), "d.jsonl", &rows.join("\n"));
    let fixtures = model("");
    let words = |run| {
        ["score", "a.toml", "d.jsonl", "-o", run, "--no-cache", "-q", "--allow-path", &fixtures]
    };
    assert!(assay(place.path(), &words("whole")).status.success());
    let verdicts = |run: &str| std::fs::read(place.path().join(run).join("verdicts.jsonl"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(words("cut")).current_dir(place.path()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(&place.path().join("cut/verdicts.jsonl"), &mut child);
    assert!(child.try_wait().unwrap().is_none(), "the run ended before its first row");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(verdicts("cut").unwrap().len() < verdicts("whole").unwrap().len());
    assert!(assay(place.path(), &words("cut")).status.success());
    assert_eq!(verdicts("cut").unwrap(), verdicts("whole").unwrap());
}

#[test]
fn the_three_benchmarks_read_the_files_of_their_authors() {
    let place = tempfile::tempdir().unwrap();
    let (outcome, process) = (model("arch-qwen2"), model("qwen-prm"));
    write(
        place.path(),
        "gsm8k.jsonl",
        concat!(
            r#"{"id":"gsm8k-0","problem":"What is 2 + 3?","steps":["It is 5."],"label":-1}"#,
            "\n",
            r#"{"id":"gsm8k-1","problem":"What is 2 + 3?","steps":["It is 6.","So 6."],"label":0}"#,
        ),
    );
    let words = ["eval", "processbench", &process, "gsm8k.jsonl", "--json", "--threshold", "2"];
    let found = json(&assay(place.path(), &words));
    // Every step is below 2: the first wrong step is found, and a right solution is not.
    assert_eq!(found["scores"]["gsm8k"]["accuracy_erroneous"], 1.0, "{found}");
    assert_eq!(found["scores"]["gsm8k"]["f1"], 0.0, "{found}");

    let row =
        r#"{"id":"1","prompt":"2 + 3?","chosen":["5"],"rejected":["6","7","8"],"subset":"Math"}"#;
    write(place.path(), "rb.jsonl", row);
    let found =
        json(&assay(place.path(), &["eval", "rewardbench", &outcome, "rb.jsonl", "--json"]));
    assert!(found["scores"]["Math"].is_number(), "{found}");

    let row = r#"{"question":"2 + 3?","modified_process":["5","6"],"error_steps":[2],"classification":"c"}"#;
    write(place.path(), "pb.jsonl", row);
    let column = "process=modified_process";
    let words = [
        "eval",
        "prmbench",
        &process,
        "pb.jsonl",
        "--column",
        column,
        "--json",
        "--threshold",
        "0",
    ];
    let found = json(&assay(place.path(), &words));
    assert_eq!(found["scores"]["c"]["steps"], 2, "{found}");
}

#[test]
fn the_trained_model_finds_the_first_wrong_step_of_problems_it_never_saw() {
    let place = tempfile::tempdir().unwrap();
    let root = Path::new(crate::ROOT).canonicalize().unwrap();
    let rows = root.join("fixtures/datasets/arithmetic-steps.jsonl.gz").display().to_string();
    let model = model("arithmetic-prm");
    let mapping = "problem=prompt";
    let words = ["eval", "processbench", &model, &rows, "--column", mapping, "--json"];
    let found = json(&assay(place.path(), &words));
    let all = &found["scores"]["all"];
    assert_eq!((&all["erroneous"], &all["correct"]), (&111.into(), &89.into()), "{found}");
    assert!(all["f1"].as_f64().unwrap() >= 0.95, "{found}");
}

#[test]
fn what_a_model_cannot_judge_counts_as_wrong_in_a_benchmark() {
    let place = tempfile::tempdir().unwrap();
    let (outcome, process) = (model("arch-qwen2"), model("qwen-prm"));
    let long = "so it is 5 ".repeat(400);
    let row = |id: &str, step: &str, label: i8| {
        format!(r#"{{"id":"{id}","problem":"2 + 3?","steps":["{step}"],"label":{label}}}"#)
    };
    let rows = [row("a-1", "5", -1), row("a-2", &long, -1), row("a-3", &long, 0)].join("\n");
    write(place.path(), "pb.jsonl", &rows);
    let words = ["eval", "processbench", &process, "pb.jsonl", "--json", "--threshold", "0"];
    let output = assay(place.path(), &words);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{found}");
    assert_eq!(found["unjudged"], 2);
    assert_eq!(found["scores"]["all"]["accuracy_correct"], 0.5, "{found}");
    assert_eq!(found["scores"]["all"]["accuracy_erroneous"], 0.0, "{found}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("pb.jsonl:2: not judged: the text has"), "{told}");

    let row = |chosen: &str, rejected: &str| {
        format!(
            r#"{{"id":"1","prompt":"2?","chosen":["{chosen}"],"rejected":["6","{rejected}","8"],"subset":"m"}}"#
        )
    };
    let rows = [row(&long, &long), row("5", &long), row(&long, "7")].join("\n");
    write(place.path(), "rb.jsonl", &rows);
    let output = assay(place.path(), &["eval", "rewardbench", &outcome, "rb.jsonl", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["unjudged"], &found["scores"]["m"]), (&4.into(), &0.0.into()), "{found}");

    let row = format!(
        r#"{{"question":"2?","modified_process":["{long}","6"],"error_steps":[2],"classification":"c"}}"#
    );
    write(place.path(), "pm.jsonl", &row);
    let words = [
        "eval",
        "prmbench",
        &process,
        "pm.jsonl",
        "--json",
        "--column",
        "process=modified_process",
    ];
    let output = assay(place.path(), &words);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["unjudged"], 1, "{found}");
    assert_eq!(found["scores"]["c"]["f1_valid"], 0.0, "{found}");
    assert_eq!(found["scores"]["c"]["f1_invalid"], 0.0, "{found}");
}

#[test]
fn a_benchmark_without_labels_gives_no_figure() {
    let place = tempfile::tempdir().unwrap();
    let process = model("qwen-prm");
    for (rows, code, said) in [
        (r#"{"id":"a-1","problem":"2 + 3?","steps":["5"]}"#, 3, "pb.jsonl:1: label: missing"),
        (r#"{"id":"a-1","problem":"2?","steps":["5"],"label":null}"#, 3, "label: missing"),
        (r#"{"id":"a-1","problem":"2?","steps":["5"],"label":1}"#, 3, "expected -1 to 0 (1 steps)"),
        (r#"{"id":"a-1","problem":"2?","steps":["5"],"label":"good"}"#, 3, "expected an integer"),
        ("", 2, "no rows"),
    ] {
        write(place.path(), "pb.jsonl", rows);
        let output = assay(place.path(), &["eval", "processbench", &process, "pb.jsonl", "--json"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(code), &b""[..]),
            "{told}"
        );
        assert!(told.contains(said), "{told}");
    }
    write(place.path(), "pm.jsonl", r#"{"question":"2?","process":["5"],"classification":"c"}"#);
    let output = assay(place.path(), &["eval", "prmbench", &process, "pm.jsonl", "--json"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("error_steps: missing; expected a list of integers"), "{told}");
}

#[test]
fn a_model_that_does_not_fit_is_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let process = model("qwen-prm");
    let set = format!("model={process}");
    let words = ["check", "outcome_model", "--set", &set, "-c", "x", "--allow-path", &process];
    let output = assay(place.path(), &words);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("process") && told.contains("outcome"), "{told}");
}

#[test]
fn doctor_tells_what_was_found_and_where_it_looked() {
    let place = tempfile::tempdir().unwrap();
    let found = json(&assay(place.path(), &["doctor", "--json"]));
    assert!(found["rten"].is_string(), "{found}");
    assert!(!found["tried"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn a_model_folder_is_proved_or_told_what_does_not_fit() {
    let place = tempfile::tempdir().unwrap();
    for name in ["sound", "broken"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
        for entry in std::fs::read_dir(model("qwen-prm")).unwrap() {
            let entry = entry.unwrap();
            let mut text = std::fs::read(entry.path()).unwrap();
            if name == "broken" && entry.file_name() == "template.jinja" {
                text.extend(b"more");
            }
            let to = place.path().join(name).join(entry.file_name());
            File::create(to).unwrap().write_all(&text).unwrap();
        }
    }
    let output = assay(place.path(), &["validate", ".", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found[0]["ok"], &found[1]["ok"]), (&Value::from(false), &Value::from(true)));
    let why = found[0]["backends"][0]["error"].as_str().unwrap();
    assert!(why.contains("golden[0]: token_ids differ from place"), "{why}");
    let output = assay(place.path(), &["validate", "sound"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_cannot_become_a_model_folder_is_refused_by_code() {
    let place = tempfile::tempdir().unwrap();
    let code = |folder: &str| {
        let output = assay(place.path(), &["model", "add", folder, "--json"]);
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8(output.stderr).unwrap();
        let line: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
        line["error"]["code"].as_str().unwrap().to_owned()
    };
    std::fs::create_dir(place.path().join("empty")).unwrap();
    assert_eq!(code("empty"), "unreadable_file");
    assert_eq!(code(&model("qwen-prm")), "unreadable_file");
    std::fs::create_dir(place.path().join("garbage")).unwrap();
    for name in ["model.onnx", "tokenizer.json", "config.json"] {
        File::create(place.path().join("garbage").join(name)).unwrap().write_all(b"{}").unwrap();
    }
    assert_eq!(code("garbage"), "bad_value");
}

#[test]
fn a_library_that_is_asked_for_by_name_is_the_only_one_tried() {
    let place = tempfile::tempdir().unwrap();
    let words = ["doctor", "--json", "--ort-lib", "nowhere"];
    let found = json(&assay(place.path(), &words));
    assert_eq!(found["onnxruntime"], Value::Null, "{found}");
    assert_eq!(found["tried"].as_array().unwrap().len(), 1, "{found}");
}
