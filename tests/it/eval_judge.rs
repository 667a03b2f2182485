//! `assay eval judge` on recorded verdicts, against the statistics of an independent program.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::place::assay;

fn found(output: &Output) -> Value {
    let told = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn write(folder: &Path, name: &str, text: &str) {
    File::create(folder.join(name)).unwrap().write_all(text.as_bytes()).unwrap();
}

const PAIRS: &str = "version = 1\n[[reward]]\nname = 'pair'\nverifier = 'pairwise'\n\
                     [reward.config]\njudge = { column = 'replies' }\n";

/// The pairs of `LLMBar`, with the recorded verdicts of one judge in words.
fn pairs(recorded: &Value) -> String {
    let characters = |key: &str| recorded[key].as_str().unwrap().chars().collect::<Vec<char>>();
    let said = |verdict: char| match verdict {
        '1' => "Output (a) is better.",
        '2' => "Output (b) is better.",
        '=' => "[[C]]",
        _ => "Both follow the task.",
    };
    let (labels, shown, swapped) =
        (characters("label"), characters("shown"), characters("swapped"));
    let mut text = String::new();
    for (at, label) in labels.iter().enumerate() {
        let row = json!({
            "id": format!("pair {at}"),
            "prompt": format!("Task {at}."),
            "responses": ["An answer.", "Another answer."],
            "label": i32::from(*label == '2'),
            "replies": [{"text": said(shown[at])}, {"text": said(swapped[at]), "swap": true}],
        });
        writeln!(text, "{row}").unwrap();
    }
    text
}

#[test]
fn judges_of_pairs_are_measured_as_by_the_other_program() {
    let place = tempfile::tempdir().unwrap();
    let root = Path::new(crate::ROOT);
    let verdicts = root.join("fixtures/rubrics/judge-llmbar-verdicts.jsonl");
    write(place.path(), "judge.toml", PAIRS);
    let text = fs::read_to_string(verdicts).unwrap();
    for line in text.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        write(place.path(), "pairs.jsonl", &pairs(&recorded));
        let words = ["eval", "judge", "judge.toml", "pairs.jsonl", "--json", "--resamples", "20"];
        let found = found(&assay(place.path(), &words));
        let name = format!("{} {}", recorded["judge"], recorded["protocol"]);
        assert_eq!((&found["kind"], &found["counts"]["rows"]), (&json!("pairs"), &json!(240)));
        for (ours, theirs) in
            [("both_order_accuracy", "both_order_accuracy"), ("flip_rate", "flip_rate")]
        {
            let (value, wanted) =
                (found["statistics"][ours]["value"].as_f64(), recorded[theirs].as_f64());
            assert!((value.unwrap() - wanted.unwrap()).abs() < 1e-9, "{name}: {ours} {value:?}");
        }
        // A pair is right that is right in both orders; a flip is a tie.
        let statistics = &found["statistics"];
        assert_eq!(statistics["accuracy"]["value"], statistics["both_order_accuracy"]["value"]);
        let unread = recorded["abstention_rate"].as_f64().unwrap() > 0.0;
        assert_eq!(found["counts"]["faults"] != json!({}), unread, "{name}");
    }
}

