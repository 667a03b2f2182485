//! `assay explain` of a run, and of data that are judged for it: faults, the lowest rewards, and what
//! disagrees.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::place::{Place, Ran};

const CONFIG: &str = r#"version = 1
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "names"
verifier = "contains"
weight = 0.1
[combine]
on_fault = "mask"
"#;

/// Rows that pass, fail, cannot be judged and cannot be read; `right` is what people said.
fn place() -> Place {
    let rows = [
        r#"{"id":"a","completion":"3","reference":"3","right":true}"#,
        r#"{"id":"b","completion":"4","reference":"3","right":true}"#,
        r#"{"id":"c","completion":"it is\n3 or so","reference":"3","right":false}"#,
        r#"{"id":"d","completion":"4","reference":"","right":true}"#,
        r#"{"id":"e","completion":"5","reference":"","right":true}"#,
        r#"{"id":"f","reference":"3"}"#,
        r#"{"id":"g","completion":"3","reference":"3","right":false}"#,
        r#"{"id":"h","completion":"3","reference":"3","right":"who knows"}"#,
    ];
    Place::with(&[("a.toml", CONFIG), ("d.jsonl", &rows.join("\n"))])
}

fn scored() -> Place {
    let place = place();
    let score = place.run("score a.toml d.jsonl -o run --bad-rows fault -q");
    assert_eq!(score.code, 0, "{}", score.err);
    place
}

#[test]
fn faults_are_grouped_by_kind_with_the_first_reasons() {
    let place = scored();
    let ran = place.run("explain run --faults --json");
    let json = ran.json();
    assert_eq!((&json["rows"], &json["rows_with_faults"]), (&json!(8), &json!(3)), "{}", ran.out);
    let references = &json["kinds"]["BadReference"];
    assert_eq!(references["rows"], json!(2), "{}", ran.out);
    assert_eq!(references["reasons"][0]["row"], json!(4));
    assert_eq!(references["reasons"][0]["id"], json!("d"));
    assert_eq!(references["reasons"][0]["faults"], json!(2));
    let unread = &json["kinds"]["BadInput"]["reasons"][0];
    assert_eq!((&unread["row"], &unread["reward"]), (&json!(6), &json!(null)));
    let text = place.run("explain run --faults").out;
    assert!(text.starts_with("8 rows, 3 with faults\n"), "{text}");
    assert!(
        text.contains("\nBadReference  2 rows: correct 2, names 2\n  row 4  d  correct: "),
        "{text}"
    );
    assert!(text.contains("(the first of 2)"), "{text}");
    // Data that are judged for it give the same list.
    assert_eq!(place.run("explain a.toml d.jsonl --faults").out, text);
}

#[test]
fn the_lowest_rewards_come_with_their_parts() {
    let place = scored();
    let ran = place.run("explain run --lowest 2 --json");
    let json = ran.json();
    assert_eq!((&json["rows"], &json["scored"]), (&json!(8), &json!(5)), "{}", ran.out);
    let ids: Vec<&str> =
        json["lowest"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["b", "c"]);
    assert_eq!(json["lowest"][1]["verdicts"]["names"]["reward"], json!(1.0));
    let text = place.run("explain run --lowest 2").out;
    assert!(text.starts_with("row 2  b  reward 0\n  correct  scored 0, weight 1.0; "), "{text}");
    assert!(text.contains("\nrow 3  c  reward 0.1\n"), "{text}");
    let all = place.run("explain run --lowest 10000");
    assert_eq!(all.out.matches("\nrow ").count() + 1, 5, "{}", all.out);
    assert!(all.err.contains("the 5 lowest of 5 rewards; 3 others have no reward"), "{}", all.err);
    assert_eq!(place.run("explain a.toml d.jsonl --lowest 2").out, text);
}

#[test]
fn labels_and_other_rewards_are_disagreed_with() {
    let place = scored();
    let ran = place.run("explain run --disagree --labels right --json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let labels = &ran.json()["labels"];
    assert_eq!(labels["agree"], json!(2), "{}", ran.out);
    assert_eq!(labels["unpaid"]["first"], json!([{"row": 2, "id": "b", "rewards": [0.0]}]));
    assert_eq!(labels["paid"]["first"], json!([{"row": 7, "id": "g", "rewards": [1.1]}]));
    assert_eq!((&labels["unscored"], &labels["unlabelled"]), (&json!(2), &json!(2)));
    let first = json!({"row": 8, "id": "h", "label": "\"who knows\""});
    assert_eq!((&labels["unread"], &labels["first_unread"]), (&json!(1), &first));
    let text = place.run("explain run --disagree --labels right").out;
    let told = "\n  1 labels are neither right nor wrong and count as none, the first that of row 8 (h): \
                \"who knows\"; expected true or false, a number, or a word";
    assert!(text.contains(told), "{text}");
    let pairs = &ran.json()["rewards"];
    assert_eq!(
        pairs,
        &json!([{
            "accepts": "names", "rejects": "correct", "rows": 1,
            "first": [{"row": 3, "id": "c", "rewards": [1.0, 0.0]}],
        }])
    );
    // The run knows the column where it was compared with one, and labels may come with the data.
    let text = place.run("explain run d.jsonl --disagree --labels right").out;
    assert_eq!(place.run("explain a.toml d.jsonl --disagree --labels right").out, text);
    place.run("score a.toml d.jsonl -o other --bad-rows fault --labels right -q");
    assert_eq!(place.run("explain other --disagree").out, text);
    // The data are found from another folder too.
    let mut command = place.command("explain --disagree --labels right");
    let elsewhere = command.arg(place.path("run")).current_dir("/").output().unwrap();
    assert_eq!(Ran::of(elsewhere).out, text);
    // Without labels the rewards alone are compared.
    let alone = place.run("explain run --disagree");
    assert_eq!(alone.code, 0, "{}", alone.err);
    assert!(alone.out.starts_with("rewards (one is 0.5 or more"), "{}", alone.out);
}

#[test]
fn labels_are_found_behind_rows_that_were_left_out_and_of_a_pipe() {
    let place = place();
    place.run("score a.toml d.jsonl -o run --bad-rows skip -q");
    let ran = place.run("explain run --disagree --labels right --json");
    assert_eq!(ran.json()["labels"]["paid"]["first"][0]["row"], json!(7), "{}", ran.err);
    let mut piped = place.command("explain a.toml - --disagree --labels right --json");
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let rows = std::fs::read(place.path("d.jsonl")).unwrap();
    child.stdin.take().unwrap().write_all(&rows).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.json()["labels"]["agree"], json!(2), "{}", ran.err);
}

