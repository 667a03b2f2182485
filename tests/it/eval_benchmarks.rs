//! What `assay eval` says of benchmark files before a model reads them, and of what it did not judge.

use std::path::Path;

use assay::engine::runs::write_atomic;
use serde_json::{Value, json};

use crate::place::{assay, model};

fn write(folder: &Path, name: &str, text: &str) {
    write_atomic(&folder.join(name), text.as_bytes()).unwrap();
}

/// What is said of `rows`, by a model that is not there: it is not asked for before they are read.
fn refused(benchmark: &str, rows: &[Value], more: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    write(place.path(), "d.jsonl", &lines.join("\n"));
    let words = [&["eval", benchmark, "no-model", "d.jsonl"][..], more].concat();
    let output = assay(place.path(), &words);
    assert!(!output.status.success() && output.stdout.is_empty());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn measured(benchmark: &str, model_name: &str, file: &str, text: &str) -> Value {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), file, text);
    let words = ["eval", benchmark, &model(model_name), file, "--json"];
    let output = assay(place.path(), &words);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_prompt_may_be_messages_and_a_file_a_list() {
    let steps = |problem: Value| {
        json!([
            {"id": "1", "problem": problem, "steps": ["It is 5."], "label": -1},
            {"id": "2", "problem": problem, "steps": ["It is 6.", "So 6."], "label": 0.0},
        ])
    };
    let text = steps("2 + 3?".into());
    let messages = steps(json!([{"role": "user", "content": "2 + 3?"}]));
    let by_text = measured("processbench", "qwen-prm", "gsm8k.json", &text.to_string());
    let by_messages = measured("processbench", "qwen-prm", "gsm8k.json", &messages.to_string());
    assert_eq!(by_text, by_messages);
    assert_eq!(by_text["scores"]["gsm8k"]["correct"], 1, "{by_text}");

    let says = |role: &str, text: &str| json!({"role": role, "content": text});
    let row = json!([{"prompt": "2?", "chosen": "2", "rejected": "3", "subset": "donotanswer"}]);
    let talk = json!([{
        "chosen": [says("user", "2?"), says("assistant", "2")],
        "rejected": [says("user", "2?"), says("assistant", "3")],
        "subset": "donotanswer",
    }]);
    let plain = measured("rewardbench", "arch-qwen2", "rb.json", &row.to_string());
    let talked = measured("rewardbench", "arch-qwen2", "rb.json", &talk.to_string());
    assert_eq!(plain, talked);
    assert_eq!(plain["sections"]["Safety"], plain["scores"]["donotanswer"], "{plain}");
    assert_eq!(
        (&plain["pooled"], &plain["mean"]),
        (&plain["scores"]["all"], &plain["scores"]["all"])
    );
}

#[test]
fn equal_scores_are_paid_by_the_version_of_the_benchmark() {
    let row = |chosen: Value, rejected: Value, subset: &str| json!({"id": "1", "prompt": "2?", "chosen": chosen, "rejected": rejected, "subset": subset});
    let rows = json!([
        row(json!(["2"]), json!(["2", "2", "2"]), "Math"),
        row(json!("2"), json!("2"), "hep-rust"),
    ]);
    let found = measured("rewardbench", "arch-qwen2", "rb.json", &rows.to_string());
    assert_eq!(found["scores"]["Math"], 0.25, "{found}");
    assert_eq!(found["scores"]["hep-rust"], 0.0, "{found}");
    assert_eq!(found["mean"], 0.125, "{found}");
}

#[test]
fn wrong_labels_and_ids_are_told_before_the_model_is_loaded() {
    let process = |label: Value| json!({"problem": "2?", "steps": ["5"], "label": label});
    let told = refused("processbench", &[process(json!(-1)), process(json!(3))], &[]);
    assert!(told.contains("d.jsonl:2: label: is 3; expected -1 to 0 (1 steps)"), "{told}");
    let steps =
        |wrong: Value| json!({"question": "2?", "process": ["5", "6"], "error_steps": wrong});
    for (wrong, said) in [
        (json!([0]), "the first step is 1, not 0"),
        (json!([3]), "is [3]; expected numbers from 1 to 2 (2 steps)"),
        (json!([-1]), "expected numbers from 1 to 2"),
        (json!([2, 2]), "each step once; 2 is there twice"),
        (json!(["2"]), "expected a list of integers"),
    ] {
        let told = refused("prmbench", &[steps(json!([1])), steps(wrong)], &[]);
        assert!(told.contains("d.jsonl:2: error_steps: is") && told.contains(said), "{told}");
    }
    let ties = |id: &str| json!({"id": id, "prompt": "2?", "chosen": ["2"], "rejected": ["3"], "subset": "Ties"});
    let told = refused("rewardbench", &[ties("ref:1"), ties("tie-1")], &[]);
    assert!(
        told.contains("d.jsonl:2: id: is") && told.contains("expected ref:N or tied:N"),
        "{told}"
    );
    let told = refused("rewardbench", &[ties("ref:1"), ties("ref:01")], &[]);
    assert!(told.contains("d.jsonl:2: id") && told.contains("another row of Ties"), "{told}");
    let rows = [ties("ref:1"), ties("tied:1"), ties("ref:2"), ties("tied:2")];
    let told = refused("rewardbench", &rows, &["--limit", "3"]);
    assert!(told.contains("--limit cuts") && told.contains("tied:2 is missing"), "{told}");
    let told = refused("rewardbench", &rows[..3], &[]);
    assert!(told.contains("1 prompts have one form alone (tied:2 is missing)"), "{told}");
    let several =
        json!({"prompt": "2?", "chosen": ["2", "4"], "rejected": ["3"], "subset": "Math"});
    let told = refused("rewardbench", &[several], &[]);
    assert!(told.contains("chosen: is") && told.contains("subset Ties alone"), "{told}");
}