#[test]
fn levels_and_answers_are_compared_with_labels() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| write(place.path(), name, text);
    let config = |kind: &str| {
        format!(
            "version = 1\n[[reward]]\nname = 'judged'\nverifier = 'rubric'\n[reward.config]\n\
             judge = {{ column = 'reply' }}\n[reward.config.rubric]\ncriterion = [{{ name = 'c', \
             text = 'is it good?'{kind} }}]\n"
        )
    };
    write("levels.toml", &config(", kind = { scale = { min = 1, max = 5 } }"));
    write(
        "levels.jsonl",
        "{\"prompt\":\"p\",\"completion\":\"one\",\"label\":5,\"reply\":\"[RESULT] 5\"}\n\
         {\"prompt\":\"p\",\"completion\":\"two\",\"label\":2,\"reply\":\"[RESULT] 3\"}\n\
         {\"prompt\":\"p\",\"completion\":\"six\",\"label\":1,\"reply\":\"[RESULT] 1\"}\n\
         {\"prompt\":\"p\",\"completion\":\"ten\",\"label\":null,\"reply\":\"[RESULT] 1\"}\n",
    );
    let words = ["eval", "judge", "levels.toml", "levels.jsonl", "--json"];
    let found_levels = found(&assay(place.path(), &words));
    let statistics = &found_levels["statistics"];
    assert_eq!(found_levels["kind"], "levels", "{found_levels}");
    assert_eq!(found_levels["counts"]["unlabelled"], 1);
    assert!((statistics["accuracy"]["value"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert!((statistics["spearman"]["value"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    write("binary.toml", &config(""));
    write(
        "binary.jsonl",
        "{\"prompt\":\"p\",\"completion\":\"one\",\"good\":true,\"reply\":\"yes\"}\n\
         {\"prompt\":\"p\",\"completion\":\"two\",\"good\":false,\"reply\":\"no\"}\n\
         {\"prompt\":\"p\",\"completion\":\"six\",\"good\":false,\"reply\":\"perhaps\"}\n",
    );
    let words = ["eval", "judge", "binary.toml", "binary.jsonl", "--json", "--label", "good"];
    let output = assay(place.path(), &words);
    let found_binary = found(&output);
    assert_eq!(found_binary["kind"], "binary");
    assert_eq!(found_binary["statistics"]["accuracy_of_judged"]["value"], 1.0);
    assert!(
        (found_binary["statistics"]["unjudged_rate"]["value"].as_f64().unwrap() - 1.0 / 3.0).abs()
            < 1e-9
    );
    assert_eq!(output.status.code(), Some(3), "a reply without a verdict is a fault");
    let words = ["eval", "judge", "binary.toml", "binary.jsonl"];
    assert_eq!(assay(place.path(), &words).status.code(), Some(2), "there are no labels");
}

#[test]
fn a_label_that_cannot_be_read_is_an_error_and_not_a_gap() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "judge.toml", PAIRS);
    let row = |label: Value| {
        json!({"prompt": "p", "responses": ["a", "b"], "label": label, "replies": [
            {"text": "Output (a) is better."}, {"text": "Output (a) is better.", "swap": true}]})
    };
    let words = ["eval", "judge", "judge.toml", "pairs.json", "--json"];
    for label in [json!(7), json!("left"), json!(0.5), json!([0])] {
        let rows = json!([row(json!(0)), row(label.clone())]);
        write(place.path(), "pairs.json", &rows.to_string());
        let output = assay(place.path(), &words);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("pairs.json:2: label: is") && told.contains("0 or 1"), "{told}");
        assert!(output.stdout.is_empty() && !output.status.success(), "{told}");
    }
    let rows = json!([row(json!(0.0)), row(json!("tie")), row(json!("B>A")), row(Value::Null)]);
    write(place.path(), "pairs.json", &rows.to_string());
    let found = found(&assay(place.path(), &words));
    assert_eq!(
        (&found["counts"]["rows"], &found["counts"]["unlabelled"]),
        (&3.into(), &1.into()),
        "{found}"
    );
    let told = assay(place.path(), &words[..4]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("1 rows without a label were left out"), "{told}");
    write(place.path(), "none.jsonl", "");
    let output = assay(place.path(), &["eval", "judge", "judge.toml", "pairs.json", "none.jsonl"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("none.jsonl: the data have no rows"), "{told}");
}

#[test]
fn a_label_column_that_is_named_and_not_there_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "judge.toml", PAIRS);
    let row = json!({"prompt": "p", "chosen": "a", "rejected": "b", "replies": [
        {"text": "Output (a) is better."}, {"text": "Output (b) is better.", "swap": true}]});
    write(place.path(), "pairs.jsonl", &row.to_string());
    let words = ["eval", "judge", "judge.toml", "pairs.jsonl", "--json"];
    assert_eq!(found(&assay(place.path(), &words))["counts"]["rows"], 1);
    let output = assay(place.path(), &[&words[..], &["--label", "lable"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("no row has a label in its column \"lable\""), "{told}");
    assert_eq!(output.status.code(), Some(2), "{told}");
}