#[test]
fn a_row_of_a_run_is_shown_as_it_was_judged() {
    let place = scored();
    let by_id = place.run("explain run --id c --json").json();
    assert_eq!((&by_id["row"], &by_id["reward"]), (&json!(3), &json!(0.1)));
    assert_eq!(place.run("explain run --row 3 --json").json(), by_id);
    let none = place.run("explain run --id z");
    assert_eq!(none.code, 2);
    assert!(none.err.contains("none of the 8 rows of the run has id z"), "{}", none.err);
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let place = scored();
    place.write("one.toml", "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n");
    place.run("score one.toml d.jsonl -o single --bad-rows fault -q");
    place.write("other.jsonl", r#"{"id":"z","completion":"3","right":true}"#);
    place.run("score a.toml d.jsonl -o shards --shard 0/2 --bad-rows fault -q");
    std::fs::create_dir(place.path("empty")).unwrap();
    let cases = [
        ("explain run", "--faults"),
        ("explain run --faults --lowest 3", "cannot be used with"),
        ("explain run --faults --id a", "cannot be used with"),
        ("explain run --lowest 0", "1..=10000"),
        ("explain run --lowest x", "expected a whole number"),
        ("explain run --faults --labels right", "--labels COLUMN goes with --disagree"),
        ("explain run d.jsonl --faults", "a run needs no data"),
        ("explain run d.jsonl --disagree", "add --labels COLUMN"),
        ("explain run --faults --set combine.how=min", "leave out --set"),
        ("explain run --faults --step 3", "leave out --step"),
        ("explain run --faults --jobs 2", "leave out --jobs"),
        ("explain a.toml --faults", "there are no data"),
        ("explain empty --faults", "empty is not a run folder: it has no manifest.json"),
        ("explain shards --faults", "assay merge shards -o shards"),
        ("explain single --disagree", "--labels COLUMN names the column"),
        ("explain run --disagree --labels rigt", "rigt"),
        ("explain run other.jsonl --disagree --labels right", "not the rows that were scored"),
        ("explain run none.jsonl --disagree --labels right", "none.jsonl cannot be read again"),
    ];
    for (words, why) in cases {
        let ran = place.run(words);
        assert_eq!(ran.code, 2, "{words}\n{}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{words}\n{}", ran.err);
        assert_eq!(ran.out, "", "{words}");
    }
}

#[test]
fn long_runs_are_counted_whole_and_listed_in_part() {
    let mut rows = String::new();
    for at in 0..3000 {
        let reference = if at % 3 == 0 { "" } else { "3" };
        writeln!(rows, r#"{{"id":"r{at}","completion":"x3","reference":"{reference}"}}"#).unwrap();
    }
    let place = Place::with(&[("a.toml", CONFIG), ("d.jsonl", &rows)]);
    place.run("score a.toml d.jsonl -o run -q");
    let faults = place.run("explain run --faults").out;
    assert!(faults.starts_with("3,000 rows, 1,000 with faults\n"), "{faults}");
    assert!(faults.contains("(the first of 1,000)"), "{faults}");
    let differ = place.run("explain run --disagree").out;
    assert!(differ.contains("names accepts, correct does not: 2,000\n"), "{differ}");
    assert!(differ.ends_with("    1,995 more\n"), "{differ}");
    let full = place.run("explain run --disagree --full").out;
    assert_eq!(full.matches("    row ").count(), 2000, "{}", full.len());
    let lowest = place.run("explain run --lowest 3").out;
    assert!(lowest.starts_with("row 2  r1  reward 0.1\n"), "{lowest}");
}

#[test]
fn what_a_model_wrote_is_not_obeyed() {
    let row = json!({"id": "a\u{1b}[2J\u{202e}", "completion": "x\u{1b}[2J", "reference": ""});
    let place = Place::with(&[("a.toml", CONFIG), ("d.jsonl", &row.to_string())]);
    for words in ["--faults", "--faults --json", "--disagree", "--row 1", "--lowest 1"] {
        let ran = place.run(&format!("explain a.toml d.jsonl {words}"));
        assert_eq!(ran.code, 0, "{words}\n{}", ran.err);
        assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{words}\n{}", ran.out);
    }
}