#[test]
fn a_column_that_no_row_has_and_a_subset_that_some_lack_are_errors() {
    let row = json!({"prompt": "2?", "steps": ["5"], "label": -1, "source": "a"});
    let words = ["--column", "problem=prompt", "--column", "subset=sorce"];
    let told = refused("processbench", &[row], &words);
    assert!(told.contains("--column subset=sorce: not in any of 1 rows"), "{told}");
    assert!(told.contains("label, prompt, source, steps; did you mean \"source\"?"), "{told}");
    let row =
        |subset: Value| json!({"problem": "2?", "steps": ["5"], "label": -1, "subset": subset});
    let told = refused("processbench", &[row(json!("a")), row(Value::Null)], &[]);
    assert!(
        told.contains("d.jsonl:2: subset: missing; expected a text, as d.jsonl:1 has"),
        "{told}"
    );
    let told = refused("processbench", &[row(json!("all"))], &[]);
    assert!(told.contains("subset: is") && told.contains("all subsets together"), "{told}");
    let words = ["--column", "subset=a", "--column", "subset=b"];
    let told = refused("processbench", &[row(json!("a"))], &words);
    assert!(told.contains("--column subset: given twice"), "{told}");
}

#[test]
fn an_empty_file_among_several_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let row = json!({"problem": "2?", "steps": ["5"], "label": -1});
    write(place.path(), "a.jsonl", &row.to_string());
    for empty in ["", "[]", "\n\n"] {
        write(place.path(), "b.json", empty);
        let output = assay(place.path(), &["eval", "processbench", "none", "a.jsonl", "b.json"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("b.json: the data have no rows"), "{told}");
        assert_eq!(output.status.code(), Some(2), "{told}");
    }
    let words = ["eval", "processbench", "none", "a.jsonl", "b.json", "--limit", "0"];
    assert_eq!(assay(place.path(), &words).status.code(), Some(2));
}

#[test]
fn rows_that_were_not_judged_are_counted_by_subset() {
    let place = tempfile::tempdir().unwrap();
    let long = "so it is 5 ".repeat(400);
    let row = |step: &str, label: i8, subset: &str| json!({"problem": "2 + 3?", "steps": [step], "label": label, "subset": subset});
    let rows = json!([row("5", -1, "a"), row(&long, -1, "b"), row(&long, 0, "b")]);
    write(place.path(), "pb.json", &rows.to_string());
    let process = model("qwen-prm");
    let words = ["eval", "processbench", &process, "pb.json", "--json", "--threshold", "0"];
    let output = assay(place.path(), &words);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["unjudged_rows"], json!({"b": 2}), "{found}");
    assert_eq!(found["scores"]["b"]["f1"], 0.0, "{found}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("2 texts were not judged and count as wrong: 2 rows of b"), "{told}");
}

#[test]
fn a_run_names_the_labels_that_it_cannot_read() {
    let place = tempfile::tempdir().unwrap();
    let config = "version = 1\n[[reward]]\nname = 'r'\nverifier = 'exact'\n";
    write(place.path(), "a.toml", config);
    let row = |id: &str, label: Value| {
        json!({"id": id, "completion": "4", "reference": "4", "label": label}).to_string()
    };
    let rows = [row("a", json!(true)), row("b", json!("perhaps")), row("c", json!(["x"]))];
    write(place.path(), "d.jsonl", &rows.join("\n"));
    let words = ["score", "a.toml", "d.jsonl", "-o", "run", "--no-cache", "--labels", "label"];
    let output = assay(place.path(), &words);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("2 labels are neither right nor wrong"), "{told}");
    assert!(told.contains("that of row 2 (b): \"perhaps\"; expected"), "{told}");
    let summary = std::fs::read(place.path().join("run/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["labels"]["unread"], 2, "{summary}");
}
