//! `assay diagnose`: runs whose numbers are worked by hand.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::place::{Place, Ran};
use serde_json::{Value, json};

const CONFIG: &str = r#"version = 1
[data]
group = "prompt_id"
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "form"
verifier = "regex"
weight = 0.5
config = { pattern = '^so' }
"#;

/// How many of the four samples of each prompt are right.
const BASE: [usize; 3] = [1, 1, 0];
const TRAINED: [usize; 3] = [4, 0, 1];

/// Two runs of one configuration: `base` and `trained`, over `base.jsonl` and `trained.jsonl`.
fn place() -> Place {
    let (base, trained) = (samples(BASE), samples(TRAINED));
    let place =
        Place::with(&[("a.toml", CONFIG), ("base.jsonl", &base), ("trained.jsonl", &trained)]);
    for run in ["base", "trained"] {
        let ran = place.run(&format!("score a.toml {run}.jsonl -o {run} -q"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    place
}

fn diagnosed(place: &Place, words: &str) -> Value {
    place.run(&format!("diagnose {words} --json")).json()
}

/// Four samples of each prompt; the right ones end with 3 and are longer, one in two begins with "so".
fn samples(right: [usize; 3]) -> String {
    let mut rows = String::new();
    for (prompt, right) in right.iter().enumerate() {
        for at in 0..4 {
            let start = if at % 2 == 0 { "so" } else { "no" };
            let answer = if at < *right { "as it is\\n3" } else { "4" };
            writeln!(
                rows,
                r#"{{"id":"p{prompt}-{at}","prompt_id":"p{prompt}","prompt":"2+1?","completion":"{start}\n{answer}","reference":"3","human":{}}}"#,
                at < *right
            )
            .unwrap();
        }
    }
    rows
}

fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-9)
}

#[test]
fn a_run_by_hand() {
    let place = place();
    let found = diagnosed(&place, "trained --correct correct --with trained.jsonl --label human");
    let run = &found["runs"][0];
    assert_eq!((&run["rows"], &run["prompts"]), (&json!(12), &json!(3)));
    assert_eq!(run["grouped_by"], "group");
    // pass@1: (1 + 0 + 1/4) / 3; pass@2: (1 + 0 + 1/2) / 3; pass@4: (1 + 0 + 1) / 3.
    let points = run["pass_at_k"]["points"].as_array().unwrap();
    let expected = [(1, 1.25 / 3.0), (2, 0.5), (4, 2.0 / 3.0)];
    assert_eq!(points.len(), expected.len());
    for (point, (k, value)) in points.iter().zip(expected) {
        assert!(point["k"] == k && near(&point["value"], value), "{point}");
        assert!(point["low"].as_f64() <= point["value"].as_f64(), "{point}");
    }
    // The vote of all four: right, wrong, wrong.
    let votes = run["answers"]["majority_at_k"].as_array().unwrap();
    assert!(near(&votes[2]["value"], 1.0 / 3.0), "{votes:?}");
    assert_eq!((&run["all_correct"], &run["all_wrong"]), (&json!(1), &json!(1)));
    assert!(near(&run["groups"]["correct"]["zero_variance_share"], 2.0 / 3.0));
    assert_eq!(run["groups"]["total"]["zero_variance"], 0);
    assert!(near(&run["verifier_quality"]["all"]["precision"], 1.0));
    // Right answers are longer, and nothing but right answers are: at a fixed label nothing is.
    assert!(near(&run["length"]["by_reward"]["correct"]["overall"]["pearson"], 1.0));
    assert_eq!(run["length"]["by_reward"]["correct"]["slope_at_fixed_correctness"], Value::Null);
    // Of the pairs that both rewards order, none in opposite ways: correct, then form.
    assert!(near(&run["discordance_within"][1][2], 0.0), "{}", run["discordance_within"]);
    assert!(near(&run["second_problem"]["share"], 0.0));
    assert_eq!(run["faults"]["failed"], 0);
    let written = fs::read_to_string(place.path("trained/diagnostics.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), found);
}

#[test]
fn labels_that_say_nothing_are_told() {
    let place = place();
    let data = samples(TRAINED).replacen("\"human\":false", "\"human\":\"maybe\"", 2);
    place.write("trained.jsonl", &data);
    assert_eq!(place.run("score a.toml trained.jsonl -o trained --fresh -q").code, 0);
    let found = diagnosed(&place, "trained --with trained.jsonl --label human");
    let run = &found["runs"][0];
    let (unread, first) = (&run["labels"]["unread"], &run["labels"]["first_unread"]["label"]);
    assert_eq!((unread, first), (&json!(2), &json!("\"maybe\"")), "{run}");
    let told = run["missing"].as_array().unwrap().iter().filter_map(Value::as_str);
    let told: Vec<&str> = told.filter(|note| note.contains("neither right nor wrong")).collect();
    assert_eq!(told.len(), 1, "{run}");
    assert!(
        told[0].starts_with("2 labels are neither right nor wrong and count as none, the first"),
        "{told:?}"
    );
}

#[test]
fn two_runs_by_hand() {
    let place = place();
    let words = "trained --against base --correct correct --with base.jsonl --with trained.jsonl";
    let found = diagnosed(&place, words);
    let moved = &found["against"][0];
    assert_eq!(moved["shared_prompts"], 3);
    // Preserved, lost, new.
    let support = &moved["support"]["by_prompt"];
    let counts = ["preserved", "shrunk", "expanded", "neither"].map(|key| &support[key]);
    assert_eq!(counts, [&json!(1), &json!(1), &json!(1), &json!(0)]);
    assert!(near(&support["retention"], 0.5) && near(&support["net_change"], 0.0));
    assert_eq!(support, &moved["support"]["by_answer"]);
    // (1 - 1/4 + 0 - 1/4 + 1/4 - 0) / 3.
    let differences = &moved["pass_at_k"]["differences"];
    assert!(near(&differences[0]["mean"], 0.25), "{differences}");
    assert!(near(&moved["drift"]["correct"]["mean_shift"], 0.25));
    assert!(near(&moved["drift"]["form"]["kolmogorov_smirnov"], 0.0));
    assert_eq!(moved["distance"], Value::Null);
    let parts = moved["part_correlations"].as_array().unwrap();
    assert_eq!((parts.len(), &parts[2]["second"]), (3, &json!("form")));
    let shown = place.run(&format!("diagnose {words} --no-write"));
    assert_eq!(shown.code, 0, "{}", shown.err);
    insta::assert_snapshot!("diagnose", shown.out);
}

#[test]
fn rewards_of_the_same_rows_have_a_distance() {
    let place = place();
    let double = CONFIG.replace("weight = 0.5", "weight = 1.0").replace(
        "name = \"correct\"\nverifier = \"exact\"",
        "name = \"correct\"\nverifier = \"exact\"\nweight = 2.0",
    );
    place.write("double.toml", &double);
    let wrong =
        CONFIG.replace("verifier = \"exact\"", "verifier = \"regex\"\nconfig = { pattern = '4$' }");
    place.write("wrong.toml", &wrong);
    for run in ["double", "wrong"] {
        let ran = place.run(&format!("score {run}.toml base.jsonl -o {run} -q"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let same = diagnosed(&place, "double --against base");
    let distance = &same["against"][0]["distance"];
    assert!(near(&distance["total"]["starc"], 0.0) && near(&distance["correct"]["epic"], 0.0));
    let reversed = diagnosed(&place, "wrong --against base");
    assert!(near(&reversed["against"][0]["distance"]["correct"]["starc"], 1.0));
}

#[test]
fn a_stream_of_verdicts_is_a_run_too() {
    let place = place();
    let lines = fs::read(place.path("trained/verdicts.jsonl")).unwrap();
    let mut command = place.command("diagnose - --correct correct --json");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&lines).unwrap();
    let streamed = Ran::of(child.wait_with_output().unwrap()).json();
    let folder = diagnosed(&place, "trained --correct correct -o all.json");
    let file = diagnosed(&place, "trained/verdicts.jsonl --correct correct");
    for found in [&streamed, &file] {
        for part in ["pass_at_k", "groups", "correlations", "faults"] {
            assert_eq!(found["runs"][0][part], folder["runs"][0][part], "{part}");
        }
    }
    assert!(place.path("all.json").exists() && !place.path("trained/diagnostics.json").exists());
    let missing = streamed["runs"][0]["missing"].to_string();
    assert!(missing.contains("no fixed weight is known of correct, form"), "{missing}");
}

#[test]
fn several_runs_are_the_points_of_one() {
    let place = place();
    // The form is paid alike at both points, and the combined reward rises with what is right.
    let found = diagnosed(&place, "base trained --trusted correct --no-write");
    let points = found["series"]["points"].as_array().unwrap();
    assert!(near(&points[0]["trusted"], 2.0 / 12.0) && near(&points[1]["trusted"], 5.0 / 12.0));
    assert!(near(&points[1]["trusted_slope"], 0.25));
    assert_eq!(points[1]["diverges"], false);
    // Backwards it falls, and the form, which does not, is no proxy that rises.
    let back = diagnosed(&place, "trained base --trusted correct --no-write");
    assert!(near(&back["series"]["points"][1]["trusted_slope"], -0.25));
}

#[test]
fn what_is_missing_is_said() {
    let place = place();
    for (words, told) in [
        ("diagnose none", "none"),
        ("diagnose base --correct corect", "no reward is called \"corect\"; has: correct, form"),
        ("diagnose base --level 1", "--level 1: expected above 0 and below 1"),
        ("diagnose base --probability form", "no labels but its own"),
        ("diagnose base --label human", "--with"),
        (
            "diagnose base --with base.jsonl --label hunan",
            "error[no_column]: data.label = \"hunan\"",
        ),
        (
            "diagnose base --with base.jsonl --stratum level",
            "error[no_column]: --stratum = \"level\"",
        ),
    ] {
        let Ran { code, err: why, .. } = place.run(words);
        assert_eq!(code, 2, "{words}: {why}");
        assert!(why.contains(told), "{words}: {why}");
    }
    let other = diagnosed(&place, "base --with trained.jsonl --no-write");
    let missing = other["runs"][0]["missing"].to_string();
    assert!(missing.contains("0 of the 1 files that the run scored"), "{missing}");
    assert!(missing.contains("12 of 12 rows are not in the data"), "{missing}");
    place.write(
        "least.toml",
        &format!("{}[combine]\nhow = \"min\"\n", CONFIG.replace("weight = 0.5\n", "")),
    );
    assert_eq!(place.run("score least.toml base.jsonl -o least -q").code, 0);
    let least = diagnosed(&place, "least --no-write")["runs"][0]["missing"].to_string();
    assert!(least.contains("the run has how = \\\"min\\\""), "{least}");
    let few = diagnosed(&place, "base --k 1,64 --no-write");
    let missing = few["runs"][0]["missing"].to_string();
    assert!(missing.contains("pass@64: no prompt has more than 4"), "{missing}");
}
